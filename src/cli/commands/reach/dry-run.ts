import { randomBytes } from "node:crypto";
import type { AskInput } from "../../../core/question/ask-input.ts";
import { questionMessage } from "../../../core/channel/message.ts";
import { epochMs } from "../../../core/instant.ts";
import { idsFrom } from "../../../core/id.ts";
import { ask } from "../../../core/question/ask.ts";
import { Refusal } from "../../../core/refusal.ts";
import type { RunInput } from "../../../engine/engine.ts";
import { runForAsk } from "../../../engine/new-run.ts";
import { whoAsks } from "../../actor.ts";
import type { Context } from "../../context.ts";
import { printResult } from "../../output.ts";

const FIELDS: readonly string[] = ["channel", "message"];

/** Shows exactly what each channel would be sent for a question, and asks nothing. */
export async function showMessages(
  input: AskInput,
  { via, run, secrets }: { via: string | undefined; run: RunInput; secrets: readonly string[] },
  context: Context,
): Promise<number> {
  const names = via === undefined ? context.rules.reach.map(({ name }) => name) : [via];
  if (names.length === 0) {
    throw new Refusal("bad_input", "No channel is configured: nothing would be sent", {
      hint: "Set one up: askd setup ntfy",
    });
  }
  const ids = idsFrom(() => epochMs(context.now()), randomBytes);
  const at = { now: context.now(), by: whoAsks(context), ids, rules: context.rules };
  const { read } = ask({ run: runForAsk(run, input.items, input.key, at), open: [], secrets }, input, at);
  const message = questionMessage(read, ids.deliveryToken(), context.rules);
  const built = await Promise.all(
    names.map(async (channel) => ({
      channel,
      message: (await context.openChannel(channel)).build(message, { address: undefined }),
    })),
  );
  printResult(context, FIELDS, {
    page: () => built.map((each) => `${each.channel}:\n${JSON.stringify(each.message, null, 2)}\n`).join(""),
    json: () => built,
  });
  return 0;
}
