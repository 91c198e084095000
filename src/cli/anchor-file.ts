import { appendFile, readFile } from "node:fs/promises";
import { type Anchor, anchorOf, parseAnchors } from "../core/anchor.ts";
import type { Seal } from "../core/changes.ts";
import { Refusal } from "../core/refusal.ts";
import { isCode } from "../core/system-code.ts";

/** Tells a file or an address outside the store of a seal: a line at the end, or a POST. */
export async function writeAnchor(seal: Seal, target: string): Promise<Anchor> {
  const anchor = anchorOf(seal);
  const line = JSON.stringify(anchor);
  if (!/^https?:\/\//.test(target)) {
    await appendFile(target, `${line}\n`);
    return anchor;
  }
  const { post } = await import("../engine/outbound.ts");
  const message = { body: line, headers: { "content-type": "application/json" } };
  // Whoever types the address may also name a program on this machine.
  const posted = await post(target, message, { allowLoopback: true });
  if (posted.ok) return anchor;
  throw new Refusal("bad_input", `${target} did not take the seal: ${posted.why}`, {
    hint: "Try again, or write it to a file: askd audit --seal-to <file>",
  });
}

/** The seals that such a file has. */
export async function readAnchors(file: string): Promise<Anchor[]> {
  try {
    return parseAnchors(await readFile(file, "utf8"), file);
  } catch (error) {
    if (!isCode(error, "ENOENT")) throw error;
    throw new Refusal("not_found", `There is no file ${file}`, {
      hint: `Write the first seal to it with: askd audit --seal-to ${file}`,
    });
  }
}
