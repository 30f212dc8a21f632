#!/bin/sh
# Waits until a text stands in a tmux pane, and prints the last line that has it.
set -eu

usage() {
  cat >&2 <<'EOF'
Usage: wait-for-text.sh -t TARGET [OPTIONS] TEXT
  -S SOCKET   the server's socket (tmux.sock)
  -e          TEXT is an extended regular expression
  -l LINES    look at so many lines above what is visible too (200)
  -w SECONDS  wait so long (30)
Exit code: 0 found, 1 not found in time (the pane is shown), 2 used wrongly, 3 no such pane
EOF
  exit 2
}

isNumber() {
  case $1 in '' | *[!0-9]* | ??????*) return 1 ;; esac
}

socket=tmux.sock
target=
kind=-F
above=200
seconds=30
text=
# Options may stand behind the text too, where people and models like to put them.
while [ $# -gt 0 ]; do
  case $1 in
    -[Stlw]) [ $# -ge 2 ] || usage ;;
  esac
  case $1 in
    -S) socket=$2 && shift ;;
    -t) target=$2 && shift ;;
    -l) above=$2 && shift ;;
    -w) seconds=$2 && shift ;;
    -e) kind=-E ;;
    --)
      if [ $# -ne 2 ] || [ -n "$text" ]; then usage; fi
      text=$2 && shift
      ;;
    -*) usage ;;
    *)
      [ -z "$text" ] || usage
      text=$1
      ;;
  esac
  shift
done
if [ -z "$text" ] || [ -z "$target" ]; then usage; fi
if ! isNumber "$above" || ! isNumber "$seconds"; then usage; fi
# A broken expression would never be found, which looks like a program that never says it.
printf '' | grep "$kind" -e "$text" >/dev/null 2>&1 || [ $? -eq 1 ] || {
  echo "This is no regular expression: $text" >&2
  exit 2
}

deadline=$(($(date +%s) + seconds))
while :; do
  # Wrapped lines are joined, because a text may stand across the edge.
  screen=$(tmux -S "$socket" capture-pane -p -J -t "$target" -S "-$above" 2>/dev/null) || {
    echo "There is no pane $target on the server at $socket" >&2
    exit 3
  }
  if found=$(printf '%s\n' "$screen" | grep "$kind" -e "$text"); then
    printf '%s\n' "$found" | tail -n 1
    exit 0
  fi
  if [ "$(date +%s)" -ge "$deadline" ]; then
    echo "Not found in $seconds seconds. The pane shows:" >&2
    printf '%s\n' "$screen" | sed -e '/^[[:space:]]*$/d' | tail -n 20 >&2
    exit 1
  fi
  sleep 0.3
done
