import { join } from "node:path";
import { existsSync } from "node:fs";
import { FIRST_LINE } from "../config/json-schema.ts";
import { readConfig, findLock, textOf } from "./config-file.ts";
import type { FilePlan } from "./plan.ts";
import { Unfit } from "../edit/change.ts";
import { howToAskByTool } from "../core/run/how-to-ask.ts";
import { layoutOf } from "../edit/layout.ts";

/** Every line is a comment: the file shows what can be set, and changes nothing. */
const TEXT = `${FIRST_LINE}
# Settings of askd for this project. Every line shows the default; take the # away to change it.

[questions]
# live_window = "3m"        # how long a question waits with the agent alive; then the run is parked
# timeout     = "24h"       # how long it waits in all
# on_timeout  = "fail"      # wait | proceed | skip | default | escalate | fail | defer
# max_per_run = 100

[notifications]
# terminal_bell = true
`;

/** A new askd.toml where the project has none. */
export async function planProjectFile(dir: string): Promise<FilePlan[]> {
  const file = join(dir, "askd.toml");
  try {
    const { real, bytes } = await readConfig(file);
    if (bytes) return [];
    const plan = { file, real, titles: [], before: undefined, after: Buffer.from(TEXT) };
    return [{ ...plan, how: { kind: "new" }, says: ["new"], notes: [] }];
  } catch (error) {
    if (error instanceof Unfit) return []; // something else is there by that name
    throw error;
  }
}

const BEGIN = "<!-- askd:begin -->";
const END = "<!-- askd:end -->";
const BLOCK = /<!-- askd:begin -->[\s\S]*?<!-- askd:end -->/;
const NAMES = ["AGENTS.md", "CLAUDE.md"];

/** The block that teaches all agents of a project when and how to ask. */
export function renderGuideBlock(): string {
  return `${BEGIN}\n## Asking a person\n\n${howToAskByTool()}\n${END}`;
}

/** Puts the block into the files for agents that a project has, or into a new AGENTS.md. */
export function planGuide(dir: string): Promise<FilePlan[]> {
  const there = NAMES.filter((name) => existsSync(join(dir, name)));
  return Promise.all((there.length > 0 ? there : NAMES.slice(0, 1)).map((name) => planOne(join(dir, name))));
}

/** The text without the block, and without the blank lines that came with it. */
export function withoutBlock(text: string): string {
  return text.replace(
    new RegExp(`(?:\\r?\\n)*${BLOCK.source}(?:\\r?\\n)?`),
    (found) => /^\r?\n/.exec(found)?.[0] ?? "",
  );
}

async function planOne(file: string): Promise<FilePlan> {
  const plan = { file, real: file, titles: ["all agents"], how: { kind: "block" as const }, notes: [], says: [] };
  try {
    const { real, bytes } = await readConfig(file);
    const text = bytes ? textOf(bytes) : "";
    const after = bytes && BLOCK.exec(text)?.[0] === blockFor(text) ? bytes : Buffer.from(withBlock(text));
    const lock = after === bytes ? undefined : await findLock(real);
    if (lock !== undefined) throw new Unfit(lock);
    return { ...plan, real, before: bytes, after, says: after === bytes ? [] : [sayBlock(text)] };
  } catch (error) {
    if (!(error instanceof Unfit)) throw error;
    const problem = { why: error.message, snippet: `${renderGuideBlock()}\n` };
    return { ...plan, before: undefined, after: undefined, problem };
  }
}

function withBlock(text: string): string {
  const block = blockFor(text);
  if (BLOCK.test(text)) return text.replace(BLOCK, () => block);
  const { eol } = layoutOf(text);
  const gap = text === "" ? "" : text.endsWith("\n") ? eol : eol + eol;
  return `${text}${gap}${block}${eol}`;
}

function blockFor(text: string): string {
  return renderGuideBlock().replaceAll("\n", layoutOf(text).eol);
}

function sayBlock(text: string): string {
  return BLOCK.test(text) ? "~ the block on how to ask" : "+ a block on how to ask";
}
