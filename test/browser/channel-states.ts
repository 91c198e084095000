import { AnswerInput } from "../../src/core/answer/answer-input.ts";
import { LENA, type State, ask } from "./states.ts";

/** Settings of a server that tells people elsewhere, and programs on its own machine. */
export const CHANNEL_SETTINGS = `[callbacks]
allow_loopback = true

[channels.slack]
mode = "socket"
channel = "#agents"
token_env = "SLACK_BOT_TOKEN"

[channels.email]
from = "askd@example.com"
to = ["platform@example.com"]
`;

const NOBODY_LISTENS = "http://127.0.0.1:9/answers";

/** Channels as they are configured, with something that cannot be sent. */
export const CHANNEL_STATES: readonly State[] = [
  {
    name: "channels",
    isTall: true,
    open: async (page, stage) => {
      const callback = { url: NOBODY_LISTENS, secret: "0123456789abcdef0123456789abcdef" };
      const about = { giveBack: "callback", callback, name: "orders" } as const;
      const asked = await ask(stage, { question: "Which queue for the orders?", options: ["SQS", "NATS"] }, about);
      await (await stage.engine()).answer(asked.id, AnswerInput.parse({ answer: "NATS" }), LENA);
      await stage.until("sending fails", async () => {
        await page.goto(`${stage.url}/channels`);
        return (await page.locator(".chip.bad").count()) > 0 || undefined;
      });
    },
  },
];
