import { afterEach, beforeEach, expect, test } from "vitest";
import { changeState, endService, runStep } from "./action-step.ts";
import { GithubServer } from "./channels/github-server.ts";

const CODE = "const value = obj.property.nested; // @lena: obj may be *null*, see #12";
const INNER = "const fence = '````';";
const ASKED = {
  question: "Which approach should be used?",
  options: "check:Add null check (recommended)\n  Simple guard clause, *minimal* change\nearly:Initialize early\nLater",
  context: ["Found by @lena in #12:", "===", "```typescript", CODE, INNER, "```", "", "    <b>Both</b> work."].join(
    "\n",
  ),
};
const FENCED = `\`\`\`\`\`typescript\n${CODE}\n${INNER}\n\`\`\`\`\``;
const J = "\u2060";

let service: GithubServer;
const step = (inputs: Record<string, string> = ASKED) => runStep(service, inputs);
const shown = () => service.comments[0]?.body.replace(/\n<!--[\s\S]*$/, "") ?? "";

beforeEach(async () => {
  service = await GithubServer.start();
});
afterEach(() => endService(service));

test("the comment describes the options and shows the context, its code as code, and keeps both when it is closed", async () => {
  const { outputs } = await step();
  const options = [
    `**A) Add null check** (recommended) - Simple guard clause, \\*minimal\\* change`,
    "**B) Initialize early**",
    "**C) Later**",
  ];
  const context = `Found by @${J}lena in \\#${J}12\\:\n\\===\n${FENCED}\n\n&lt;b&gt;Both&lt;/b&gt; work\\.`;
  expect(shown()).toContain(
    `### Options\n${options.map((option) => `- [ ] ${option}`).join("\n")}\n\n### Context\n${context}\n\n### How to Respond\n`,
  );
  service.add("B", "mika");
  expect((await step()).outputs).toMatchObject({ state: "answered", "question-id": outputs["question-id"] });
  expect(shown()).toContain(
    `### Options\n${options.map((option) => `- ${option}`).join("\n")}\n\n### Context\n${context}\n\n</details>`,
  );
  changeState(service.comments[0], { at: "2020-01-01T00:00:00Z" });
  await runStep(service, {}, { event: { schedule: "0 * * * *" } });
  expect(service.refs.size).toBe(0);
  expect(shown()).toContain(`\n\n### Context\n${context}\n\n</details>`);
});

test("code that is too long is cut, and still ends where the comment goes on", async () => {
  await step({ ...ASKED, context: `\`\`\`\n${"x = 1\n".repeat(10_000)}\`\`\`` });
  expect(shown()).toMatch(/x = 1\n[x =1]*\n?```\n…\n\n### How to Respond\n/);
  service.add(`/answer ${"&".repeat(5_000)}`, "mika");
  expect((await step()).outputs).toMatchObject({ state: "answered" });
  expect(shown()).toContain("## ✅ Answered");
});
