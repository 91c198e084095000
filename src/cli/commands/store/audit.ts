import type { KeptEvent } from "../../../core/trail/event.ts";
import type { RunId } from "../../../core/id.ts";
import type { Engine } from "../../../engine/engine.ts";
import { Refusal } from "../../../core/refusal.ts";
import { EXIT_CODE } from "../../../core/exit-code.ts";
import { readAnchors, writeAnchor } from "./audit-anchor.ts";
import { optionalArgument } from "../../arguments.ts";
import { renderAudit, renderVerified } from "./audit-view.ts";
import type { Command } from "../../command.ts";
import { readPositiveInteger } from "../../arguments.ts";
import type { Flags } from "../../flags.ts";
import { printResult } from "../../output.ts";
import { getTarget } from "../../target.ts";

const PAGE = 1000;
const MOST = Number.MAX_SAFE_INTEGER;

const flags = {
  limit: { type: "string", value: "count", about: "Show only the last events" },
  verify: { type: "boolean", about: "Check that nothing is missing and nothing was changed" },
  "seal-to": { type: "string", value: "file|url", about: "Seal the trail and write the seal to a file or URL" },
  against: { type: "string", value: "file", about: "With --verify: compare with the seals in this file" },
} as const satisfies Flags;

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
      printResult(context, command.fields ?? [], { page: () => renderVerified(verified), json: () => json });
      return verified.problems.length === 0 ? 0 : EXIT_CODE.error;
    }
    if (target !== undefined) {
      const seal = await engine.seal();
      if (seal === undefined) throw new Refusal("not_found", "There are no events to seal yet");
      const anchor = await writeAnchor(seal, target, { allowLoopback: context.rules.callbackLoopback });
      const page = (): string => `✓ seal ${anchor.n} is in ${target}\n`;
      printResult(context, command.fields ?? [], { page, json: () => anchor });
      return 0;
    }
    const limit = args.flags.limit === undefined ? MOST : readPositiveInteger(args.flags.limit, "limit");
    const all = name === undefined ? await readAll(engine, limit) : await readRun(engine, name);
    const events = all.slice(-limit);
    const runNumbers = await readRunNumbers(engine, events);
    printResult(context, command.fields ?? [], {
      page: () => renderAudit(events, context.ahead, runNumbers),
      json: () => events.map(({ event, n, hash }) => ({ n, ...event, hash })),
    });
    return 0;
  },
};

/** The last events of the store, oldest first. */
async function readAll(engine: Engine, limit: number): Promise<KeptEvent[]> {
  const events: KeptEvent[] = [];
  for (let after = ""; ; after = events.at(-1)?.cursor ?? "") {
    const page = await engine.readFeed(after, PAGE);
    events.push(...page);
    events.splice(0, events.length - limit);
    if (page.length < PAGE) return events;
  }
}

/** The numbers of the runs whose agents acted. */
async function readRunNumbers(engine: Engine, events: readonly KeptEvent[]): Promise<Map<RunId, number>> {
  const ids = new Set(events.flatMap(({ event }) => (event.by.scope === "agent" ? (event.by.runId ?? []) : [])));
  const numbers = new Map<RunId, number>();
  for (const id of ids) {
    const run = await engine.findRun(id);
    if (run) numbers.set(id, run.number);
  }
  return numbers;
}

async function readRun(engine: Engine, name: string): Promise<KeptEvent[]> {
  const target = await getTarget(engine, name);
  if (target.named === "run") return engine.readChain(target.run.id);
  const events = await engine.readChain(target.question.runId);
  return events.filter(({ event }) => event.questionId === target.question.id);
}
