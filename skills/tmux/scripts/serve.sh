#!/bin/sh
# Runs a tmux server in the foreground, so that it lives as long as the exec session that started it.
set -eu

usage() {
  echo "Usage: serve.sh [SOCKET]   (default: tmux.sock)" >&2
  exit 2
}

case ${1-} in -*) usage ;; esac
[ $# -le 1 ] || usage
socket=${1:-tmux.sock}

command -v tmux >/dev/null || {
  echo "tmux is not installed" >&2
  exit 1
}
if tmux -S "$socket" list-sessions >/dev/null 2>&1; then
  echo "A server runs at $socket already" >&2
  exit 1
fi
# What a server that was killed left behind would be in the way.
if [ -S "$socket" ]; then rm -- "$socket"; fi
if [ -e "$socket" ]; then
  echo "$socket is there and no socket" >&2
  exit 1
fi

# The user's own shell may be one that lets nobody in, as in a sandbox, or one with a prompt of many lines.
SHELL=$(command -v bash || command -v sh)
export SHELL
# The settings of whoever owns the machine would change keys, numbers and what is shown.
exec tmux -u -f /dev/null -S "$socket" -D
