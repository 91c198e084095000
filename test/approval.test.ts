import fc from "fast-check";
import { html } from "hono/html";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { drawScreen } from "../src/cli/commands/next/screen-view.ts";
import { renderShow } from "../src/cli/commands/inspect/show-view.ts";
import { styleFor } from "../src/cli/terminal/terminal.ts";
import type { QuestionSnapshot } from "../src/core/changes.ts";
import { approvalAsk } from "../src/core/question/approval.ts";
import { quoteShellWord } from "../src/core/text/shell-word.ts";
import { makeVisible } from "../src/core/text/visible.ts";
import type { PageReader } from "../src/web/parts/page-reader.ts";
import { QuestionContext } from "../src/web/card/card.tsx";
import { ADA, AGENT, NOON } from "./builders.ts";
import { NextScene } from "./next-card.ts";
import { PageVisit } from "./page-visit.ts";
import { Scene, said } from "./scene.ts";
import { type } from "./typed.ts";

const plain = styleFor("off");
const READER: PageReader = {
  id: "ada",
  scope: "human",
  groups: [],
  language: "en",
  zone: "UTC",
  now: NOON,
  theme: "auto",
  hasKeys: true,
  keymap: {},
  csrf: "",
};
let visit: PageVisit;

beforeEach(async () => {
  visit = await PageVisit.start();
});
afterEach(() => visit.stop());

const words = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }),
  fc
    .array(
      fc.constantFrom(
        "rm -rf /",
        "`",
        "```",
        "~~~",
        "\n",
        "\r",
        "\t",
        "    ",
        "+",
        "- a",
        "# h",
        "<b>",
        "&amp;",
        "| a |",
        "\u202e",
        "\u001b[2J",
        "*x*",
        "x: y",
      ),
      { maxLength: 12 },
    )
    .map((parts) => parts.join("")),
);
const NAMES =
  "command file_path path old_string new_string content url diff edits cmd description nested __proto__ ` x:y".split(
    " ",
  );
const names = fc.constantFrom(...NAMES, "a b", "");
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    words,
    fc.integer(),
    fc.constantFrom(true, null),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.array(words, { minLength: 1, maxLength: 3 }),
    fc.array(fc.tuple(names, tie("value")), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
  ),
}));
const uses = fc.record({
  tool: fc.constantFrom("Bash", "Edit", "Write", "MultiEdit", "mcp__x__y", "a command"),
  input: fc.array(fc.tuple(names, value), { maxLength: 5 }).map((entries) => Object.fromEntries(entries)),
});

/** All texts of the arguments, line by line; the words of a command as a shell takes them. */
function textsOf(input: unknown, key = ""): string[] {
  if (typeof input === "string") return input.split("\n");
  if (input === null || typeof input !== "object") return [JSON.stringify(input)];
  if (Array.isArray(input) && (key === "command" || key === "cmd") && input.every((word) => typeof word === "string"))
    return input.map(quoteShellWord);
  return Object.entries(input).flatMap(([name, each]) => textsOf(each, Array.isArray(input) ? key : name));
}

/** The text without white space: wrapping and indenting add some. */
function bare(text: string) {
  return makeVisible(text).replace(/\s/g, "");
}

function textOfHtml(html: string) {
  const names: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"' };
  return html.replace(/<[^>]*>/g, "").replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => names[name] ?? "'");
}

async function asked(tool: string, input: unknown): Promise<QuestionSnapshot> {
  const { engine } = visit.at.scene;
  return engine.ask(visit.at.scene.input(approvalAsk({ tool, input }), { via: "hook" }), AGENT, { run: {} });
}

