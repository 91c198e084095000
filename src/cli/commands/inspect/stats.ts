import { Refusal } from "../../../core/refusal.ts";
import { STATS_FIELDS, viewStats } from "../../../core/stats/stats.ts";
import { wrongUsage } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Flags } from "../../flags.ts";
import { printResult } from "../../output.ts";
import { parsePast } from "../../view/time-argument.ts";
import { GROUPS, type GroupName, renderStats } from "./stats-view.ts";
import { textWidth } from "../../terminal/terminal.ts";

const flags = {
  since: { type: "string", value: "time", about: "Start of the period: 7d, 12h or 2026-11-01 (7d)" },
  until: { type: "string", value: "time", about: "End of the period (now)" },
  by: { type: "string", value: "what", about: `Show one full table: ${Object.keys(GROUPS).join(", ")}` },
  repo: { type: "string", value: "repo", about: "Only questions of this repository" },
  agent: { type: "string", value: "agent", about: "Only questions of this agent" },
} as const satisfies Flags;

export const command: Command<typeof flags> = {
  usage: "stats [--since <time>] [--by person|channel|agent|repo|group|day]",
  isLong: () => true,
  flags,
  fields: STATS_FIELDS,
  examples: ["askd stats --since 30d", "askd stats --by person", "askd stats --json --jq .median_ms"],
  async run(args, context) {
    if (args.positionals.length > 0) throw wrongUsage(`Unexpected argument "${args.positionals[0]}"`, command.usage);
    const { since, until, by, repo, agent } = args.flags;
    const group = by === undefined ? undefined : readGroup(by);
    const engine = await context.engine();
    const now = await engine.now();
    const stats = await engine.stats({
      ...(since !== undefined && { since: parsePast(since, now, context) }),
      ...(until !== undefined && { until: parsePast(until, now, context) }),
      repo,
      agent,
      aheadMs: context.ahead(now),
    });
    const view = { now, ahead: context.ahead, width: textWidth(context.stdout.columns), stats, by: group };
    printResult(context, STATS_FIELDS, {
      page: () => renderStats(view, context.style),
      json: () => viewStats(stats),
    });
    return 0;
  },
};

function readGroup(text: string): GroupName {
  const name = Object.keys(GROUPS).find((each): each is GroupName => each === text || `${each}s` === text);
  if (name) return name;
  throw new Refusal("bad_input", `There is no table by "${text}"`, { hint: `Use ${Object.keys(GROUPS).join(", ")}` });
}
