import { mkdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { HOUR_MS, SECOND_MS } from "../../src/core/instant.ts";
import { SYSTEM } from "../../src/core/people/actor.ts";
import type { Rules } from "../../src/core/rules.ts";
import { ADA } from "../builders.ts";
import { MIKA, SlackServer } from "../channels/slack-server.ts";
import { ensureProgram } from "../debian.ts";
import { until } from "../run-dir.ts";
import { Scene, said } from "../scene.ts";
import { capture } from "./capture.ts";
import { type SlackShot, drawBlockKit } from "./block-kit.ts";

const OUT = resolve("shots", "slack");
const LOOKS = [
  { name: "light-1280", colorScheme: "light", width: 1280, height: 860 },
  { name: "dark-1280", colorScheme: "dark", width: 1280, height: 860 },
  { name: "light-390", colorScheme: "light", width: 390, height: 844 },
] as const;
const CODE =
  "The cache is on the hot path.\n```ts\nconst value = obj.property.nested; // obj may be null\n```\nSee `src/cache.ts`.";
const APPROACH = {
  question: "Which approach should be used to fix the null reference error?",
  options: [
    { label: "Add null check", description: "Simple guard clause, minimal change", recommended: true },
    { label: "Initialize early", description: "Refactor to ensure object exists" },
    { label: "Optional chaining", description: "Use ?. throughout" },
  ],
  context: CODE,
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

/** A workspace on loopback in which everything happens once. */
class Workspace {
  readonly shots: SlackShot[] = [];
  readonly service: SlackServer;
  readonly scene: Scene;

  constructor(service: SlackServer, rules: Partial<Rules> = {}) {
    this.service = service;
    const publicUrl = "https://askd.example.com";
    this.scene = new Scene({
      rules: { reach: [service.reach], personChannel: true, publicUrl, ...rules },
      openChannel: () => Promise.resolve(service.channel),
    });
  }

  async open(): Promise<void> {
    await this.scene.engine.putPerson({ id: "mika", version: 0, groups: [], slack: MIKA }, SYSTEM);
    void this.scene.engine.work();
    await until("connected", () => this.service.sockets.size === 2);
  }

  async close(): Promise<void> {
    await this.scene.engine.stop();
    await this.service.close();
  }

  async ask(name: string, raw: Record<string, unknown>) {
    const before = this.service.shown().length;
    const run = { name: "fix-123", repo: "acme/api" };
    const { question } = await this.scene.engine.ask(this.scene.input(raw), SYSTEM, { run });
    await until(`${name} is shown`, () => this.service.shown().length === before + 1);
    this.keep(name);
    return question.id;
  }

  /** Lets time pass once nobody is in the middle of a job: its lease would end, and it would be done again. */
  async pass(ms: number): Promise<void> {
    const { scene } = this;
    await until("nothing is under way", async () => {
      const jobs = await scene.store.listJobs(1000);
      return jobs.every(({ leaseUntil }) => leaseUntil === undefined || leaseUntil <= scene.now);
    });
    await scene.pass(ms);
  }

  /** Keeps the last message as it is now. */
  keep(name: string): void {
    const kept = [...this.service.messages.values()].findLast(({ thread, blocks }) => !thread && blocks.length > 0);
    this.shots.push({ name, blocks: kept?.blocks ?? [] });
  }

  async keepWhen(name: string, words: string): Promise<void> {
    await until(words, () => this.service.shown().at(-1)?.text.includes(words));
    this.keep(name);
  }

  async press(label: string): Promise<void> {
    await this.service
      .shown()
      .at(-1)
      ?.buttons.find((button) => button.label.startsWith(label))
      ?.press();
  }

  async keepForm(name: string, label: string): Promise<void> {
    const before = this.service.views.length;
    await this.press(label);
    await until(`${name} is open`, () => this.service.views.length === before + 1);
    this.shots.push({ name, view: this.service.views.at(-1)!.view });
  }
}

async function playAll(workspace: Workspace): Promise<void> {
  const { scene, service } = workspace;
  const first = await workspace.ask("question", APPROACH);
  await workspace.keepForm("form of own words", "Write");
  await workspace.keepForm("form that asks back", "Ask the agent back");
  await scene.engine.claim(first, { ...ADA, id: "mika" });
  await workspace.keepWhen("claimed", "is on it");
  await workspace.press("B)");
  await workspace.keepWhen("about to count", "has just answered");
  await workspace.pass(5 * SECOND_MS);
  await workspace.keepWhen("answered", "Answered by mika");
  await workspace.ask("for somebody, high risk", { ...APPROACH, to: ["mika"], risk: "high", context: undefined });
  await workspace.ask("five options", { question: "Which region?", options: ["eu", "us", "ap", "sa", "af"] });
  const cities = Array.from({ length: 14 }, (_, at) => `Region ${at + 1} with quite a long name`);
  await workspace.ask("many options", { question: "Which of all regions?", options: cities, allow_text: false });
  await workspace.ask("own words only", { question: "What is the name of the queue?", options: [] });
  await workspace.ask("several items", { items: ITEMS });
  await workspace.keepForm("form of several items", "Answer");
  const denied = await workspace.ask("approval", { ...COMMAND, risk: "low" });
  await scene.engine.answer(denied, said("deny"), { ...ADA, strength: "person" });
  await workspace.keepWhen("denied elsewhere", "Answered by ada");
  await workspace.ask("approval that does not fit", {
    kind: "approval",
    tool: { name: "Bash", input: { command: `echo ${"x".repeat(7_000)}` } },
  });
  await workspace.ask("hostile", {
    question: "<!channel> @everyone </h2><script>alert(1)</script> \u202eevil",
    options: ["<@U123> *bold*", "&amp; ```code"],
    context: "]]> <b>x</b> `a` *b* ~c~",
  });
  const cancelled = await workspace.ask("long title", { question: `Is it right that ${"very ".repeat(50)}long?` });
  await scene.engine.cancel(cancelled, { reason: "not needed any more" }, ADA);
  await workspace.keepWhen("cancelled", "Cancelled by ada");
  await workspace.ask("short deadline", {
    question: "Now?",
    options: ["Yes", "No"],
    timeout: "2h",
    on_timeout: "skip",
  });
  await workspace.pass(HOUR_MS);
  await until("a reminder", () => [...service.messages.values()].some(({ thread }) => thread));
  const reminder = [...service.messages.values()].findLast(({ thread }) => thread);
  workspace.shots.push({ name: "reminder in the thread", text: reminder?.text ?? "" });
  await workspace.pass(HOUR_MS);
  await workspace.keepWhen("nobody answered", "Nobody answered in time");
  await service.command("q-zzzz A", "U0EVE");
  await until("a note", () => service.notes.length > 0);
  workspace.shots.push(...service.notes.map(({ text }) => ({ name: "private note", text })));
}

test.each([
  { language: "en", play: playAll },
  { language: "de", play: (workspace: Workspace) => workspace.ask("Frage", { ...APPROACH, risk: "high" }) },
] as const)(
  "every view is readable, in light and dark, wide and narrow ($language)",
  async ({ language, play }) => {
    const workspace = new Workspace(await SlackServer.start(), { language });
    onTestFinished(() => workspace.close());
    await workspace.open();
    await play(workspace);
    for (const look of LOOKS) expect(await draw(workspace.shots, look, language)).toEqual([]);
    expect(workspace.service.traffic.problems).toEqual([]);
  },
  120_000,
);

/** Draws and photographs all views; returns what is wrong with what is seen. */
async function draw(shots: readonly SlackShot[], look: (typeof LOOKS)[number], language: string): Promise<string[]> {
  const { name, colorScheme, ...viewport } = look;
  const page = await browser.newPage({ viewport, colorScheme });
  const problems: string[] = [];
  page.on("dialog", (dialog) => void problems.push(`dialog: ${dialog.message()}`));
  await page.setContent(drawBlockKit(shots));
  await capture(page, { path: join(OUT, `${language}-${name}.png`), fullPage: true });
  const width = Number(await page.evaluate("document.documentElement.scrollWidth"));
  if (width > viewport.width) problems.push(`${width} wide`);
  await page.close();
  return problems;
}
