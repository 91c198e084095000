import { mkdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { emailChannel } from "../../src/channels/email/email.ts";
import type { OutgoingMail } from "../../src/channels/email/smtp.ts";
import type { Channel } from "../../src/core/channel/channel.ts";
import { DAY_MS } from "../../src/core/instant.ts";
import { SYSTEM } from "../../src/core/people/actor.ts";
import type { Rules } from "../../src/core/rules.ts";
import { ADA } from "../builders.ts";
import { OUTBOUND } from "../channels/loopback-server.ts";
import { DOMAIN, mailSettings } from "../channels/mail-server.ts";
import { ensureProgram } from "../debian.ts";
import { UNLIMITED } from "../proof/reach/reach-task.ts";
import { Scene, said } from "../scene.ts";
import { capture } from "./capture.ts";
import { findAxeProblems, findLayoutProblems } from "./inspect.ts";

const OUT = resolve("shots", "mail");
const LOOKS = [
  { name: "light-1280", colorScheme: "light", width: 1280, height: 860 },
  { name: "dark-1280", colorScheme: "dark", width: 1280, height: 860 },
  { name: "light-390", colorScheme: "light", width: 390, height: 844 },
  { name: "dark-390", colorScheme: "dark", width: 390, height: 844 },
] as const;
const APPROACH = {
  question: "Which approach should be used to fix the null reference error?",
  options: [
    { label: "Add null check", description: "Simple guard clause, minimal change", recommended: true },
    { label: "Initialize early", description: "Refactor to ensure object exists" },
    { label: "Optional chaining", description: "Use ?. throughout" },
  ],
  context:
    "The cache is on the hot path.\n```ts\nconst value = obj.property.nested; // obj may be null, and this line is rather long for a phone\n```\nSee `src/cache.ts`.",
  on_timeout: "skip",
};
const ITEMS = [
  { header: "cache", text: "Which cache?", options: ["Redis", "Memcached"] },
  { header: "tests", text: "Which tests?", options: ["unit", "end to end", "none"], multiple: true },
  { header: "name", text: "What is it called?", options: [] },
];
const COMMAND = { kind: "approval", tool: { name: "Bash", input: { command: "rm -rf build && npm run build" } } };

let browser: Browser;
beforeAll(async () => {
  rmSync(OUT, { recursive: true, force: true });
  mkdirSync(OUT, { recursive: true });
  ensureProgram("chromium");
  browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
});
afterAll(() => browser.close());

/** Everything that a person gets by mail, in order. */
class Post {
  readonly mails: OutgoingMail[] = [];
  readonly scene: Scene;

  constructor(rules: Partial<Rules>) {
    const mailbox = { user: "answers", ports: { submission: 1, imap: 1 }, ca: "" };
    const keep = async (mail: unknown) => {
      this.mails.push(mail as OutgoingMail); // as the channel built it
      return { ok: true, outside: String(this.mails.length) } as const;
    };
    const channel: Channel = { ...emailChannel(mailSettings(mailbox), OUTBOUND), send: keep };
    this.scene = new Scene({
      rules: {
        reach: [{ name: "email", person: undefined, isPersonal: true }],
        personChannel: true,
        attention: UNLIMITED,
        ...rules,
      },
      openChannel: () => Promise.resolve(channel),
    });
  }

  async ask(raw: Record<string, unknown>) {
    const run = { name: "fix-123", repo: "acme/api" };
    const { question } = await this.scene.engine.ask(this.scene.input(raw), SYSTEM, { run });
    await this.scene.pass(0);
    return question.id;
  }
}

async function playAll(post: Post): Promise<void> {
  const { scene } = post;
  const first = await post.ask(APPROACH);
  await scene.engine.answer(first, said("2"), ADA);
  await scene.pass(0);
  await post.ask({ question: "What is the name of the queue?", options: [], risk: "high" });
  await post.ask({ items: ITEMS });
  await post.ask({ ...COMMAND, risk: "low" });
  await post.ask({ kind: "approval", tool: { name: "Bash", input: { command: `echo ${"x".repeat(30_000)}` } } });
  await post.ask({
    question: `</p><script>alert(1)</script> \u202eevil ${"w".repeat(120)}`,
    options: ['<img src=x onerror="alert(1)">', "&amp; ```code"],
    context: "<b>x</b> https://evil.example/a?b=c",
  });
  await post.ask({ question: `Is it right that ${"very ".repeat(50)}long?`, timeout: "1d", on_timeout: "skip" });
  await scene.pass(DAY_MS);
}

test.each([
  { language: "en", play: playAll },
  { language: "de", play: (post: Post) => post.ask({ ...APPROACH, risk: "high" }) },
] as const)(
  "every mail is readable, in light and dark, wide and narrow ($language)",
  async ({ language, play }) => {
    const post = new Post({ language, publicUrl: "https://askd.example.com" });
    onTestFinished(() => post.scene.engine.stop());
    await post.scene.engine.putPerson({ id: "mika", version: 0, groups: [], email: `mika@${DOMAIN}` }, SYSTEM);
    await play(post);
    const mails = post.mails.filter(({ html }) => html !== undefined);
    expect(mails.length).toBeGreaterThan(language === "en" ? 8 : 0);
    for (const look of LOOKS) expect(await draw(mails, look, language)).toEqual([]);
  },
  120_000,
);

/** Looks at each mail, then photographs all of them below each other; returns what is wrong with what is seen. */
async function draw(mails: readonly OutgoingMail[], look: (typeof LOOKS)[number], language: string): Promise<string[]> {
  const { name, colorScheme, ...viewport } = look;
  const page = await browser.newPage({ viewport, colorScheme });
  const problems: string[] = [];
  page.on("dialog", (dialog) => void problems.push(`dialog: ${dialog.message()}`));
  page.on("request", (request) => {
    if (!/^(?:about|data):/.test(request.url())) problems.push(`it loads ${request.url()}`);
  });
  const frames: string[] = [];
  for (const { subject, html = "" } of mails) {
    await page.setContent(html);
    const found = [...(await findLayoutProblems(page)), ...(await findAxeProblems(page, "color-contrast"))];
    problems.push(...found.map((problem) => `${subject.slice(0, 40)}: ${problem}`));
    const height = Number(await page.evaluate("document.querySelector('.mail').getBoundingClientRect().bottom + 16"));
    const source = html.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
    frames.push(`<iframe style="height:${Math.min(height, MOST_SHOWN_PX)}px" srcdoc="${source}"></iframe>`);
  }
  await page.setContent(`<!doctype html><style>${FRAME_STYLE}</style>${frames.join("")}`);
  await capture(page, { path: join(OUT, `${language}-${name}.png`), fullPage: true });
  await page.close();
  return problems;
}

const MOST_SHOWN_PX = 900;
const FRAME_STYLE = `:root{color-scheme:light dark}body{margin:0}
iframe{display:block;width:100%;border:0;border-bottom:4px solid #c33}`;
