import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ADA, AGENT } from "../../../test/builders.ts";
import { PageVisit } from "../../../test/page-visit.ts";
import { said } from "../../../test/scene.ts";

let visit: PageVisit;
beforeEach(async () => {
  visit = await PageVisit.start();
});
afterEach(() => visit.stop());

async function ask(question: string, run: { name?: string; repo?: string } = {}) {
  const { scene } = visit.at;
  await scene.pass(1); // each comes after the one before it
  return (await scene.engine.ask(scene.input({ question, options: ["Yes", "No"] }), AGENT, { run })).question.id;
}

function rows(html: string): number {
  return html.match(/<li data-id/g)?.length ?? 0;
}

describe("a long inbox", () => {
  test("comes in pages that can be followed without a script", async () => {
    for (let index = 0; index < 230; index += 1) await ask(`Go on with ${index}?`);
    const first = (await visit.open("/")).html;
    expect(rows(first)).toBe(100);
    expect(first).toContain("1 to 100 of 230");
    expect(first).toContain('rel="next" href="/?from=100"');
    expect(first).not.toContain('rel="prev"');
    const last = (await visit.open("/?from=200")).html;
    expect(rows(last)).toBe(30);
    expect(last).toContain('rel="prev" href="/?from=100"');
    expect(last).not.toContain('rel="next"');
    expect((await visit.open("/?from=nowhere")).html).toContain("1 to 100 of 230");
  });

  test("is open at the page that has the question on the card", async () => {
    const ids = [];
    for (let index = 0; index < 120; index += 1) ids.push(await ask(`Go on with ${index}?`));
    const { html } = await visit.open(`/q/${ids.at(-1)}`);
    expect(html).toContain("101 to 120 of 120");
    expect(html).toMatch(new RegExp(`href="/q/${ids.at(-1)}" aria-current="true"`));
  });
});

describe("the counts", () => {
  const titles = (html: string) => [...html.matchAll(/<h2>([^<]*\(.*?\))<\/h2>/g)].map(([, title]) => title);

  test("of what waits for the reader leave out what only others may answer", async () => {
    const { scene } = visit.at;
    await ask("Mine?");
    const approvals = { need: 1, from: ["lena"] };
    await scene.engine.ask(scene.input({ question: "Theirs?", approvals }), AGENT, { run: {} });
    const { html } = await visit.open("/");
    expect(titles(html)).toEqual(["Waiting for you (1)", "For others (1)"]);
    expect(html).toContain("<title>(1) Mine?");
  });

  test("say when they are cut off", async () => {
    const { scene } = visit.at;
    for (let index = 0; index < 52; index += 1) {
      await scene.engine.answer(await ask(`Done ${index}?`), said("1"), ADA);
    }
    expect(titles((await visit.open("/")).html)).toEqual(["Closed today (50+)"]);
  });

  test("tell questions and rows apart", async () => {
    for (let index = 0; index < 3; index += 1) await ask("The same?");
    await ask("Another?");
    expect(titles((await visit.open("/")).html)).toEqual(["Waiting for you (4 questions in 2 rows)"]);
    const { html } = await visit.open("/insights");
    expect(html).toContain("<dt>Waiting now, for anybody</dt>");
  });
});

describe("a search", () => {
  test("finds what waits by any part of a word, and what is closed by its words, however long ago", async () => {
    const { scene } = visit.at;
    const past = await ask("Redis for the cache?", { repo: "acme/api" });
    await scene.engine.answer(past, said("1"), ADA);
    await scene.pass(40 * 24 * 3_600_000);
    const open = await ask("Memcached for the cache?");
    const { html } = await visit.open("/?find=CACH");
    expect(html).toContain("Waiting for you (1)");
    expect(html).toContain("Closed (1)");
    expect([html.includes(`/q/${open}"`), html.includes(`/q/${past}"`)]).toEqual([true, true]);
    expect((await visit.open("/?find=emcach")).html).toContain("Waiting for you (1)");
    const only = (await visit.open(`/?find=${encodeURIComponent("acme/api redis")}`)).html;
    expect(only).not.toContain("Waiting for you (");
    expect(only).toContain(`data-id="${past}"`);
    expect((await visit.open("/?find=nothing")).html).toContain("Nothing matches.");
  });
});
