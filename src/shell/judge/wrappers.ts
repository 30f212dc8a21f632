/** Programs whose arguments are another command, and how far the options before it reach. */

import { names } from "./names.ts";
import type { OptionSpec } from "./options.ts";

export interface Wrapper extends OptionSpec {
  /** Operands of the wrapper itself, before the command. */
  readonly skip?: number;
  /** `NAME=value` words before the command belong to the wrapper. */
  readonly assignments?: boolean;
  /** With one of these letters it only looks something up. */
  readonly unless?: string;
  /** The command is given after this first operand only. */
  readonly after?: readonly string[];
  /** Arguments are added to the command from elsewhere. */
  readonly appends?: boolean;
  /** What follows is joined to one text that a shell reads. */
  readonly code?: boolean;
  readonly remote?: boolean;
  /** Without a command it gives a shell to whoever types. */
  readonly opensShell?: boolean;
}

const run: Wrapper = { after: ["run", "exec", "x", "dlx"] };

const systemdRun =
  "property unit slice uid gid description nice service-type working-directory setenv host machine on-active on-boot on-startup " +
  "on-unit-active on-unit-inactive on-calendar timer-property path-property socket-property";

const wrappers: Readonly<Record<string, Wrapper>> = {
  env: { short: "uCS", long: ["unset", "chdir", "split-string"], assignments: true },
  sudo: {
    short: "ugUhpCcrtTDR",
    long: ["user", "group", "host", "prompt", "chdir", "chroot", "role", "type", "other-user"],
    assignments: true,
    unless: "lvkK",
    opensShell: true,
  },
  doas: { short: "uC", opensShell: true },
  nice: { short: "n", long: ["adjustment"] },
  nohup: {},
  timeout: { short: "ks", long: ["kill-after", "signal"], skip: 1 },
  stdbuf: { short: "ioe", long: ["input", "output", "error"] },
  setsid: {},
  ionice: { short: "cnp", long: ["class", "classdata", "pid"] },
  chrt: { short: "TPD", skip: 1, unless: "pm" },
  taskset: { skip: 1, unless: "p" },
  command: { unless: "vV" },
  builtin: {},
  exec: { short: "a" },
  busybox: {},
  toybox: {},
  time: { short: "fo", long: ["format", "output"] },
  strace: { short: "aeEIbOoPpsSuX" },
  ltrace: { short: "aAeEFlnopsuwx" },
  unbuffer: {},
  fakeroot: { short: "lsib" },
  chroot: { long: ["userspec", "groups"], skip: 1, opensShell: true },
  unshare: { short: "SGRw", opensShell: true },
  nsenter: { short: "tSGrw", opensShell: true },
  "systemd-run": { short: "puHM", long: systemdRun.split(" ") },
  "systemd-inhibit": { long: ["what", "who", "why", "mode"] },
  firejail: {},
  "xvfb-run": { short: "eflnpsw" },
  "dbus-run-session": {},
  caffeinate: { short: "tw" },
  setarch: {},
  linux32: {},
  linux64: {},
  torsocks: {},
  torify: {},
  proxychains: { short: "f" },
  proxychains4: { short: "f" },
  nocache: {},
  chronic: {},
  xargs: {
    short: "adEInPLs",
    long: ["arg-file", "delimiter", "max-args", "max-procs", "max-lines", "max-chars", "process-slot-var"],
    appends: true,
  },
  entr: {},
  watch: { short: "nq", long: ["interval", "equexit"], code: true },
  parallel: {
    short: "jnNISalLPsXC",
    long: ["jobs", "max-args", "arg-file", "delay", "timeout"],
    code: true,
    appends: true,
    opensShell: true,
  },
  ssh: { short: "bcDEeFIiJLlmOopQRSWw", skip: 1, code: true, remote: true, opensShell: true },
  uv: run,
  poetry: run,
  pipenv: run,
  pdm: run,
  hatch: run,
  bundle: { after: ["exec"] },
  npm: { after: ["exec", "x"] },
  pnpm: { after: ["exec", "dlx"] },
  yarn: { after: ["exec", "dlx"] },
  npx: { short: "pc", long: ["package", "call"] },
  bunx: {},
  direnv: { after: ["exec"], skip: 1 },
  mise: { after: ["exec", "x"] },
  script: { short: "cEIOBmoT", long: ["command"], opensShell: true },
};

/** Shells: `-c` takes code, and without a file they read it from standard input. */
export const shells: ReadonlySet<string> = names(
  "sh bash zsh dash ksh ksh93 mksh ash fish rbash yash tcsh csh",
);

/** Interpreters and the options after which they take their program. */
export const interpreters: Readonly<
  Record<string, { readonly letters: string; readonly names?: readonly string[] }>
> = {
  python: { letters: "c" },
  ipython: { letters: "c" },
  make: { letters: "E", names: ["eval"] },
  pypy: { letters: "c" },
  perl: { letters: "eE" },
  ruby: { letters: "e" },
  node: { letters: "ep", names: ["eval", "print"] },
  bun: { letters: "ep", names: ["eval", "print"] },
  deno: { letters: "" },
  php: { letters: "rBRE" },
  lua: { letters: "e" },
  luajit: { letters: "e" },
  tclsh: { letters: "" },
  osascript: { letters: "e" },
  rscript: { letters: "e" },
  julia: { letters: "eE" },
  elixir: { letters: "e" },
  guile: { letters: "c" },
  emacs: { letters: "", names: ["eval"] },
  vim: { letters: "c", names: ["cmd"] },
  vi: { letters: "c" },
  nvim: { letters: "c", names: ["cmd"] },
  ex: { letters: "c" },
  ed: { letters: "" },
  gdb: { letters: "", names: ["ex", "eval-command"] },
  sqlite3: { letters: "", names: ["cmd"] },
  expect: { letters: "c" },
};

/** The interpreter that a program name with or without a version stands for. */
export function interpreterOf(name: string): string | undefined {
  const base = name.replace(/[\d.]+$/, "");
  return [base, name].find((one) => Object.hasOwn(interpreters, one));
}

/** The wrapper that a program is, whatever names objects have of themselves. */
export function wrapperOf(name: string): Wrapper | undefined {
  return Object.hasOwn(wrappers, name) ? wrappers[name] : undefined;
}
