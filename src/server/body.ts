import type { Context, MiddlewareHandler } from "hono";
import { Refusal } from "../core/refusal.ts";
import { Slots } from "./slots.ts";
import { IncomingMessage } from "node:http";
import { isIPv6 } from "node:net";

const KIB = 1024;
/** The largest body of any route; a route may take less. */
const MOST_BODY_BYTES = KIB * KIB;
/** For callers without a credential: a code to sign in with, a report of a browser. */
export const STRANGERS_BODY_BYTES = 8 * KIB;

/** Parsing more would block the server for others; no page of ours has as many. */
const MOST_FIELDS = 5_000;

/** How many bytes of bodies are read at once: in all, and for one token or one address. */
const SIGNED = { total: 64 * KIB * KIB, perOwner: 32 * KIB * KIB, called: "bytes of requests" };
const STRANGERS = { total: 4 * KIB * KIB, perOwner: KIB * KIB, called: "bytes of requests" };

export const FORM_TYPE = "application/x-www-form-urlencoded";

declare module "hono" {
  interface ContextVariableMap {
    /** Reads the body of a request that passed every other check. */
    readBody: (mostBytes: number) => Promise<string>;
    /** The id of the token that let the caller in; unset for callers without one. */
    tokenId: string | undefined;
    /** The address of a caller without a token. */
    address: string;
  }
}
const SITE_GROUPS = 4;
const MOST_DEPTH = 64;
/** An ask with all items and options that are allowed has about 3,000 values. */
const MOST_VALUES = 10_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPENS: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSES: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/** Refuses bodies that say they are too large, and lets routes read the others by `readText` within bounds. */
export function limitBody(isBehindProxy: boolean): MiddlewareHandler {
  const slots = { signed: new Slots(SIGNED), strangers: new Slots(STRANGERS) };
  return async (context, next) => {
    const declared = declaredBytes(context);
    if (declared !== undefined) requireBytes(declared, MOST_BODY_BYTES);
    context.set("address", clientAddress(context, isBehindProxy));
    let text: Promise<string> | undefined; // a form is looked at by the check of its session and again by its route
    context.set("readBody", (mostBytes) => (text ??= read(context, slots, mostBytes)));
    await next();
  };
}

/** The body as text. Call it after every check that needs no body: until then nothing of it is kept. */
export function readText(context: Context, mostBytes = MOST_BODY_BYTES): Promise<string> {
  return context.get("readBody")(mostBytes);
}

/** The fields of a form, each with its values in order; a body of another type has none. */
export async function readFields(context: Context, mostBytes = MOST_BODY_BYTES): Promise<Map<string, string[]>> {
  const fields = new Map<string, string[]>();
  if (mediaType(context) !== FORM_TYPE) return fields;
  const text = await readText(context, mostBytes);
  requireFew(text);
  for (const [name, value] of new URLSearchParams(text)) {
    const values = fields.get(name);
    if (values) values.push(value);
    else fields.set(name, [value]);
  }
  return fields;
}

/** The body as JSON; no body is an empty object. */
export async function readJson(context: Context, mostBytes = MOST_BODY_BYTES): Promise<unknown> {
  const text = await readText(context, mostBytes);
  return text.trim() === "" ? {} : parseJson(text);
}

async function read(context: Context, { signed, strangers }: { signed: Slots; strangers: Slots }, mostBytes: number) {
  const declared = declaredBytes(context);
  const bytes = declared ?? mostBytes; // one of unknown length may become as long as is allowed
  requireBytes(bytes, mostBytes);
  const tokenId = context.get("tokenId");
  const free = tokenId === undefined ? strangers.take(context.get("address"), bytes) : signed.take(tokenId, bytes);
  try {
    return decode(await (declared === undefined ? readChunks(context, mostBytes) : context.req.arrayBuffer()));
  } catch (error) {
    if (error instanceof Refusal) throw error;
    // The caller left, or the server ended a connection that was too slow.
    throw new Refusal("bad_input", "The request ended before its body was complete", { cause: error });
  } finally {
    free();
  }
}

/** Reads a body without a declared length. */
async function readChunks({ req }: Context, mostBytes: number) {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const body: AsyncIterable<Uint8Array> | null = req.raw.body;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    requireBytes(bytes, mostBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Refuses what is not UTF-8: replacing what cannot be read would change an answer. */
function decode(bytes: ArrayBuffer | Uint8Array) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new Refusal("bad_input", "The request is not UTF-8 text", { hint: "Send it as UTF-8", cause });
  }
}

/** The declared content type. */
export function mediaType({ req }: Context): string | undefined {
  return req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
}

/** The declared length of a body; undefined if there is none. */
function declaredBytes({ req }: Context) {
  if (req.method === "GET" || req.method === "HEAD") return 0;
  if (req.header("transfer-encoding") !== undefined) return undefined;
  return Number(req.header("content-length") ?? 0);
}

function requireFew(form: string) {
  let fields = 1;
  for (let at = form.indexOf("&"); at >= 0; at = form.indexOf("&", at + 1)) {
    fields += 1;
    if (fields > MOST_FIELDS) throw new Refusal("too_large", `A form has at most ${MOST_FIELDS} fields`);
  }
}

function requireBytes(bytes: number, limit: number) {
  if (bytes <= limit) return;
  throw new Refusal("too_large", `This request has at most ${limit} bytes`, { fact: { is: "large_body", limit } });
}

/**
 * The address by which callers without a credential are counted. A proxy adds the address of its own caller at the end of
 * X-Forwarded-For; anything before that was written by the caller itself.
 */
function clientAddress(context: Context, isBehindProxy: boolean) {
  const forwarded = isBehindProxy ? context.req.header("x-forwarded-for")?.split(",").at(-1)?.trim() : undefined;
  return siteOf(forwarded || remoteAddress(context));
}

function remoteAddress({ env }: Context) {
  const around: unknown = env;
  if (around === null || typeof around !== "object" || !("incoming" in around)) return "";
  return around.incoming instanceof IncomingMessage ? (around.incoming.socket.remoteAddress ?? "") : "";
}

/** One customer of a network has a /64 of IPv6 addresses at least, so the first half is what is counted. */
function siteOf(address: string) {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "").slice(0, 64);
  if (!isIPv6(plain)) return plain;
  const [head = "", tail] = plain.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const gap = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => "0");
  return [...left, ...gap, ...right].slice(0, SITE_GROUPS).join(":");
}

/**
 * Parses JSON from outside. The text is scanned before it is parsed: an object with very many keys takes seconds to build
 * and to check, and nesting of any depth would be walked.
 */
export function parseJson(text: string): unknown {
  requireSmall(text);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Refusal("bad_input", "The request is not valid JSON", { cause });
  }
}

/** Counts levels and values outside of strings, in one pass. Text that is not JSON is left to the parser. */
function requireSmall(text: string) {
  let depth = 0;
  let values = 1;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) index = endOfString(text, index);
    else if (code === COMMA || code === COLON) values += 1;
    else if (OPENS.has(code)) {
      depth += 1;
      values += 1;
    } else if (CLOSES.has(code)) depth -= 1;
    if (depth > MOST_DEPTH) throw new Refusal("too_large", `JSON is nested deeper than ${MOST_DEPTH} levels`);
    if (values > MOST_VALUES) throw new Refusal("too_large", `JSON has more than ${MOST_VALUES} keys and values`);
  }
}

/** The place of the quote that ends the string which begins here; the end of the text where none does. */
function endOfString(text: string, start: number) {
  for (let index = start + 1; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === BACKSLASH) index += 1;
    else if (code === QUOTE) return index;
  }
  return text.length;
}
