/** Every tool there is, one line each. */

export { applyPatch } from "./apply-patch.ts";
export { cron } from "./cron.ts";
export { editFile } from "./edit-file.ts";
export { exec } from "./exec.ts";
export { findFiles } from "./find-files.ts";
export { grep } from "./grep.ts";
export { listDir } from "./list-dir.ts";
export { listExecSessions } from "./list-exec-sessions.ts";
export { memorySearch } from "./memory-search.ts";
export { message } from "./message.ts";
export { readFile } from "./read-file.ts";
export { spawn } from "./spawn.ts";
export { webFetch } from "./web-fetch.ts";
export { webSearch } from "./web-search.ts";
export { writeFile } from "./write-file.ts";
export { writeStdin } from "./write-stdin.ts";
