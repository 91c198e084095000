import { approvalAsk } from "../../src/core/question/approval.ts";
import { AnswerInput } from "../../src/core/answer/answer-input.ts";
import type { Question } from "../../src/core/question/question.ts";
import { workedRun } from "./scripted-claude.ts";
import type { WebStage } from "./stage.ts";
import { LENA, MIKA, REDIS, type State, TABLE, ask, opens } from "./states.ts";

const LONG_WORD = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft";
const LONG_PATH =
  "packages/very-long-package-name/src/components/deeply/nested/feature-flag-provider.generated.test.tsx";

/** Answers in a way that is not a choice, in the name of lena. */
async function answered(stage: WebStage, input: object, over: object = {}): Promise<Question> {
  const asked = await ask(stage, { ...REDIS, ...over });
  return (await (await stage.engine()).answer(asked.id, AnswerInput.parse(input), LENA)).question;
}

/** Waits until the time of a question is over, and opens it. */
function opensLate(over: object): State["open"] {
  return async (page, stage) => {
    const asked = await ask(stage, { ...REDIS, timeout: "1s", ...over });
    await stage.until("the time is over", async () => (await stage.read(asked.id)).status !== "pending" || undefined);
    await page.goto(`${stage.url}/q/${asked.id}`);
  };
}

function opensPanel(summary: string): State["open"] {
  return async (page, stage) => {
    await page.goto(`${stage.url}/q/${(await ask(stage, REDIS)).id}`);
    const toggle = page.locator(summary);
    if (await toggle.isVisible()) await toggle.click();
  };
}

