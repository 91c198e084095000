import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Question } from "../../src/core/question/question.ts";
import {
  answerWith,
  fit,
  inParts,
  plantEnded,
  plantLog,
  plantNarrow,
  plantPeople,
  plantTemplates,
  plantWide,
  plantWork,
} from "./attack-plant.ts";
import { ATTACKS } from "./attack-strings.ts";
import { Trap, readInert } from "./attack-trap.ts";
import { linkTo } from "./link-states.ts";
import { WebStage } from "./stage.ts";
import { LENA, ask } from "./states.ts";

/** As many as one question has room for in its options, and as a name has. */
const WIDE = 430;
const NARROW = 12;
/** As many as an address has room for where it is cut, and how many of those are opened everywhere, or somewhere. */
const QUERY = 4;
const OPENED_EVERY = 240;
const SOME = 96;
const MOST_QUERY_BYTES = 2_000;
const LONG_MS = 300_000;

const WIDES = inParts(ATTACKS, WIDE);
const NARROWS = inParts(ATTACKS, NARROW);

const stage = new WebStage(`[channels.slack]
channel = ${JSON.stringify(fit(ATTACKS.slice(0, 60), 2_000))}
mention = ${JSON.stringify(fit(ATTACKS.slice(-60), 2_000))}
`);
let trap: Trap;
let guest: Trap;
let admin: Trap;
beforeAll(async () => {
  await stage.serve();
  trap = await Trap.set(await stage.person("mika"), stage.url);
  guest = await Trap.set(await stage.visitor(), stage.url);
  admin = await Trap.set(await stage.admin("root"), stage.url);
}, LONG_MS);
beforeEach(() => stage.cancelAll());
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

/** Opens addresses one after the other and says what was wrong. */
async function lookAll(at: Trap, paths: Iterable<string>): Promise<string[]> {
  const problems: string[] = [];
  for (const path of paths) problems.push(...(await at.look(path)));
  return problems;
}

// First, while pages are still small: what an address says does not depend on what is kept.
describe("nothing of an address or a form is believed", () => {
  test(
    "in whatever an address can say",
    async () => {
      const question = await ask(stage, { question: "Which?", timeout: "1h" });
      const blank = await stage.visitor();
      const cookie = (await trap.page.context().cookies()).map(({ name, value }) => `${name}=${value}`).join("; ");
      const headers = { cookie, accept: "text/html" };
      for (const [index, texts] of inParts(ATTACKS, QUERY).entries()) {
        const [search = "", ...others] = addressesOf(question, texts.join(" "));
        const at = (step: number): string => others[(index + step) % others.length] ?? "";
        const read = await Promise.all(
          [search, at(0), at(5)].map(async (path) => (await fetch(stage.url + path, { headers })).text()),
        );
        expect(await readInert(blank, read)).toEqual([]);
        if (index % OPENED_EVERY === 0) expect(await lookAll(trap, [search, ...others])).toEqual([]);
        else if (index % SOME === 0) expect(await lookAll(trap, [search, at(0)])).toEqual([]);
      }
    },
    LONG_MS,
  );

  test(
    "in a form that comes back with what was written in it",
    async () => {
      const question = await ask(stage, { question: "Which?", options: ["A", "B"], allow_text: false, timeout: "1h" });
      const forms = [
        (all: string) => sendBack(guest, "/login?next=%2F", { "#code": all }),
        (all: string) => sendBack(trap, "/templates", { "#name": "odd name", "#text": all, "#choose": all }),
        (_: string, some: string) => sendBack(trap, `/activity`, { "#run": some, "#person": some }),
        (_: string, some: string) => sendBack(trap, "/", { "#list [name=find]": some }),
        (all: string) => sendBack(admin, "/settings/people", { "#new-id": all, "#new-name": all }),
        (all: string) => sendBack(trap, `/q/${question.id}`, { "#note": all, "#to": all, "#comment": all }),
        (all: string) => sendBack(trap, "/batch", { "main [name=said]": all, "main [name=note]": all }),
      ];
      // Every form is met by two parts of all attacks, and every part by several forms.
      for (const [index, send] of forms.entries()) {
        for (const step of [0, 1]) {
          const texts = WIDES[(2 * index + step) % WIDES.length] ?? [];
          expect(await send(texts.join(" "), fit(texts, MOST_QUERY_BYTES))).toEqual([]);
        }
      }
    },
    LONG_MS,
  );
});

