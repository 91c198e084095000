import { readFile } from "node:fs/promises";
import type { KeptEvent, Event } from "../../../core/trail/event.ts";
import { type RunId, STORE_CHAIN, shortId } from "../../../core/id.ts";
import type { Engine, Verified } from "../../../engine/engine.ts";
import { Refusal } from "../../../core/refusal.ts";
import { EXIT_CODE } from "../../../core/exit-code.ts";
import { pluralize } from "../../../core/text/plural.ts";
import { formatDuration } from "../../../core/text/duration.ts";
import { Instant } from "../../../core/instant.ts";
import { trailActorName } from "../../../core/people/actor.ts";
import { type Anchor, anchorOf, parseAnchors } from "../../../core/trail/anchor.ts";
import type { Seal } from "../../../core/changes.ts";
import { SCHEMA_UNSEEN } from "../../../core/trail/trail-mismatch.ts";
import { hasErrorCode, errorCodeOf } from "../../../core/error-code.ts";
import { appendAnchors } from "../../../engine/jobs/anchor-file.ts";
import { optionalArgument, readPositiveInteger } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Flags } from "../../flags.ts";
import { requireMaintainer } from "./direct-store.ts";
import { replaceLostWorker } from "../../lost-worker.ts";
import { readRestoreAdvice } from "../../view/restore-advice.ts";
import { printResult } from "../../output.ts";
import { getTarget } from "../../find-target.ts";
import { oneLine } from "../../view/sanitise.ts";
import { cellsOf, cutCells, padCells } from "../../terminal/terminal.ts";
import { sayBy } from "../../view/run-text.ts";
import { type ClockOffset, sayMoment } from "../../view/relative-time.ts";

const PAGE = 1000;
const MOST = Number.MAX_SAFE_INTEGER;

const flags = {
  limit: { type: "string", value: "count", about: "Show only the last events" },
  verify: { type: "boolean", about: "Check that nothing is missing and nothing was changed" },
  "seal-to": { type: "string", value: "file|url", about: "Seal the trail and write the seal to a file or URL" },
  against: { type: "string", value: "file", about: "With --verify: compare with the seals in this file" },
} as const satisfies Flags;

const DETAIL_CELLS = 200;
/** Details that are hashes or ids of texts. */
const HIDDEN: ReadonlySet<string> = new Set(["content", "answer", "text", "reply", "id", "body", "kind"]);

export const command: Command<typeof flags> = {
  usage: "audit [<run>] [--limit 20] [--verify [--against <file>]] [--seal-to <file|url>]",
  isLong: () => true,
  flags,
  fields: [
    "n",
    "type",
    "at",
    "by",
    "run_id",
    "question_id",
    "from",
    "to",
    "version",
    "detail",
    "hash",
    "runs",
    "events",
    "seals",
    "problems",
    "kind",
  ],
  isLooking: (args) => args.flags["seal-to"] === undefined,
  async run(args, context) {
    const { against, "seal-to": target } = args.flags;
    if (against !== undefined && !args.flags.verify) {
      throw new Refusal("bad_input", "--against goes with --verify", {
        hint: `Type: askd audit --verify --against ${against}`,
      });
    }
    const anchors = against === undefined ? [] : await readAnchors(against);
    // Read-only: no due job runs on a store that may be damaged.
    const engine = await context.engine(args.flags.verify ? { isReading: true } : {});
    const name = optionalArgument(args.positionals, command.usage);
    if (args.flags.verify) {
      const verified = await engine.verify({ anchors });
      const { flaws: _, ...json } = verified; // the same as its problems
      const restore = verified.problems.length > 0 ? await readRestoreAdvice(context) : "";
      printResult(context, command.fields ?? [], { page: () => renderVerified(verified, restore), json: () => json });
      return verified.problems.length === 0 ? 0 : EXIT_CODE.error;
    }
    if (target !== undefined) {
      await requireMaintainer(context);
      const seal = await engine.seal();
      if (seal === undefined) throw new Refusal("not_found", "There are no events to seal yet");
      const anchor = await writeAnchor(seal, target, { allowLoopback: context.rules.callbackLoopback });
      const page = () => `✓ seal ${anchor.n} is in ${target}\n`;
      printResult(context, command.fields ?? [], { page, json: () => anchor });
      return 0;
    }
    await replaceLostWorker(engine, context);
    const limit = args.flags.limit === undefined ? MOST : readPositiveInteger(args.flags.limit, "limit");
    const all = name === undefined ? await readLast(engine, limit) : await readRun(engine, name);
    const events = all.slice(-limit);
    const runNumbers = await readRunNumbers(engine, events);
    printResult(context, command.fields ?? [], {
      page: () => renderAudit(events, context.ahead, runNumbers),
      json: () => events.map(({ event, n, hash }) => ({ n, ...event, hash })),
    });
    return 0;
  },
};

/** The last events of the store, oldest first; they are read from the end, so that old ones cost nothing. */
async function readLast(engine: Engine, limit: number) {
  const events: KeptEvent[] = [];
  for (;;) {
    const wanted = Math.min(PAGE, limit - events.length);
    const page = wanted === 0 ? [] : await engine.readNewest(events.at(-1)?.cursor, wanted);
    events.push(...page);
    if (page.length < PAGE) return events.reverse();
  }
}

