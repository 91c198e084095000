import { readFile } from "node:fs/promises";
import { type Anchor, anchorOf, parseAnchors } from "../../../core/trail/anchor.ts";
import type { Seal } from "../../../core/changes.ts";
import { Refusal } from "../../../core/refusal.ts";
import { hasErrorCode, errorCodeOf } from "../../../core/error-code.ts";
import { appendAnchors } from "../../../engine/jobs/anchor-file.ts";

/** Writes a seal to a file or an address outside the store: a line at the end, or a POST. */
export async function writeAnchor(
  seal: Seal,
  target: string,
  { allowLoopback }: { allowLoopback: boolean },
): Promise<Anchor> {
  const anchor = anchorOf(seal);
  if (!/^https?:\/\//.test(target)) {
    await appendTo(target, anchor);
    return anchor;
  }
  if (!URL.canParse(target)) {
    throw new Refusal("bad_input", `${target} is not an address`, {
      hint: "Type: askd audit --seal-to https://<host>/<path>",
    });
  }
  const { post } = await import("../../../engine/outbound/post.ts");
  const message = { body: JSON.stringify(anchor), headers: { "content-type": "application/json" } };
  const posted = await post(target, message, { allowLoopback });
  if (posted.ok) return anchor;
  throw new Refusal("bad_input", `${target} did not accept the seal: ${posted.why}`, {
    hint: allowLoopback
      ? "Try again, or write it to a file: askd audit --seal-to <file>"
      : "Give a public https address; for programs on this machine: askd config set callbacks.allow_loopback true",
  });
}

async function appendTo(file: string, anchor: Anchor): Promise<void> {
  try {
    await appendAnchors(file, [anchor]);
  } catch (cause) {
    throw new Refusal("bad_input", `The seal cannot be written to ${file}: ${errorCodeOf(cause)}`, {
      hint: "Name a file in a folder that you can write to: askd audit --seal-to <file>",
      cause,
    });
  }
}

/** Reads the seals in a file. */
export async function readAnchors(file: string): Promise<Anchor[]> {
  return parseAnchors(await readText(file), file);
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    if (hasErrorCode(cause, "ENOENT")) {
      throw new Refusal("not_found", `There is no file ${file}`, {
        hint: `Write the first seal to it with: askd audit --seal-to ${file}`,
      });
    }
    throw new Refusal("bad_input", `${file} cannot be read: ${errorCodeOf(cause)}`, {
      hint: "Name a file with seals: askd audit --verify --against <file>",
      cause,
    });
  }
}
