import { viewPerson } from "../../../core/api/reply.ts";
import type { Person } from "../../../core/people/person.ts";
import { plainName } from "../../../core/people/person.ts";
import { whoManages, whoTypes } from "../../actor.ts";
import { optionalArgument, wrongUsage } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import type { Flags } from "../../flags.ts";
import { printResult } from "../../output.ts";
import { sayMoment } from "../../view/relative-time.ts";
import { oneLine } from "../../view/sanitise.ts";
import { parseMoment } from "../../view/time-argument.ts";

const flags = {
  delegate: { type: "string", value: "person", about: "Who gets your questions too meanwhile" },
  end: { type: "boolean", about: "You are back" },
  person: { type: "string", value: "person", about: "Somebody else who is away; for an admin" },
} as const satisfies Flags;

export const command: Command<typeof flags> = {
  usage: "away [<until>] [--delegate <person>] | --end",
  flags,
  fields: ["id", "away"],
  examples: ["askd away 2026-12-01 --delegate lena", "askd away --end"],
  async run({ positionals, flags: given }, context) {
    const until = optionalArgument(positionals, command.usage);
    if (given.end && (until !== undefined || given.delegate !== undefined)) {
      throw wrongUsage("--end goes alone", command.usage);
    }
    const engine = await context.engine();
    const by = await (given.person === undefined ? whoTypes(engine, context) : whoManages(engine, context));
    const { ahead } = context;
    const now = await engine.now();
    const away = {
      until: until === undefined ? undefined : parseMoment(until, { now, ahead, toward: "future" }),
      delegate: given.delegate === undefined ? undefined : plainName(given.delegate),
    };
    const done = await engine.setAway(given.person ?? context.user, given.end ? undefined : away, by);
    printResult(context, command.fields ?? [], {
      page: () => (context.isQuiet ? "" : sayAway(done, context)),
      json: () => viewPerson(done),
    });
    return 0;
  },
};

function sayAway({ id, away }: Person, { ahead }: Context) {
  if (!away) return `✓ ${oneLine(id)} is back\n`;
  const end = away.until === undefined ? "until: askd away --end" : `until ${sayMoment(away.until, ahead)}`;
  const deputy = away.delegate === undefined ? "" : `; ${oneLine(away.delegate)} gets their questions too`;
  return `✓ ${oneLine(id)} is away ${end}${deputy}\n`;
}