/** The numbers of the runs whose agents acted. */
async function readRunNumbers(engine: Engine, events: readonly KeptEvent[]) {
  const ids = new Set(events.flatMap(({ event }) => (event.by.scope === "agent" ? (event.by.runId ?? []) : [])));
  const numbers = new Map<RunId, number>();
  for (const id of ids) {
    const run = await engine.findRun(id);
    if (run) numbers.set(id, run.number);
  }
  return numbers;
}

async function readRun(engine: Engine, name: string) {
  const target = await getTarget(engine, name);
  if (target.named === "run") return engine.readChain(target.run.id);
  const events = await engine.readChain(target.question.runId);
  return events.filter(({ event }) => event.questionId === target.question.id);
}

/** The page of `askd audit`: one line for each event, in the order of the trail; runs by their numbers. */
export function renderAudit(
  events: readonly KeptEvent[],
  ahead: ClockOffset,
  runNumbers: ReadonlyMap<RunId, number> = new Map(),
): string {
  if (events.length === 0) return "No events yet.\n";
  const rows = events.map(({ event }) => [
    `${sayMoment(event.at, ahead)}  ${sayAbout(event)}`,
    event.type,
    sayBy({ ...event.by, id: trailActorName(event.by, runNumbers), onBehalfOf: undefined }),
    [sayChange(event), ...sayDetail(event, ahead)].join(", "),
  ]);
  const columns = [0, 1, 2].map((column) => widest(rows.map((row) => cellsOf(row[column] ?? ""))));
  const lines = rows.map((row) =>
    [...columns.map((cells, column) => padCells(row[column] ?? "", cells)), row[3] ?? ""].join("  ").trimEnd(),
  );
  return `${lines.join("\n")}\n`;
}

function sayAbout({ questionId, runId }: Event) {
  if (questionId !== undefined) return shortId(questionId);
  return runId === STORE_CHAIN ? "store" : shortId(runId);
}

/** The output of `askd audit --verify`, with the way to get the store back. */
export function renderVerified(verified: Verified, restore: string): string {
  const counts = [
    pluralize(verified.runs, "run"),
    pluralize(verified.events, "event"),
    pluralize(verified.seals, "seal"),
  ].join(", ");
  if (verified.problems.length === 0) return `✓ ${counts}: nothing is missing and nothing was changed\n`;
  if (verified.problems.every((problem) => problem === SCHEMA_UNSEEN)) {
    return [
      `✗ ${counts}: the rows are what the trail says, and ${SCHEMA_UNSEEN}`,
      "Verify on the primary, as a user who may create a schema there",
      "",
    ].join("\n");
  }
  return [
    verified.runs + verified.events > 0
      ? `✗ ${counts}: the trail and the stored rows disagree`
      : "✗ the store is damaged; its trail was not read",
    ...verified.problems.map((problem) => `  ${oneLine(problem)}`),
    restore,
    "",
  ].join("\n");
}

function sayChange({ from, to }: Event) {
  return oneLine(from === undefined || from === to ? to : `${from} → ${to}`);
}

/** The details worth showing to people; `--json` also shows the hashes of texts. */
function sayDetail({ type, detail = {} }: Event, ahead: ClockOffset) {
  if (type === "question.refused") {
    const { tried, tries } = detail;
    return [cutCells(`attempt ${sayValue(tries, ahead)} refused: ${sayValue(tried, ahead)}`, DETAIL_CELLS)];
  }
  return Object.entries(detail).flatMap(([name, value]) => {
    const said = sayValue(value, ahead);
    if (said === "" || HIDDEN.has(name)) return [];
    if (name.endsWith("_ms") && typeof value === "number") {
      return [`${oneLine(name.slice(0, -3)).replaceAll("_", " ")} ${formatDuration(value)}`];
    }
    return [cutCells(`${oneLine(name).replaceAll("_", " ")} ${said}`, DETAIL_CELLS)];
  });
}

function sayValue(value: unknown, ahead: ClockOffset): string {
  const instant = Instant.safeParse(value);
  if (instant.success) return sayMoment(instant.data, ahead);
  if (Array.isArray(value)) return value.map((each) => sayValue(each, ahead)).join(", ");
  if (typeof value === "string") return oneLine(value);
  if (value === null || value === undefined) return "";
  return oneLine(JSON.stringify(value));
}

/** Appends one by one: there may be more events than a call can have arguments. */
function widest(cells: readonly number[]) {
  return cells.reduce((most, each) => Math.max(most, each), 0);
}

/** Writes a seal to a file or an address outside the store: a line at the end, or a POST. */
async function writeAnchor(seal: Seal, target: string, { allowLoopback }: { allowLoopback: boolean }) {
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

async function appendTo(file: string, anchor: Anchor) {
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
async function readAnchors(file: string) {
  return parseAnchors(await readText(file), file);
}

async function readText(file: string) {
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