/** The card with everything on it, and in states that come up less often. */
export const CARD_STATES: readonly State[] = [
  {
    name: "worked",
    open: async (page, stage) => {
      const run = await workedRun(stage, "add-caching");
      await page.goto(`${stage.url}/q/${run.pendingId!}`);
      await page.waitForSelector("#work .quiet");
    },
  },
  {
    name: "worked-diff",
    isTall: true,
    open: async (page, stage) => {
      const run = await workedRun(stage, "add-caching-again");
      await page.goto(`${stage.url}/q/${run.pendingId!}`);
      await page.waitForSelector("#work details");
      await page.evaluate(`document.querySelector("#work details").open = true`);
    },
  },
  {
    name: "work-page",
    open: async (page, stage) => {
      const run = await workedRun(stage, "add-caching-plain");
      await page.goto(`${stage.url}/q/${run.pendingId!}/work`);
    },
  },
  {
    name: "focus",
    open: async (page, stage) => {
      await page.goto(`${stage.url}/q/${(await ask(stage, REDIS)).id}`);
      await page.focus("#answer input[type=radio]:checked");
      await page.keyboard.press("ArrowDown");
    },
  },
  { name: "ask-back", open: opensPanel(".menu.back > summary") },
  {
    name: "snooze",
    open: opensPanel(".menu.snooze > summary"),
    // Where there is little room it is one of those in the other menu.
    turn: async (page) => {
      const more = page.locator(".menu.more:not([open]) > summary");
      if (!(await page.locator(".menu.snooze").isVisible()) && (await more.isVisible())) await more.click();
    },
  },
  {
    name: "long",
    isTall: true,
    open: opens((stage) =>
      ask(
        stage,
        {
          question: `Should ${LONG_WORD} move to ${LONG_PATH} before the release, or may it stay where it is for now?`,
          context: `See \`${LONG_PATH}\` and https://example.com/${"a-very-long-address/".repeat(6)} first.\n\n| a | b |\n|---|---|\n| ${LONG_WORD} | ${LONG_PATH} |`,
          options: Array.from({ length: 6 }, (_, index) => ({
            label: `${index + 1}. ${index % 2 === 0 ? LONG_WORD : "Leave it where it is"}`,
            description: `Touches ${LONG_PATH} and everything that imports it.`,
            ...(index === 1 && { recommended: true, preview: `\`\`\`ts\nimport "${LONG_PATH}";\n\`\`\`` }),
          })),
          timeout: "5h",
          on_timeout: "default",
          to: ["lena", "platform-and-infrastructure-on-call"],
        },
        { name: "move-the-very-long-thing", repo: `acme/${"monorepo-".repeat(6)}`, branch: `feature/${LONG_WORD}` },
      ),
    ),
  },
  {
    name: "other-script",
    open: opens((stage) =>
      ask(stage, {
        question: "هل نستخدم Redis أم Memcached؟",
        context: "كلاهما موجود. ريديس أبطأ قليلا. 二つとも使えます。",
        options: [{ label: "ريديس", description: "خدمة جديدة" }, { label: "メムキャッシュド" }],
        timeout: "5h",
      }),
    ),
  },
  {
    name: "approval",
    open: opens((stage) =>
      ask(stage, {
        ...approvalAsk({ tool: "Bash", input: { command: "rm -rf build && npm run build" } }),
        timeout: "30m",
      }),
    ),
  },
  {
    name: "table",
    open: opens((stage) => {
      const context = [
        "| Store | Persistence | Replication | Subscriptions |",
        "| --- | --- | --- | --- |",
        "| Redis | snapshots, append-only | asynchronous | publish and subscribe |",
        "| Memcached | none | none | none |",
      ].join("\n");
      return ask(stage, { ...REDIS, question: "Which store for `src/cache`?", context });
    }),
  },
  {
    name: "approval-edit",
    open: opens((stage) => {
      const lines = Array.from({ length: 60 }, (_, index) => `  step(${index});`);
      const file = ["export function all() {", ...lines, "}", ""].join("\n");
      const input = {
        file_path: "src/auth/all-steps.ts",
        old_string: lines.slice(2, 40).join("\n"),
        new_string: ["  check(token);", ...lines.slice(3, 40)].join("\n"),
        replace_all: false,
      };
      return ask(stage, { ...approvalAsk({ tool: "Edit", input, file }), timeout: "30m" });
    }),
  },
  {
    name: "approval-change",
    open: async (page, stage) => {
      const input = { command: "npm test -- src/auth", description: "Run the tests of sign-in" };
      const use = approvalAsk({ tool: "Bash", input, takesChange: true });
      await page.goto(`${stage.url}/q/${(await ask(stage, { ...use, timeout: "30m" })).id}`);
      await page.click(".opt:has(textarea.command) label");
    },
  },
  { name: "held", open: opens((stage) => ask(stage, { ...REDIS, hold: "3m", after_hold: "proceed" })) },
  {
    name: "voted",
    open: opens(async (stage) => {
      const asked = await ask(stage, { ...TABLE, approvals: { need: 2, from: ["mika", "lena"] } });
      const vote = AnswerInput.parse({ answer: "Leave it", confirmed: true });
      return (await (await stage.engine()).answer(asked.id, vote, MIKA)).question;
    }),
  },
  {
    name: "refused",
    open: async (page, stage) => {
      const schema = { type: "object", properties: { size: { type: "integer", maximum: 100 } }, required: ["size"] };
      const asked = await ask(stage, { items: [{ text: "How large is the pool?", schema }] });
      await page.goto(`${stage.url}/q/${asked.id}`);
      await page.fill("input[type=number]", "500");
      await page.evaluate(`document.querySelector("#answer").noValidate = true`);
      await page.click("#answer button.p");
      await page.waitForSelector("#problem");
    },
  },
  {
    name: "settling-theirs",
    open: opens((stage) => answered(stage, { answer: "Redis", undoMs: 3_600_000 })),
  },
  { name: "decided", open: opens((stage) => answered(stage, { outcome: "decide" })) },
  { name: "asked-back", open: opens((stage) => answered(stage, { outcome: "clarify", note: "What does it cost?" })) },
  { name: "expired-default", open: opensLate({ on_timeout: "default" }) },
  {
    name: "correction",
    open: async (page, stage) => {
      await page.goto(`${stage.url}/q/${(await answered(stage, { answer: "Redis" })).id}`);
      await page.click(".correct summary");
    },
  },
  {
    name: "signed-out",
    open: async (page, stage) => {
      const asked = await ask(stage, REDIS);
      const address = `${stage.url}/q/${asked.id}`;
      await page.goto(address);
      await page.waitForSelector("#live:not([hidden])");
      await page.route("**/q/*", (route) => route.fulfill({ status: 303, headers: { location: "/login" } }));
      await (await stage.engine()).comment(asked.id, "Any news?", LENA);
      await page.waitForSelector("#offline[data-why]");
    },
    leave: (page) => page.unroute("**/q/*"),
  },
  { name: "search-none", open: (page, stage) => page.goto(`${stage.url}/?find=zebra`) },
  {
    name: "many",
    open: async (page, stage) => {
      for (let index = 0; index < 30; index += 1) {
        await ask(stage, { question: `How many retries for client ${index}?`, options: ["3", "5"], timeout: "9h" });
      }
      await page.goto(`${stage.url}/`);
    },
  },
];