describe("of more than 2,000 attacks nothing runs, loads or goes anywhere", () => {
  test(
    "in a question, its context, options, values and remarks, wherever it waits",
    async () => {
      expect(new Set(ATTACKS).size).toBeGreaterThanOrEqual(2_000);
      for (const texts of WIDES) {
        const question = await plantWide(stage, texts);
        const paths = [`/q/${question.id}`, `/r/${question.runId}`, "/batch"];
        expect(await lookAll(trap, paths)).toEqual([]);
        expect(await guest.look(await linkTo(stage, question))).toEqual([]);
        expect(await preview(question)).toEqual([]);
        await stage.cancelAll();
      }
    },
    LONG_MS,
  );

  test(
    "in an answer, a note and a correction, by people who are called that",
    async () => {
      for (const texts of WIDES) {
        const question = await plantWide(stage, texts);
        const link = await linkTo(stage, question);
        await answerWith(stage, question, texts);
        expect(await lookAll(trap, [`/q/${question.id}`, `/r/${question.runId}`])).toEqual([]);
        expect(await guest.look(link)).toEqual([]);
      }
    },
    LONG_MS,
  );

  test(
    "in what is done when nobody answers, and in why something was withdrawn",
    async () => {
      const engine = await stage.engine();
      const ids: string[] = [];
      const late: string[] = [];
      for (const texts of WIDES) {
        const over = { items: undefined, question: fit(texts, 15_000), timeout: "1s", on_timeout: "default" };
        late.push((await plantWide(stage, texts, { ...over, default_answer: texts.join(" ") })).id);
        const gone = await plantWide(stage, texts);
        await engine.cancel(gone.id, { reason: texts.join(" ") }, LENA);
        ids.push(gone.id);
      }
      for (const id of late) {
        await stage.until("the time is over", async () => (await stage.read(id)).status === "timeout" || undefined);
      }
      expect(
        await lookAll(
          trap,
          [...late, ...ids].map((id) => `/q/${id}`),
        ),
      ).toEqual([]);
    },
    LONG_MS,
  );

  test(
    "in the names and titles of lists, and in the trail",
    async () => {
      const ended: string[] = [];
      for (const texts of NARROWS) await plantNarrow(stage, texts);
      for (const texts of WIDES) ended.push(`/r/${(await plantEnded(stage, texts)).id}`);
      const lists = [
        "/",
        "/?from=1",
        "/?from=100",
        "/insights?for=24h",
        "/insights?for=90d",
        "/runs?state=waiting",
        "/runs?state=failed",
      ];
      expect(await lookAll(trap, [...lists, ...ended])).toEqual([]);
      for (const start of ["/runs", "/activity"]) expect(await lookThrough(start)).toEqual([]);
    },
    LONG_MS,
  );

  test(
    "in files, their names, and what an agent prints",
    async () => {
      const paths: string[] = [];
      for (const texts of WIDES) paths.push(`/r/${(await plantWork(stage, texts)).id}/work`);
      for (const texts of inParts(ATTACKS, 290)) paths.push(`/r/${(await plantLog(stage, texts)).id}`);
      expect(await lookAll(trap, paths)).toEqual([]);
    },
    LONG_MS,
  );

  test(
    "in people, templates, tokens and channels",
    async () => {
      await plantPeople(stage, ATTACKS);
      const names = await plantTemplates(stage, ATTACKS);
      const question = await ask(stage, { question: "Which?", timeout: "1h" });
      const paths = ["/channels", "/settings", "/settings/policies"];
      expect(await lookAll(admin, paths)).toEqual([]);
      for (const list of ["/settings/people", "/settings/tokens", "/templates"]) {
        const pages = [list, `${list}?from=50`, `${list}?from=100`, `${list}?from=150`];
        expect(await lookAll(admin, pages)).toEqual([]);
      }
      const tried = names.map((name) => `/templates?edit=${name}&try=${name}&on=${question.id}`);
      expect(await lookAll(trap, [...tried, `/q/${question.id}`, "/batch"])).toEqual([]);
    },
    LONG_MS,
  );
});

