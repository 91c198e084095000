import type { Page } from "playwright-core";
import type { Actor } from "../../src/core/people/actor.ts";
import { AnswerInput } from "../../src/core/answer/answer-input.ts";
import { parseAsk } from "../../src/core/question/ask-input.ts";
import type { RunId } from "../../src/core/id.ts";
import type { Question } from "../../src/core/question/question.ts";
import type { AskOptions } from "../../src/engine/engine.ts";
import { ROOMY } from "../scene.ts";
import type { WebStage } from "./stage.ts";

const AGENT: Actor = { scope: "agent", id: "claude", channel: "mcp", strength: "none" };
export const LENA: Actor = { scope: "human", id: "lena", channel: "slack", strength: "person" };
export const MIKA: Actor = { scope: "human", id: "mika", channel: "web", strength: "local" };
const LONG_MS = 3_600_000;

/** One page in one state, and how to get there. */
export interface State {
  name: string;
  /** Who looks; a person is mika. */
  seenBy?: "nobody" | "person" | "admin";
  /** The picture shows all of it, not only what is above the fold. */
  isTall?: boolean;
  /** Opens it for whoever looks. */
  open: (page: Page, stage: WebStage) => Promise<unknown>;
  /** Brings it into sight at every size. */
  turn?: (page: Page) => Promise<unknown>;
  /** Leaves the page as the next state needs it. */
  leave?: (page: Page) => Promise<unknown>;
}

const CONTEXT = `Both are in the project's dependencies. Redis has pub/sub and persistence; Memcached is simpler and slightly
faster for plain key-value caching. The answer decides 3 files and the compose setup.

## What I looked at

1. \`src/cache/index.ts\` keeps everything in a \`Map\`
2. [The benchmark](https://example.com/bench) of last week

| store | p99 |
|---|---|
| redis | 2 ms |

\`\`\`ts
export const cache = new Map<string, string>();
\`\`\`
`;

/** Asks in the name of an agent that is parked. */
export async function ask(
  stage: WebStage,
  raw: Record<string, unknown>,
  run: AskOptions["run"] = {},
  runId?: RunId,
): Promise<Question> {
  const engine = await stage.engine();
  const input = parseAsk(raw, { via: "mcp" }, ROOMY, await engine.now());
  const about = { agent: "claude", repo: "acme/api", branch: "feature/add-caching", giveBack: "poll" as const, ...run };
  return (await engine.ask(input, AGENT, runId ? { runId } : { run: about })).question;
}

export const REDIS = {
  question: "Redis or Memcached for the caching layer?",
  options: [
    {
      label: "Redis",
      description: "Adds a redis:7 service and src/cache/redis_client.py.",
      recommended: true,
      preview: "```yaml\nredis:\n  image: redis:7\n```",
    },
    { label: "Memcached", description: "No new service. Pub/sub would need a second system later." },
  ],
  confidence: 0.62,
  timeout: "5h",
  on_timeout: "default",
};

export const TABLE = {
  question: "Drop the legacy users_v1 table?",
  options: [
    { label: "Drop it", description: "1 204 881 rows, last write 3 days ago. No backup newer than Nov 9." },
    { label: "Rename and keep", description: "Reversible." },
    { label: "Leave it" },
  ],
  risk: "high",
  timeout: "56m",
};

export function opens(make: (stage: WebStage) => Promise<Question>): State["open"] {
  return async (page, stage) => page.goto(`${stage.url}/q/${(await make(stage)).id}`);
}

