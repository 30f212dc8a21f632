/** Folders that no search goes into unless it is asked for them: what tools leave behind. */

/** Of versioning, packaging, building and testing. A file may well have such a name. */
export const NOISE: ReadonlySet<string> = new Set(
  (
    ".git .hg .svn node_modules __pycache__ .venv venv dist build .tox .mypy_cache .pytest_cache .ruff_cache " +
    ".coverage htmlcov"
  ).split(" "),
);
