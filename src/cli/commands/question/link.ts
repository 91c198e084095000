import { pluralize } from "../../../core/text/plural.ts";
import { shortId } from "../../../core/id.ts";
import { linkPath } from "../../../core/question/link.ts";
import type { QuestionId } from "../../../core/id.ts";
import type { Engine } from "../../../engine/engine.ts";
import { whoManages } from "../../actor.ts";
import { requireOneArgument, wrongUsage } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import type { Flags } from "../../flags.ts";
import { printResult } from "../../output.ts";
import { oneLine } from "../../view/sanitise.ts";
import { getQuestionId } from "../../find-target.ts";
import { sayWhereItWorks } from "../../public-address.ts";
import { requireKnown } from "./known-people.ts";

const flags = {
  for: { type: "string", value: "person", about: "The person who answers with the link" },
  choose: {
    type: "string",
    value: "option",
    about: "Preselect this option; nothing is sent before the person confirms",
  },
  revoke: { type: "boolean", about: "Revoke all links to this question; with --for those of one person" },
} as const satisfies Flags;

export const command: Command<typeof flags> = {
  usage: "link <id> --for <person> [--choose <option>]",
  flags,
  fields: ["url", "person", "question_id", "revoked"],
  examples: ["askd link q-7k3f --for lena", "askd link q-7k3f --revoke"],
  async run({ flags: given, positionals }, context) {
    const engine = await context.engine();
    const id = await getQuestionId(engine, requireOneArgument(positionals, command.usage));
    if (given.revoke) return revoke(engine, id, given.for, context);
    if (given.for === undefined) throw wrongUsage("A person is missing: add --for <person>", command.usage);
    await requireKnown([given.for], engine, context);
    const { text } = await engine.issueLink(id, given.for, await whoManages(engine, context));
    const server = context.rules.publicUrl?.replace(/\/+$/, "") ?? (await context.findServer());
    const choice = given.choose === undefined ? "" : `?choose=${encodeURIComponent(given.choose)}`;
    const url = `${server ?? ""}${linkPath(text)}${choice}`;
    printResult(context, command.fields ?? [], {
      page: () => `${url}\n`,
      json: () => ({ url, person: given.for, questionId: id, revoked: 0 }),
    });
    if (context.isQuiet) return 0;
    context.stderr.write(
      `${sayWhat(given.for, id)}${server === undefined ? `. It needs a server: ${context.program} serve` : ""}\n`,
    );
    if (server !== undefined) sayWhereItWorks(server, context);
    return 0;
  },
};

function sayWhat(person: string, id: QuestionId) {
  return `Anyone with this link can answer ${shortId(id)} as ${oneLine(person)}; it is shown only once`;
}

async function revoke(engine: Engine, id: QuestionId, person: string | undefined, context: Context) {
  const by = await whoManages(engine, context);
  const found = (await engine.listTokens(by)).filter(
    (token) =>
      token.questionId === id && token.revokedAt === undefined && (person === undefined || token.subject === person),
  );
  for (const token of found) await engine.revokeToken(token.id, by);
  const count = found.length;
  printResult(context, command.fields ?? [], {
    page: () => `✓ ${pluralize(count, "link")} to ${shortId(id)} revoked\n`,
    json: () => ({ url: null, person: person ?? null, questionId: id, revoked: count }),
  });
  return 0;
}
