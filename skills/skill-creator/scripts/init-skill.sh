#!/bin/sh
# Makes the folder of a new skill, with a SKILL.md to fill in.
set -eu

usage() {
  cat >&2 <<'EOF'
Usage: init-skill.sh [OPTIONS] NAME [DESCRIPTION]
  -d FOLDER  the folder of the skills (skills)
  -s -r -a   make scripts/, references/ and assets/ too
EOF
  exit 2
}

folder=skills
parts=
while getopts d:sra option; do
  case $option in
    d) folder=$OPTARG ;;
    s) parts="$parts scripts" ;;
    r) parts="$parts references" ;;
    a) parts="$parts assets" ;;
    *) usage ;;
  esac
done
shift $((OPTIND - 1))
if [ $# -lt 1 ] || [ $# -gt 2 ]; then usage; fi
name=$1
description=${2:-FILL IN: what it does, and when to use it.}

case $name in
  '' | -* | *- | *--* | *[!abcdefghijklmnopqrstuvwxyz0123456789-]*)
    echo "A name has small letters, digits and single hyphens between them: \"$name\"" >&2
    exit 2
    ;;
esac
[ ${#name} -le 64 ] || {
  echo "A name has at most 64 characters" >&2
  exit 2
}
case $description in
  *"
"*)
    echo "A description is one line" >&2
    exit 2
    ;;
esac

skill=$folder/$name
if [ -e "$skill" ]; then
  echo "$skill is there already" >&2
  exit 1
fi
mkdir -p -- "$skill"
for part in $parts; do mkdir -- "$skill/$part"; done
# In single quotes every character but the quote itself stands for itself.
quoted=$(printf '%s' "$description" | sed "s/'/''/g")
cat >"$skill/SKILL.md" <<EOF
---
name: $name
description: '$quoted'
---

# $name

FILL IN: what to do, step by step, in the words of orders. Say what the model cannot know: names, paths, formats, limits, what goes wrong and what then.
EOF
echo "Made $skill/SKILL.md"