describe("what a page believes is noticed", () => {
  const TEXT = "<svg onload=hit(1)></svg>";
  const ESCAPED = TEXT.replaceAll("<", "&lt;").replaceAll(">", "&gt;");

  /** Opens a question whose title is not escaped; with the policy of the page, or without. */
  async function openBroken(more: { isGuarded: boolean }): Promise<string[]> {
    const question = await ask(stage, { question: `Which? ${TEXT}`, timeout: "1h" });
    const path = `/q/${question.id}`;
    const { page } = trap;
    await page.route(stage.url + path, async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replaceAll(ESCAPED, TEXT);
      const headers = response.headers();
      if (!more.isGuarded) delete headers["content-security-policy"];
      await route.fulfill({ response, body, headers });
    });
    const report = more.isGuarded ? page.waitForRequest("**/csp-report") : undefined;
    await page.goto(stage.url + path);
    await (report ?? page.waitForFunction("window.hits.length > 0"));
    const found = await trap.lookHere(path);
    await page.unroute(stage.url + path);
    stage.violations.splice(0);
    return found.map((problem) => problem.replace(`${path}: `, ""));
  }

  test("as a handler that should not be there, and as what the policy forbids and the browser reports", async () => {
    const found = await openBroken({ isGuarded: true });
    expect(found).toContain("onload on svg");
    expect(found).toContain("script-src-attr inline");
    expect(found.filter((problem) => problem.startsWith("reported"))).not.toEqual([]);
    expect(found).not.toContain("ran");
  });

  test("as something that ran, where no policy holds it back", async () => {
    expect(await openBroken({ isGuarded: false })).toContain("ran");
  });
});

test("no page did what its own policy forbids", () => {
  expect(stage.violations).toEqual([]);
});

/** Has the agent's message made from a form, and looks at it. */
async function preview({ id }: Question): Promise<string[]> {
  const { page } = trap;
  await page.goto(`${stage.url}/q/${id}`);
  for (const box of await page.locator("fieldset.item").all()) {
    const choice = box.locator("input[value='0']");
    if ((await choice.count()) > 0) await choice.check();
  }
  await page.evaluate("document.querySelector('#answer').setAttribute('data-plain', '')");
  await page.click(".menu.more > summary");
  await Promise.all([page.waitForURL("**/preview"), page.click("[data-preview]")]);
  return trap.lookHere(`preview of ${id}`);
}

/** Looks at a list page by page. */
async function lookThrough(start: string): Promise<string[]> {
  const problems = await trap.look(start);
  for (;;) {
    const next = trap.page.locator(".paging a").last();
    const href = (await next.count()) > 0 ? await next.getAttribute("href") : null;
    if (href === null || !/after=|before=/.test(href)) return problems;
    problems.push(...(await trap.look(href)));
  }
}

/** Every place of an address in which somebody can write something. */
function addressesOf({ id }: Question, text: string): string[] {
  const said = encodeURIComponent(text);
  return [
    `/?find=${said}`,
    `/q/${id}?choose=${said}`,
    `/q/${id}?template=${said}`,
    `/activity?run=${said}&kind=${said}&person=${said}&before=${said}`,
    `/runs?state=${said}&after=${said}`,
    `/templates?edit=${said}&try=${said}&on=${said}`,
    `/insights?for=${said}`,
    `/login?next=${said}`,
    `/q/${said}`,
    `/r/${said}`,
    `/a/${said}`,
    `/${said}`,
  ];
}

/** Fills the fields of a page, sends the form of the first of them, and looks at what comes back. */
async function sendBack(at: Trap, path: string, fields: Record<string, string>): Promise<string[]> {
  await at.page.goto(stage.url + path);
  await at.page.evaluate("document.querySelectorAll('details').forEach((details) => (details.open = true))");
  for (const [field, text] of Object.entries(fields)) await at.page.fill(field, text);
  const first = JSON.stringify(Object.keys(fields)[0] ?? "");
  const send = `(() => {
    const { form } = document.querySelector(${first});
    form.noValidate = true;
    form.setAttribute("data-plain", ""); // as a browser sends it, without the script
    form.requestSubmit();
  })()`;
  await Promise.all([at.page.waitForNavigation(), at.page.evaluate(send)]);
  return at.lookHere(`${path} sent back`);
}
