import type { KeptEvent } from "../core/event.ts";
import type { Engine } from "../engine/engine.ts";
import { atMostOne } from "./arguments.ts";
import { renderAudit, renderVerified } from "./audit-view.ts";
import type { Command } from "./command.ts";
import { readCount } from "./count.ts";
import type { Flags } from "./flags.ts";
import { printResult } from "./output.ts";
import { getTarget } from "./target.ts";

const PAGE = 1000;
const MOST = Number.MAX_SAFE_INTEGER;
const EXIT_DAMAGED = 1;

const flags = {
  limit: { type: "string", value: "count", about: "Only the last so many events" },
  verify: { type: "boolean", about: "Check that nothing is missing and nothing was changed" },
} as const satisfies Flags;

export const command: Command<typeof flags> = {
  usage: "audit [<run>] [--limit 20] [--verify]",
  isLong: () => true,
  flags,
  fields: [
    ...["n", "type", "at", "by", "run_id", "question_id", "from", "to", "version", "detail", "hash"],
    ...["runs", "events", "seals", "problems"],
  ],
  async run(args, context) {
    // What may be damaged is only looked at: nothing that is due is done before.
    const engine = await context.engine(args.flags.verify ? { isReading: true } : {});
    const name = atMostOne(args.positionals, command.usage);
    if (args.flags.verify) {
      const verified = await engine.verify();
      const { flaws: _, ...json } = verified; // the same as its problems
      printResult(context, command.fields ?? [], { page: () => renderVerified(verified), json: () => json });
      return verified.problems.length === 0 ? 0 : EXIT_DAMAGED;
    }
    const limit = args.flags.limit === undefined ? MOST : readCount(args.flags.limit, "limit");
    const all = name === undefined ? await readAll(engine, limit) : await readRun(engine, name);
    const events = all.slice(-limit);
    printResult(context, command.fields ?? [], {
      page: () => renderAudit(events, context.ahead),
      json: () => events.map(({ event, n, hash }) => ({ n, ...event, hash })),
    });
    return 0;
  },
};

/** The last events of all, oldest first. */
async function readAll(engine: Engine, limit: number): Promise<KeptEvent[]> {
  const events: KeptEvent[] = [];
  for (let after = ""; ; after = events.at(-1)?.cursor ?? "") {
    const page = await engine.readFeed(after, PAGE);
    events.push(...page);
    events.splice(0, events.length - limit);
    if (page.length < PAGE) return events;
  }
}

async function readRun(engine: Engine, name: string): Promise<KeptEvent[]> {
  const target = await getTarget(engine, name);
  if (target.named === "run") return engine.readChain(target.run.id);
  const events = await engine.readChain(target.question.runId);
  return events.filter(({ event }) => event.questionId === target.question.id);
}
