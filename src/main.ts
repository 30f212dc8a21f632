/** The process: arguments to a command, signals to an abort, the outcome to an exit code. */

import packageJson from "../package.json" with { type: "json" };
import type { Terminal } from "./core/platform.ts";

const { version } = packageJson;

async function main(argv: readonly string[]): Promise<number> {
  const [{ createPlatform }, { runCli }] = await Promise.all([
    import("./platform/index.ts"),
    import("./cli/run.ts"),
  ]);
  const platform = await createPlatform();
  const abort = new AbortController();
  await handleSignals(abort, platform.terminal);
  const { createApp } = await import("./app.ts");
  const apps: Awaited<ReturnType<typeof createApp>>[] = [];
  // However this process ends, no command and no thread that it started goes on without it.
  process.on("exit", () => {
    platform.processes.endAll();
    for (const app of apps) app.endThreads();
  });
  const code = await runCli({
    argv,
    terminal: platform.terminal,
    signal: abort.signal,
    createApp: async (flags) => {
      const app = createApp({ platform, flags, version });
      apps.push(app);
      return app;
    },
    async flush() {
      for (const app of apps) await app.flush();
      await platform.terminal.flush();
    },
    mask: (text) => apps.reduce((masked, app) => app.mask(masked), text),
  });
  // An error may have been printed since; that it cannot be is known by then.
  await platform.terminal.flush().catch(() => {});
  return code;
}

/** The first signal asks, the second ends. */
async function handleSignals(abort: AbortController, { stdinIsTty }: Terminal): Promise<void> {
  const [{ Stopped }, { isHangupIgnored }] = await Promise.all([
    import("./core/errors.ts"),
    import("./platform/signals.ts"),
  ]);
  const onSignal = () => {
    if (abort.signal.aborted) process.exit(130);
    abort.abort(new Stopped("shutdown"));
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  // A window that closes must not leave commands running; whoever ran us under nohup wants just that.
  if (!isHangupIgnored(stdinIsTty)) process.on("SIGHUP", onSignal);
}

const argv = process.argv.slice(2);
if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-v")) {
  console.log(`🐈 nanobot v${version}`);
} else {
  process.exit(await main(argv));
}
