import { parseAsk } from "../../../core/question/ask-input.ts";
import { sayDelivery } from "../../../core/channel/delivery/delivery-status.ts";
import { EXIT_CODE } from "../../../core/exit-code.ts";
import type { QuestionId } from "../../../core/id.ts";
import { MINUTE_MS, SECOND_MS, later } from "../../../core/instant.ts";
import { actorName, channelName } from "../../../core/people/actor.ts";
import { findAnswer, isPending } from "../../../core/question/question.ts";
import { Refusal } from "../../../core/refusal.ts";
import type { Engine } from "../../../engine/engine.ts";
import { whoManages } from "../../actor.ts";
import type { Context } from "../../context.ts";
import { Interrupted } from "../../terminal/interrupted.ts";
import { whileWorking } from "../../terminal/pause.ts";
import { oneLine } from "../../view/sanitise.ts";

const SEND_MS = 30 * SECOND_MS;
const ANSWER_MS = 2 * MINUTE_MS;
const LOOK_MS = 200;

/** Sends a test question through one channel, as a real one is sent, and waits for its answer there. */
export async function tryChannel(name: string, context: Context): Promise<number> {
  const channel = await context.openChannel(name);
  const signal = context.interrupt();
  const say = (text: string) => void (context.isQuiet || context.stderr.write(`${text}\n`));
  say(`${channelName(name)}: ${oneLine(await channel.verify())}`);
  const engine = await context.engine({ isDelivering: true });
  const raw = {
    question: "This is a test of askd: can you read this?",
    options: ["Yes", "No"],
    notify: [{ channel: name }],
  };
  const input = parseAsk(
    { ...raw, timeout: "10m", on_timeout: "skip", risk: "low" },
    { via: "cli", accepts: ["answer"] },
    context.rules,
    context.now(),
  );
  const by = await whoManages(engine, context);
  const { question } = await engine.ask(input, by);
  try {
    if (!question.deliveries?.some((delivery) => delivery.channel === name)) {
      const needsIssue = context.rules.reach.some((each) => each.name === name && each.needsIssue);
      throw new Refusal("bad_input", `Nobody can be told through ${channelName(name)} yet`, {
        hint: needsIssue
          ? `Name an issue for tests: askd config set --user channels.${name}.issue acme/api#12`
          : `Set it up: askd setup ${name}`,
      });
    }
    return await whileWorking(engine, async () => {
      const failure = await waitForSending(engine, question.id, signal);
      if (failure !== undefined) {
        throw new Refusal("bad_input", `The test message did not arrive: ${failure}`, { hint: "See: askd channels" });
      }
      say("The test message was sent.");
      if (channel.strength === undefined) return 0;
      say("Answer it there. Waiting for 2 minutes…");
      const until = later(await engine.now(), ANSWER_MS);
      const answered = await engine.wait(question.id, { until, signal });
      const answer = findAnswer(answered.question);
      if (!answer) return signal.aborted ? EXIT_CODE.interrupted : EXIT_CODE.pending;
      say(`${oneLine(actorName(answer.by))} answered through ${channelName(answer.by.channel)}. It works.`);
      return 0;
    });
  } finally {
    await withdraw(engine, question.id, context);
  }
}

/** Waits until the message has arrived; returns why it did not. */
async function waitForSending(engine: Engine, id: QuestionId, signal: AbortSignal): Promise<string | undefined> {
  let last = "no reply in time";
  for (let waitedMs = 0; waitedMs < SEND_MS; waitedMs += LOOK_MS) {
    const deliveries = await engine.listDeliveries(id);
    if (deliveries.every(({ state, sentAt }) => state === "sent" || sentAt !== undefined)) return undefined;
    const failing = deliveries.find(({ failure }) => failure !== undefined);
    if (failing) last = sayDelivery(failing);
    if (failing?.state === "failed") return last;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    if (signal.aborted) throw new Interrupted();
  }
  return last;
}

/** A test leaves no question behind, and its message says so. */
async function withdraw(engine: Engine, id: QuestionId, context: Context) {
  const { question } = await engine.read(id);
  if (isPending(question)) await engine.cancel(id, { reason: "the test is over" }, await whoManages(engine, context));
  // The messages may be in the hands of the worker that has listened: this process must not end before it is done.
  for (let waitedMs = 0; waitedMs < SEND_MS; waitedMs += LOOK_MS) {
    await engine.doDue();
    const deliveries = await engine.listDeliveries(id);
    // A message in the state "sent" still shows the question.
    if (deliveries.every(({ state, failure }) => (state !== "due" && state !== "sent") || failure)) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
