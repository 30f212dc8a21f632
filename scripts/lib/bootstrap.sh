# Sourced by the scripts: installs the packages of this repository once, and sets $root and $bun.
# Needs either Bun, or Node with npm. Says what it does on stderr, so that stdout stays the result.

# A link to a script, from a bin folder for one, leads here too.
root=$(CDPATH='' cd -- "$(dirname -- "$(readlink -f -- "$0")")/.." && pwd -P)
bun=$root/node_modules/.bin/bun
stamp=$root/node_modules/.installed

runs() {
  "$1" --version >/dev/null 2>&1
}

fail() {
  echo "nanobot: $1" >&2
  exit 1
}

# Installing with scripts turned off leaves a stub in the place of the runtime; its own installer mends it.
repair_runtime() {
  echo "nanobot: putting the Bun runtime in place" >&2
  if command -v node >/dev/null 2>&1; then
    (cd "$root/node_modules/bun" && node install.js) >&2
  else
    (cd "$root/node_modules/bun" && bun install.js) >&2
  fi
}

install_packages() {
  echo "nanobot: installing packages, once" >&2
  if command -v bun >/dev/null 2>&1; then
    (cd "$root" && bun install --frozen-lockfile) >&2
  elif command -v npm >/dev/null 2>&1; then
    (cd "$root" && npm ci --no-audit --no-fund --loglevel=error) >&2
  else
    fail "Bun, or Node with npm, is needed to run from source"
  fi
  runs "$bun" || repair_runtime
  runs "$bun" || fail "the Bun runtime in node_modules does not run on this machine"
  cp "$root/bun.lock" "$stamp"
}

cmp -s "$root/bun.lock" "$stamp" && [ -x "$bun" ] || install_packages
