import { SYSTEM } from "../../src/core/people/actor.ts";
import { AnswerInput } from "../../src/core/answer/answer-input.ts";
import { linkPath } from "../../src/core/question/link.ts";
import type { Question } from "../../src/core/question/question.ts";
import { LENA, type State, ask } from "./states.ts";
import type { WebStage } from "./stage.ts";

const CACHE = {
  question: "Redis or Memcached for the sessions?",
  context: "Both are in the project's dependencies. See [the benchmark](https://example.com/bench).",
  options: [
    { label: "Redis", description: "Adds a redis:7 service.", recommended: true },
    { label: "Memcached", description: "No new service." },
  ],
  timeout: "5h",
};

/** The address of a new link of lena's to a question. */
export async function linkTo(stage: WebStage, { id }: Question): Promise<string> {
  const { text } = await (await stage.engine()).issueLink(id, "lena", SYSTEM);
  return stage.url + linkPath(text);
}

function opens(make: (stage: WebStage) => Promise<Question>, after?: Then): State["open"] {
  return async (page, stage) => {
    const question = await make(stage);
    const url = await linkTo(stage, question);
    await after?.(stage, question);
    await page.goto(`${url}?choose=B`);
  };
}
type Then = (stage: WebStage, question: Question) => Promise<unknown>;

/** The page of an answer link, which nobody is signed in for, in every state. */
export const LINK_STATES: readonly State[] = [
  { name: "link", seenBy: "nobody", open: opens((stage) => ask(stage, CACHE, { name: "sessions" })) },
  {
    name: "link-missing",
    seenBy: "nobody",
    open: async (page, stage) => {
      const question = await ask(stage, { question: "How should it be called?", timeout: "1h" });
      await page.goto(await linkTo(stage, question));
      await page.click("button.p");
    },
  },
  {
    name: "link-sent",
    seenBy: "nobody",
    open: async (page, stage) => {
      await page.goto(await linkTo(stage, await ask(stage, CACHE)));
      await page.click("button.p");
      await page.waitForSelector("form[action$='/undo']");
    },
  },
  {
    name: "link-answered",
    seenBy: "nobody",
    open: opens(
      (stage) => ask(stage, CACHE),
      async (stage, { id }) => (await stage.engine()).answer(id, AnswerInput.parse({ answer: "1" }), LENA),
    ),
  },
  {
    name: "link-late",
    seenBy: "nobody",
    open: opens(
      (stage) => ask(stage, { ...CACHE, timeout: "1s", on_timeout: "fail" }),
      (stage, { id }) =>
        stage.until("the time is over", async () => (await stage.read(id)).status === "timeout" || undefined),
    ),
  },
  {
    name: "link-voted",
    seenBy: "nobody",
    open: opens(
      (stage) => ask(stage, { ...CACHE, approvals: { need: 2, from: ["lena", "mika"] } }),
      async (stage, { id }) => (await stage.engine()).answer(id, AnswerInput.parse({ answer: "1" }), LENA),
    ),
  },
  {
    name: "link-lost",
    seenBy: "nobody",
    open: async (page, stage) => {
      const question = await ask(stage, CACHE);
      await page.goto(await linkTo(stage, question));
      await page.fill("#note", "We need pub/sub later");
      const mika = { ...LENA, id: "mika" };
      await (await stage.engine()).answer(question.id, AnswerInput.parse({ answer: "2" }), mika);
      await page.click("button.p");
      await page.waitForSelector("#kept");
    },
  },
  {
    name: "link-closed",
    seenBy: "nobody",
    open: opens(
      (stage) => ask(stage, CACHE),
      async (stage, { id }) => (await stage.engine()).cancel(id, { reason: "not needed" }, SYSTEM),
    ),
  },
  {
    name: "link-bad",
    seenBy: "nobody",
    open: (page, stage) => page.goto(`${stage.url}/a/askd_l_000000000000000000000000000`),
  },
];
