/** Reads a call of the Bot API: JSON, a form, or a form with files. */

import { Buffer } from "node:buffer";
import type { IncomingMessage } from "node:http";

export interface UploadedFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

export interface TelegramCall {
  readonly fields: Readonly<Record<string, unknown>>;
  /** By the name under which a field attaches them. */
  readonly files: ReadonlyMap<string, UploadedFile>;
}

export async function readCall(request: IncomingMessage): Promise<TelegramCall> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk as Uint8Array);
  const body = Buffer.concat(chunks);
  const type = request.headers["content-type"] ?? "";
  const boundary = /^multipart\/form-data;.*boundary=("?)([^";]+)\1/.exec(type)?.[2];
  if (boundary !== undefined) return readParts(body, boundary);
  const text = body.toString("utf8");
  if (type.startsWith("application/x-www-form-urlencoded")) {
    return { fields: decoded(Object.fromEntries(new URLSearchParams(text))), files: new Map() };
  }
  return { fields: text === "" ? {} : JSON.parse(text), files: new Map() };
}

/** In forms, objects and numbers are written as JSON. */
function decoded(fields: Readonly<Record<string, string>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      if (!/^(?:[[{].*|-?\d{1,15}|true|false)$/s.test(value)) return [name, value];
      return [name, JSON.parse(value)];
    }),
  );
}

/** One character for each byte, so that texts and bytes have the same places. */
function readParts(body: Buffer, boundary: string): TelegramCall {
  const fields: Record<string, string> = {};
  const files = new Map<string, UploadedFile>();
  for (const part of `\r\n${body.toString("latin1")}`.split(`\r\n--${boundary}`).slice(1, -1)) {
    const end = part.indexOf("\r\n\r\n");
    const header = Buffer.from(part.slice(0, end), "latin1").toString("utf8");
    const bytes = Buffer.from(part.slice(end + 4), "latin1");
    const name = /[ ;]name="([^"]*)"/.exec(header)?.[1] ?? "";
    const filename = /filename="?([^"\r\n;]*)/.exec(header)?.[1];
    if (filename === undefined) fields[name] = bytes.toString("utf8");
    else files.set(name, { name: filename, bytes });
  }
  return { fields: decoded(fields), files };
}
