#!/bin/sh
# Lists the sessions of tmux servers, a line each: socket, windows, attached or detached, command, name.
set -eu

usage() {
  echo "Usage: find-sessions.sh [-q TEXT] [SOCKET]...   (default: every *.sock of this folder)" >&2
  exit 2
}

query=
while getopts q: option; do
  case $option in
    q) query=$OPTARG ;;
    *) usage ;;
  esac
done
shift $((OPTIND - 1))
if [ $# -eq 0 ]; then set -- ./*.sock; fi

# The name comes last, because it may hold spaces.
format='#{session_windows} #{?session_attached,attached,detached} #{pane_current_command} #{session_name}'
found=1
for socket; do
  [ -S "$socket" ] || continue
  lines=$(tmux -S "$socket" list-sessions -F "$format" 2>/dev/null) || continue
  while IFS= read -r line; do
    [ -n "$line" ] || continue
    name=${line#* * * }
    case $name in
      *"$query"*)
        printf '%s %s\n' "$socket" "$line"
        found=0
        ;;
    esac
  done <<EOF
$lines
EOF
done
if [ "$found" -ne 0 ]; then echo "No session found" >&2; fi
exit "$found"