describe("an approval", () => {
  test("shows the text of every argument on the page and in the terminal, whatever the tool call", async () => {
    await fc.assert(
      fc.asyncProperty(uses, async ({ tool, input }) => {
        const read = await asked(tool, input);
        const page = String(await html`${QuestionContext({ view: { read, reader: READER } })}`);
        const show = { now: NOON, ahead: () => 0, width: 100, program: "askd", run: read.run, questions: [read] };
        expect(page).not.toContain("<details");
        for (const surface of [textOfHtml(page), renderShow(show, plain)]) {
          const shown = bare(surface);
          for (const text of textsOf(input)) expect(shown).toContain(bare(text));
        }
      }),
      { numRuns: 300 },
    );
  });

  test("shows the text of every argument in next and before a trial answer, and status says where", async () => {
    await fc.assert(
      fc.asyncProperty(uses, async ({ tool, input }) => {
        const scene = new Scene();
        const raw = scene.input(approvalAsk({ tool, input }), { via: "hook" });
        const read = await scene.engine.ask(raw, AGENT, { run: {} });
        const screen = new NextScene([{ read, same: [] }], { size: { columns: 100, rows: 10_000 } });
        const drawn = drawScreen(screen.state, { style: plain, ahead: () => 0 }).lines.join("\n");
        let lines = "";
        const terminal = { write: (text: string) => void (lines += text), isTty: true, columns: 80, rows: 24 };
        const stdin = { isTty: true, readAll: () => Promise.resolve(""), readLine: () => Promise.resolve(":q") };
        const env = { ASKD_ACCESSIBLE: "1" };
        await type(scene, ["next"], { env, stdin, stdout: terminal, stderr: terminal });
        const trial = await type(scene, ["answer", read.question.id, "deny", "--dry-run"]);
        for (const surface of [drawn, lines, trial.stderr]) {
          const shown = bare(surface);
          for (const text of textsOf(input)) expect(shown).toContain(bare(text));
        }
        expect((await type(scene, ["status"])).stdout).toContain("All of it: askd show 1\n");
      }),
      { numRuns: 60 },
    );
  });

  test("is never folded, and an edit is a diff with the old text first", async () => {
    const filler = Array.from({ length: 40 }, (_, index) => `  line ${index};`).join("\n");
    const input = {
      file_path: "src/auth.ts",
      old_string: `${filler}\n  return jwt.verify(token);`,
      new_string: `${filler}\n  return true;`,
    };
    const { question } = await asked("Edit", input);
    const { html: page } = await visit.open(`/q/${question.id}`);
    const main = page.slice(page.indexOf('<main id="main"'), page.indexOf('id="state"'));
    expect(main).not.toContain("<details");
    expect(main).toContain('<span class="d">-  return jwt.verify(token);</span><span class="a">+  return true;</span>');
    const { html: inbox } = await visit.open("/");
    expect(inbox).toContain("May the agent use Edit on &quot;src/auth.ts&quot;?");
  });

  test.each([
    ["yes", "allow"],
    ["Y", "allow"],
    ["no", "deny"],
  ])("takes %s for %s", async (word, value) => {
    const { question } = await asked("Bash", { command: "npm test" });
    const { engine } = visit.at.scene;
    const done = await engine.answer(question.id, said(word), ADA);
    expect(done.question).toMatchObject({ answer: { items: { 1: { values: [value] } } } });
  });

  test("is offered an earlier answer only to exactly the same tool use", async () => {
    const { engine } = visit.at.scene;
    const first = await asked("Bash", { command: "npm run build", description: "Build" });
    await engine.answer(first.question.id, said("allow"), ADA);
    const same = await asked("Bash", { command: "npm run build", description: "Build" });
    const other = await asked("Bash", {
      command: "npm run build",
      description: "Build",
      dangerouslyDisableSandbox: true,
    });
    expect(other.question.title).toBe(same.question.title);
    expect((await engine.findSimilar(same.question.id, 5)).map(({ answer }) => answer)).toEqual(["Allow"]);
    expect(await engine.findSimilar(other.question.id, 5)).toEqual([]);
  });

  test("of high risk is allowed by a confirmed answer only, and denied by a plain no", async () => {
    const { engine } = visit.at.scene;
    await visit.at.scene.know("ada");
    const { question } = await asked("Bash", { command: "rm -rf /", description: "Clean" });
    expect(question.risk).toBe("high");
    await expect(engine.answer(question.id, said("yes"), ADA)).rejects.toMatchObject({ code: "needs_confirmation" });
    expect((await visit.open(`/q/${question.id}`)).html).toContain("askd answer 1 &quot;…&quot;");
    const posted = await visit.post(`/q/${question.id}/answer`, { do: "answer", "i.0": "1" });
    expect(posted.status).toBe(303);
    await visit.at.scene.pass(60_000);
    const { question: denied } = await engine.read(question.id);
    expect(denied).toMatchObject({ status: "answered", answer: { items: { 1: { values: ["deny"] } } } });
  });
});
