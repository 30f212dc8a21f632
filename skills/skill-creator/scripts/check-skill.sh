#!/bin/sh
# Says what is wrong with skills: header, name, links, scripts.
set -eu

if [ $# -eq 0 ]; then
  echo "Usage: check-skill.sh FOLDER...   (as in skills/my-skill)" >&2
  exit 2
fi

problems=0
problem() {
  problems=$((problems + 1))
  printf '%s: %s\n' "$file" "$1"
}

# The value of a key of the header: on its line, in quotes or not, or in the indented lines below it.
header() {
  awk -v key="$1" '
    { sub(/\r$/, "") }
    NR == 1 { next }
    /^---[ \t]*$/ { exit }
    inside && /^[ \t]/ { sub(/^[ \t]+/, ""); value = value (value == "" ? "" : " ") $0; next }
    { inside = 0 }
    index($0, key ":") == 1 {
      value = substr($0, length(key) + 2)
      gsub(/^[ \t]+|[ \t]+$/, "", value)
      if (value ~ /^[|>][-+0-9]*$/) value = ""
      inside = 1
    }
    END {
      if (value ~ /^".*"$/ || value ~ /^\047.*\047$/) value = substr(value, 2, length(value) - 2)
      print value
    }' "$file"
}

checkName() {
  name=$(header name)
  if [ "$name" != "$folder" ]; then problem "name is \"$name\", and the folder is called \"$folder\""; fi
  case $folder in
    -* | *- | *--* | *[!abcdefghijklmnopqrstuvwxyz0123456789-]*)
      problem "the name may have small letters, digits and single hyphens between them"
      ;;
  esac
  if [ ${#folder} -gt 64 ]; then problem "the name has more than 64 characters"; fi
}

checkDescription() {
  description=$(header description)
  if [ -z "$description" ]; then problem "description is missing"; fi
  if [ "$(printf '%s' "$description" | LC_ALL=C.UTF-8 wc -m)" -gt 1024 ]; then
    problem "description has more than 1024 characters"
  fi
}

checkLinks() {
  # An address has a scheme, and a place in this file begins with #.
  links=$(grep -o '](<*[^)>#]*' "$file" | sed -e 's/^](<*//' -e 's/ .*//' | grep -v -e '^[a-z][a-z]*:' -e '^$' || :)
  while IFS= read -r link; do
    if [ -n "$link" ] && [ ! -e "$path/$link" ]; then problem "link to \"$link\", which is not there"; fi
  done <<EOF
$links
EOF
}

checkScripts() {
  for script in "$path"/scripts/*; do
    [ -f "$script" ] || continue
    if [ "$(head -c 2 "$script")" != '#!' ]; then problem "${script##*/} does not begin with #!"; fi
    if [ ! -x "$script" ]; then problem "${script##*/} is not executable: chmod +x $script"; fi
  done
}

for path; do
  path=${path%/}
  file=$path/SKILL.md
  if [ ! -f "$file" ]; then
    problem "it is not there"
    continue
  fi
  folder=$(basename "$(cd "$path" && pwd)")
  if ! head -n 1 "$file" | grep -q '^---[[:space:]]*$' || ! sed 1d "$file" | grep -q '^---[[:space:]]*$'; then
    problem "the header is missing: it stands between two lines of ---"
    continue
  fi
  checkName
  checkDescription
  if ! sed -e 1d "$file" | sed -e '1,/^---[[:space:]]*$/d' | grep -q '[^[:space:]]'; then
    problem "there is no text below the header"
  fi
  if grep -q 'FILL IN' "$file"; then problem "something is still to be filled in"; fi
  if [ "$(wc -l <"$file")" -gt 500 ]; then problem "more than 500 lines: move details to references/"; fi
  checkLinks
  checkScripts
done
if [ "$problems" -gt 0 ]; then exit 1; fi
echo ok
