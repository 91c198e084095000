import { createHash, createPublicKey, verify, type Hash } from "node:crypto";
import type { ExportEnd } from "./export.ts";

/** The prefix of the name of a key, by which people pass it on. */
const NAME_PREFIX = "askd-ed25519-";
const RAW_KEY_BYTES = 32;
/** The beginning of every such key in DER, before its 32 bytes. */
const DER_START = Buffer.from("302a300506032b6570032100", "hex");

/** Hashes the lines of an export in their order, for the signature at its end. */
export class ExportSigner {
  readonly #hash: Hash = createHash("sha256");

  add(line: string): void {
    this.#hash.update(`${line}\n`);
  }

  /** The text that is signed: all lines so far, and the last one without its signature. */
  digestWith({ signature: _signature, ...end }: ExportEnd): string {
    const digest = this.#hash
      .copy()
      .update(`${JSON.stringify(end)}\n`)
      .digest("hex");
    return `askd.export\n${digest}`;
  }
}

/** The name of a public key. */
export function keyName(raw: Uint8Array): string {
  return `${NAME_PREFIX}${Buffer.from(raw).toString("base64url")}`;
}

/** Says whether the key of this name signed the text. */
export function isSignedBy(name: string, text: string, signature: string): boolean {
  const raw = Buffer.from(name.slice(NAME_PREFIX.length), "base64url");
  if (!isKeyName(name)) return false;
  const key = createPublicKey({ key: Buffer.concat([DER_START, raw]), format: "der", type: "spki" });
  return verify(null, Buffer.from(text), key, Buffer.from(signature, "base64url"));
}

export function isKeyName(name: string): boolean {
  return (
    name.startsWith(NAME_PREFIX) && Buffer.from(name.slice(NAME_PREFIX.length), "base64url").length === RAW_KEY_BYTES
  );
}
