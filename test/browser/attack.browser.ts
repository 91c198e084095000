import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import type { Actor } from "../../src/core/actor.ts";
import { AnswerInput } from "../../src/core/answer-input.ts";
import type { Question } from "../../src/core/question.ts";
import { ATTACKS } from "./attack-strings.ts";
import { linkTo } from "./link-states.ts";
import { WebStage } from "./stage.ts";
import { ask } from "./states.ts";

/** As many as an ask has room for in its options. */
const TOGETHER = 45;
/** Pages that are opened once more after an answer; all the others have the same parts. */
const ANSWERED_EVERY = 6;

const MOST_NAME_BYTES = 780;
const MOST_PERSON_CHARS = 190;

const stage = new WebStage();
beforeAll(() => stage.serve());
afterAll(() => stage.close());

test("a page with three questions, its style and its script have at most 60 kB together", async () => {
  await stage.cancelAll();
  for (const name of ["One", "Two", "Three"]) await ask(stage, { question: `${name}?`, options: ["Yes", "No"] });
  const page = await stage.person("mika");
  const html = await (await page.goto(`${stage.url}/`))!.text();
  const assets = [...html.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path]) => path ?? "");
  expect(assets).toHaveLength(2);
  const texts = await Promise.all(assets.map(async (path) => (await fetch(stage.url + path)).text()));
  const bytes = [html, ...texts].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  process.stdout.write(`page weight: ${bytes} bytes\n`);
  expect(bytes).toBeLessThanOrEqual(60 * 1000);
});

const Problems = z.array(z.string());

// Whatever runs calls this, and whatever is forbidden is told here.
const TRAP = `
  window.hits = [];
  window.hit = () => window.hits.push("ran");
  addEventListener("securitypolicyviolation", (event) => window.hits.push(event.violatedDirective + " " + event.blockedURI));
`;

// What a page may consist of: our own elements, no handlers, no styles, no addresses but of the web and of ourselves.
const LOOK = `(() => {
  const found = [...window.hits];
  const own = new Set(["/assets"]);
  const bad = "iframe,object,embed,base,style,img,picture,image,video,audio,source,math,marquee,frameset,template,slot,x,xmp,plaintext,listing,animate,set,use,foreignObject,annotation-xml,area,applet";
  for (const element of document.querySelectorAll(bad)) found.push("element " + element.outerHTML.slice(0, 120));
  for (const element of document.querySelectorAll("*")) {
    for (const { name, value } of element.attributes) {
      if (name.startsWith("on") || name === "style" || name === "srcdoc" || name === "background") found.push(name + " on " + element.tagName);
      if (!/^(href|src|action|formaction|xlink:href|data|poster|srcset)$/.test(name)) continue;
      const isOwn = /^\\/(?![/\\\\])/.test(value) || value.startsWith("#");
      const isLink = element.tagName === "A" && name === "href" && /^(https?:\\/\\/|mailto:)/i.test(value);
      if (!isOwn && !isLink) found.push(name + "=" + value.slice(0, 80));
    }
  }
  for (const script of document.scripts) if (!script.getAttribute("src")?.startsWith("/assets/") || script.textContent) found.push("a script");
  return [...new Set(found)];
})()`;

/** Opens everything on a page, touches it, and says what is there that should not be. */
async function look(page: Page, path: string): Promise<string[]> {
  await page.goto(path.startsWith("http") ? path : stage.url + path);
  await page.evaluate("document.querySelectorAll('details').forEach((details) => (details.open = true))");
  await page.mouse.move(500, 300);
  await page.mouse.move(520, 420);
  const found = Problems.parse(await page.evaluate(LOOK)).map((problem) => `${path}: ${problem}`);
  return new URL(page.url()).host === new URL(stage.url).host ? found : [...found, `${path} led to ${page.url()}`];
}

/** As many of these as a name has room for. */
function fit(texts: readonly string[], most = MOST_NAME_BYTES): string {
  let joined = "x";
  for (const text of texts) {
    if (Buffer.byteLength(joined) + Buffer.byteLength(text) < most) joined += ` ${text}`;
  }
  return joined.replaceAll("\n", " ");
}

/** One question that has all these texts in everything that somebody can write. */
async function plant(texts: readonly string[]): Promise<Question> {
  const all = texts.join(" ");
  const engine = await stage.engine();
  const options = texts.map((text, index) => ({ label: `${index} ${text}`, description: text, preview: text }));
  const question = await ask(
    stage,
    { question: `${texts.slice(0, 3).join(" ")}?\n${all}`, context: texts.join("\n\n"), options, timeout: "1h" },
    {
      ...{ name: fit(texts.slice(0, 15)), repo: fit(texts.slice(15, 30)), branch: fit(texts.slice(30)) },
      agent: fit(texts.toReversed()),
    },
  );
  const by: Actor = { scope: "human", id: fit(texts, MOST_PERSON_CHARS), channel: all.slice(0, 60), strength: "local" };
  await engine.comment(question.id, all, by);
  await engine.claim(question.id, by);
  return question;
}

test("nothing of 2,000 attacks runs, loads or goes anywhere, wherever it is written", async () => {
  expect(new Set(ATTACKS).size).toBeGreaterThanOrEqual(2_000);
  const page = await stage.person("mika");
  const outside = await stage.visitor();
  const [hosts, opened] = [new Set<string>(), [] as string[]];
  for (const each of [page, outside]) {
    await each.addInitScript(TRAP);
    each.on("request", (request) => hosts.add(new URL(request.url()).host));
    each.on("popup", (popup) => opened.push(popup.url()));
    each.on("dialog", (dialog) => opened.push(dialog.message()));
  }
  const engine = await stage.engine();
  const problems: string[] = [];
  for (let first = 0; first < ATTACKS.length; first += TOGETHER) {
    const texts = ATTACKS.slice(first, first + TOGETHER);
    const question = await plant(texts);
    problems.push(...(await look(page, `/q/${question.id}`)));
    if ((first / TOGETHER) % ANSWERED_EVERY !== 0) continue;
    problems.push(...(await look(outside, await linkTo(stage, question))));
    const all = texts.join(" ");
    const by: Actor = {
      scope: "human",
      id: fit(texts, MOST_PERSON_CHARS),
      channel: all.slice(0, 60),
      strength: "local",
    };
    await engine.answer(question.id, AnswerInput.parse({ answer: all, note: all }), by);
    await engine.amend(question.id, all, by);
    for (const path of [`/q/${question.id}`, `/r/${question.runId}`]) problems.push(...(await look(page, path)));
  }
  const find = encodeURIComponent(ATTACKS[0] ?? "");
  for (const path of ["/", "/?all", `/?find=${find}`, "/runs", "/activity", "/insights", "/templates", "/settings"]) {
    problems.push(...(await look(page, path)));
  }
  expect(problems).toEqual([]);
  expect([...hosts]).toEqual([new URL(stage.url).host]);
  expect(opened).toEqual([]);
  expect(stage.violations).toEqual([]);
}, 240_000);
