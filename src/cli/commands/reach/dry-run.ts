import { randomBytes } from "node:crypto";
import type { AskInput } from "../../../core/question/ask-input.ts";
import type { WireMessage } from "../../../core/channel/channel.ts";
import { questionMessage } from "../../../core/channel/message.ts";
import { recipientOf } from "../../../core/channel/recipient.ts";
import { type Target, meantBy, targetsOf } from "../../../core/channel/target.ts";
import { epochMs } from "../../../core/instant.ts";
import { idsFrom } from "../../../core/id.ts";
import { withDirectory } from "../../../core/people/directory.ts";
import type { Person } from "../../../core/people/person.ts";
import { ask } from "../../../core/question/ask.ts";
import type { Question } from "../../../core/question/question.ts";
import { Refusal } from "../../../core/refusal.ts";
import type { AskOptions, Engine } from "../../../engine/engine.ts";
import { runForAsk } from "../../../engine/new-run.ts";
import { whoAsks } from "../../actor.ts";
import type { Context } from "../../context.ts";
import { printResult } from "../../output.ts";
import { oneLine } from "../../view/sanitise.ts";
import { findPeople } from "../question/known-people.ts";

export const DRY_RUN_FIELDS: readonly string[] = ["channel", "person", "rule", "message"];

interface Built {
  channel: string;
  person: string | null;
  rule: string | null;
  message: WireMessage;
}

/** Shows who would be told of a question, where and by which rule, with exactly what would be sent; asks nothing. */
export async function showMessages(
  input: AskInput,
  { via, options, engine }: { via: string | undefined; options: AskOptions; engine: Engine },
  context: Context,
): Promise<number> {
  const { rules } = context;
  if (rules.reach.length === 0 && via === undefined) {
    throw new Refusal("bad_input", "No channel is configured: nothing would be sent", {
      hint: "Set one up: askd setup ntfy",
    });
  }
  const ids = idsFrom(() => epochMs(context.now()), randomBytes);
  const at = { now: context.now(), by: whoAsks(context), ids, rules };
  const known = options.runId && (await engine.findRun(options.runId));
  const run = known ?? runForAsk(options.run ?? {}, input.items, input.key, at);
  const { read } = ask({ run, open: [], secrets: options.secrets ?? [] }, input, at);
  const { question } = read;
  const people = withDirectory(await findPeople(engine), rules.directory);
  const targets = targetsOf(question, { rules, people, now: at.now });
  const shown = via === undefined ? targets : targetsIn(via, targets);
  const token = ids.deliveryToken();
  const built = await Promise.all(
    shown.map(async ({ channel, person }): Promise<Built> => {
      const recipient = people.find(({ id }) => id === person);
      const message = questionMessage(read, token, rules, recipient?.language);
      const to = recipientOf(question, { channel, person }, people);
      const wire = (await context.openChannel(channel)).build(message, to);
      return { channel, person: person ?? null, rule: question.route ?? null, message: wire };
    }),
  );
  printResult(context, DRY_RUN_FIELDS, { page: () => renderDryRun(built, { question, people }), json: () => built });
  return 0;
}

/** The recipients in one channel; a channel that nobody would be told in is shown all the same. */
function targetsIn(channel: string, targets: readonly Target[]): Target[] {
  const own = targets.filter((target) => target.channel === channel);
  return own.length > 0 ? own : [{ channel, person: undefined }];
}

function renderDryRun(built: readonly Built[], { question, people }: { question: Question; people: Person[] }) {
  const meant = meantBy(question, people).map(({ id }) => id);
  const names = (question.to.length > 0 ? question.to : question.approvals.from).map(oneLine).join(", ");
  const members = meant.length > 0 && names !== meant.join(", ") ? ` (${meant.join(", ")})` : "";
  const rule = question.route === undefined ? "" : `, by the rule "${oneLine(question.route)}"`;
  const missed = meant.filter((id) => !built.some(({ person }) => person === id));
  return [
    `For ${names || "everybody"}${members}${rule}\n`,
    ...(missed.length > 0 ? [`Not reached: ${missed.join(", ")}\n`] : []),
    ...built.map(
      ({ channel, person, message }) =>
        `${channel}${person === null ? "" : `, ${oneLine(person)}`}:\n${JSON.stringify(message, null, 2)}\n`,
    ),
  ].join("");
}
