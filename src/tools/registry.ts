/** Every tool there is, one line each. */

export { editFile } from "./edit-file.ts";
export { exec } from "./exec.ts";
export { listDir } from "./list-dir.ts";
export { readFile } from "./read-file.ts";
export { writeFile } from "./write-file.ts";