/** Every page in every state that people meet; the first needs an empty store. */
export const STATES: readonly State[] = [
  { name: "first-run", open: (page, stage) => page.goto(`${stage.url}/`) },
  { name: "question", open: opens((stage) => ask(stage, { ...REDIS, context: CONTEXT }, { name: "add-caching" })) },
  {
    name: "inbox",
    open: async (page, stage) => {
      await ask(
        stage,
        { question: "JWT tokens or session cookies?", options: ["JWT tokens", "Cookies"], timeout: "23h" },
        { name: "auth", externalId: "tm-abc" },
      );
      const other = await ask(
        stage,
        { question: "Which region for the replica?", options: ["Frankfurt", "Dublin"], timeout: "3h" },
        { name: "infra" },
      );
      await (await stage.engine()).claim(other.id, LENA);
      const later = await ask(stage, { question: "Rename the package?" }, { name: "rename" });
      const engine = await stage.engine();
      await engine.snooze(later.id, parseLater(await engine.now()), MIKA);
      await page.goto(`${stage.url}/`);
    },
  },
  {
    name: "high-risk",
    open: opens(async (stage) => {
      const asked = await ask(stage, { ...TABLE, approvals: { need: 2, from: ["mika", "lena"] } }, { name: "cleanup" });
      const vote = AnswerInput.parse({ answer: "Leave it", confirmed: true });
      return (await (await stage.engine()).answer(asked.id, vote, LENA)).question;
    }),
  },
  {
    name: "several",
    open: opens((stage) =>
      ask(stage, {
        questions: [
          { question: "Which cache?", header: "Cache", options: ["Redis", "Memcached"] },
          { question: "Which limits apply?", header: "Limits", options: ["TTL", "LRU", "Size"], multiSelect: true },
          { question: "How should the module be called?", header: "Name" },
        ],
      }),
    ),
  },
  {
    name: "typed",
    open: opens((stage) =>
      ask(stage, {
        items: [
          {
            text: "How should the pool be set up?",
            schema: {
              type: "object",
              properties: {
                size: { type: "integer", title: "Connections", minimum: 1, maximum: 100, description: "At most 100." },
                name: { type: "string" },
                tls: { type: "boolean", title: "Use TLS" },
                mode: { type: "string", enum: ["session", "transaction"] },
              },
              required: ["size"],
            },
          },
        ],
      }),
    ),
  },
  {
    name: "words",
    open: opens((stage) => ask(stage, { question: "What should the error message say?", on_timeout: "wait" })),
  },
  {
    name: "claimed",
    open: opens(async (stage) => (await (await stage.engine()).claim((await ask(stage, REDIS)).id, LENA)).question),
  },
  {
    name: "settling",
    open: opens(async (stage) => {
      const asked = await ask(stage, REDIS);
      return (
        await (await stage.engine()).answer(asked.id, AnswerInput.parse({ answer: "Redis", undoMs: LONG_MS }), MIKA)
      ).question;
    }),
  },
  {
    name: "memory",
    open: opens(async (stage) => {
      const engine = await stage.engine();
      const before = await ask(stage, {
        question: "Redis or Memcached for the caching layer?",
        options: ["Redis", "Memcached"],
      });
      await engine.answer(before.id, AnswerInput.parse({ answer: "Redis" }), LENA);
      await engine.putTemplate({ name: "prefer-redis", choose: ["Redis"], text: "As everywhere." }, LENA);
      return ask(stage, REDIS);
    }),
  },
  { name: "toast", open: opens((stage) => ask(stage, { ...REDIS, question: "And which cache for the tests?" })) },
  {
    name: "answered",
    open: opens(async (stage) => {
      const asked = await ask(stage, REDIS);
      const engine = await stage.engine();
      await engine.comment(asked.id, "We decided this last spring.", LENA);
      await engine.answer(asked.id, AnswerInput.parse({ answer: "Memcached", note: "no new service" }), LENA);
      return (await engine.amend(asked.id, "Keep it behind an interface.", LENA)).question;
    }),
  },
  {
    name: "race",
    open: async (page, stage) => {
      const asked = await ask(stage, REDIS);
      await page.goto(`${stage.url}/q/${asked.id}`);
      await page.fill("#note", "Redis, we need pub/sub later");
      await (await stage.engine()).answer(asked.id, AnswerInput.parse({ answer: "Memcached" }), LENA);
      await page.waitForSelector("#lost:not([hidden])");
    },
  },
  {
    name: "expired",
    open: async (page, stage) => {
      const asked = await ask(stage, { ...REDIS, timeout: "1s", on_timeout: "fail" });
      await stage.until("the time is over", async () => (await stage.read(asked.id)).status === "timeout" || undefined);
      await page.goto(`${stage.url}/q/${asked.id}`);
    },
  },
  {
    name: "cancelled",
    open: opens(
      async (stage) =>
        (await (await stage.engine()).cancel((await ask(stage, REDIS)).id, { reason: "not needed" }, LENA)).question,
    ),
  },
  { name: "no-access", open: opens((stage) => ask(stage, { ...REDIS, approvals: { need: 1, from: ["lena"] } })) },
  { name: "not-found", open: (page, stage) => page.goto(`${stage.url}/q/q_00000000000000000000000000`) },
  { name: "settings", open: (page, stage) => page.goto(`${stage.url}/settings`) },
  {
    name: "more",
    open: async (page, stage) => {
      await page.goto(`${stage.url}/q/${(await ask(stage, REDIS)).id}`);
      await page.click(".menu.more > summary");
      await page.click(".stop summary");
    },
  },
  {
    name: "gets",
    open: async (page, stage) => {
      await page.goto(`${stage.url}/q/${(await ask(stage, REDIS)).id}`);
      await page.click(".menu.more > summary");
      await page.click("[data-preview]");
      await page.waitForSelector("#preview pre");
    },
    turn: (page) => page.evaluate(`document.querySelector("#preview pre").scrollIntoView({ block: "center" })`),
  },
  {
    name: "keys",
    open: async (page, stage) => {
      await page.goto(`${stage.url}/settings`);
      await page.keyboard.press("?");
      await page.waitForSelector("dialog[open]");
    },
  },
  {
    name: "not-assigned",
    open: async (page, stage) => {
      const asked = await ask(stage, REDIS);
      await page.goto(`${stage.url}/q/${asked.id}`);
      await page.click(".menu.more > summary");
      await page.click("button[formaction$='/assign']");
      await page.waitForSelector("#problem");
    },
  },
  {
    name: "offline",
    open: async (page, stage) => {
      const asked = await ask(stage, REDIS);
      await page.route("**/live*", (route) => route.abort());
      await page.goto(`${stage.url}/q/${asked.id}`);
      await page.waitForSelector("#offline:not([hidden])");
    },
    leave: (page) => page.unroute("**/live*"),
  },
  {
    name: "empty",
    open: async (page, stage) => {
      await stage.cancelAll();
      await page.goto(`${stage.url}/`);
    },
  },
];

/** Pages that nobody is signed in for. */
export const OUTSIDE: readonly State[] = [
  { name: "sign-in", seenBy: "nobody", open: (page, stage) => page.goto(`${stage.url}/login`) },
  {
    name: "sign-in-wrong",
    seenBy: "nobody",
    open: async (page, stage) => {
      await page.goto(`${stage.url}/login?next=%2Fsettings`);
      await page.fill("#code", "wrong");
      await page.click("button.p");
    },
  },
];

function parseLater(now: Question["askedAt"]): Question["askedAt"] {
  return new Date(Date.parse(now) + LONG_MS).toISOString() as Question["askedAt"]; // an instant is one by its format
}
