import { afterEach, beforeEach, expect, test } from "vitest";
import type { QuestionId } from "../../core/id.ts";
import { ADA } from "../../../test/builders.ts";
import { ServedScene } from "../../../test/served.ts";
import { said } from "../../../test/scene.ts";

let at: ServedScene;
let cookie: string;
beforeEach(async () => {
  at = await ServedScene.start();
  cookie = `askd_session=${await at.token()}`;
});
afterEach(() => at.stop());

async function ask(raw: Record<string, unknown> = {}): Promise<QuestionId> {
  return (await at.scene.ask(raw)).question.id;
}

async function open(): Promise<string> {
  const { body } = await at.send("GET", "/batch", { headers: { cookie, accept: "text/html" } });
  return String(body["text"]);
}

async function post(path: string, fields: ReadonlyArray<readonly [string, string]>, more: Record<string, string> = {}) {
  const csrf = /name="csrf" value="(\w+)"/.exec(await open())?.[1] ?? "";
  const body = new URLSearchParams([["csrf", csrf], ...fields.map(([name, value]): [string, string] => [name, value])]);
  const headers = { cookie, accept: "text/html", origin: at.url, "content-type": "application/x-www-form-urlencoded" };
  Object.assign(headers, more);
  const got = await at.send("POST", path, { body: body.toString(), headers });
  return { status: got.status, html: String(got.body["text"]) };
}

async function state(id: QuestionId): Promise<string> {
  const { question } = await at.scene.engine.read(id);
  return question.status === "pending" && question.settling ? "settling" : question.status;
}

test("the same question of several runs is listed once, and what is dangerous not at all", async () => {
  const [one, two] = [await ask({ question: "Redis or  Memcached?" }), await ask({ question: "redis or memcached" })];
  await ask({ question: "Drop the table?", risk: "high" });
  const html = await open();
  expect(html).toContain(`value="${[one, two].sort().join(" ")}"`);
  expect(html).toContain("2 runs:");
  expect(html.match(/type="checkbox" name="q"/g)).toHaveLength(1);
});

test("nothing is answered before it is confirmed; then each is, or says why not, and nothing is lost", async () => {
  const [one, two, closed, other] = [
    await ask(),
    await ask(),
    await ask(),
    await ask({ options: ["A", "B"], allow_text: false }),
  ];
  const risky = await ask({ question: "Drop the table?", risk: "high" });
  await at.scene.engine.answer(closed, said("1"), ADA);
  const fields = [
    ...[`${one} ${two}`, closed, risky, other].map((value) => ["q", value] as const),
    ...([
      ["said", "Memcached"],
      ["note", "two nodes"],
    ] as const),
  ];
  const checked = await post("/batch/check", fields);
  expect(checked.html).toContain("Answer 2 with “Memcached”");
  expect(checked.html).toContain("cannot be answered in a batch");
  expect(await Promise.all([one, two, risky, other].map(state))).toEqual(Array(4).fill("pending"));
  const { html } = await post("/batch", fields);
  expect(html).toContain("2 answered, 3 not");
  expect(html).toContain("two nodes");
  expect(await Promise.all([one, two, risky, other].map(state))).toEqual([
    "settling",
    "settling",
    "pending",
    "pending",
  ]);
  expect((await at.scene.engine.read(closed)).question).toMatchObject({ answer: { by: { id: "ada" } } });
});

test("options are numbered as on a card, and where there is only words to give there is nothing to choose", async () => {
  const id = await ask();
  expect(await open()).toContain("1 Redis, 2 Memcached");
  expect(await open()).not.toContain('value="own"');
  const edit = await post("/batch/edit", [["q", id]]);
  expect(edit.html).toMatch(/value="o:Redis"[^]*value="own"/);
});

test("a reason that several have is told once", async () => {
  const one = await ask();
  const ids = [await ask({ question: "Drop it?", risk: "high" }), await ask({ question: "Drop all?", risk: "high" })];
  const { html } = await post("/batch/check", [
    ["q", `${one} ${ids.join(" ")}`],
    ["said", "Memcached"],
  ]);
  for (const id of ids) expect(html).toContain(`href="/q/${id}"`);
  expect(html.slice(html.indexOf("<main")).match(/cannot be answered in a batch/g)).toHaveLength(1);
});

test("a canned answer is filled for each", async () => {
  const id = await ask();
  await at.scene.engine.putTemplate({ name: "redis", choose: ["Redis"], text: "As everywhere." }, ADA);
  await post("/batch", [
    ["q", id],
    ["as", "t:redis"],
  ]);
  expect((await at.scene.engine.read(id)).question).toMatchObject({
    settling: { answer: { note: "As everywhere.", template: "redis" } },
  });
  expect((await post("/batch/check", [["q", id]])).status).toBe(422);
});

test("an option that all have is chosen by its name, whatever its letter is in each", async () => {
  const [one, two] = [await ask({ options: ["Yes", "No"] }), await ask({ question: "Next?", options: ["No", "Yes"] })];
  const fields = [
    ["q", one],
    ["q", two],
    ["as", "o:Yes"],
  ] as const;
  const edit = await post("/batch/edit", fields);
  expect(edit.html).toContain('value="o:Yes" checked');
  expect(edit.html.match(/name="q" value="[^"]+" checked/g)).toHaveLength(2);
  await post("/batch", fields);
  for (const [id, value] of [
    [one, "Yes"],
    [two, "Yes"],
  ] as const) {
    const { question } = await at.scene.engine.read(id);
    expect(Object.values((question.status === "pending" && question.settling?.answer.items) || {})).toMatchObject([
      { values: [value] },
    ]);
  }
});

test("where the options differ the form says what can be done", async () => {
  const one = await ask({ options: ["Yes", "No"] });
  const two = await ask({ question: "Which one?", options: ["Apple", "Pear"] });
  const three = await ask({ question: "Which other?", options: ["Plum", "Fig"], allow_text: false });
  const select = (...ids: string[]) =>
    post(
      "/batch/edit",
      ids.map((id) => ["q", id] as const),
    );
  expect((await select(one, two)).html).toContain("Write one answer that fits all");
  expect((await select(one, three)).html).toContain("and 1 of them accepts nothing else");
  expect((await select(one)).html).not.toContain("options differ");
});

test("the script gets the part that it shows in the bar, and all of it is taken back at once", async () => {
  const [one, two] = [await ask(), await ask()];
  const fields = [
    ["q", `${one} ${two}`],
    ["as", "o:Redis"],
    ["note", "as always"],
  ] as const;
  const script = { "x-askd": "1" };
  const bar = await post("/batch/edit", fields, script);
  expect(bar.html).not.toContain("<main");
  expect(bar.html).toContain("1 selected, 2 runs");
  const done = await post("/batch", fields, script);
  expect(done.html).toContain("2 answered");
  expect(done.html).toContain("Undo all");
  expect(await Promise.all([one, two].map(state))).toEqual(["settling", "settling"]);
  const undone = await post("/batch/undo", fields);
  expect(undone.html).toContain("2 undone");
  expect(undone.html).toContain("as always");
  expect(await Promise.all([one, two].map(state))).toEqual(["pending", "pending"]);
  expect((await post("/batch/undo", fields)).html).toContain("0 undone");
});

test("the inbox has one row with one box for those that ask the same, and none for what is cannot be answered in a batch", async () => {
  const ids = [await ask(), await ask()];
  await ask({ question: "Drop the table?", risk: "high" });
  const { body } = await at.send("GET", "/", { headers: { cookie, accept: "text/html" } });
  const html = String(body["text"]);
  expect(html.match(/type="checkbox" form="batch"/g)).toHaveLength(1);
  expect(html).toContain(`value="${ids.toSorted().join(" ")}"`);
  expect(html).toContain("2 runs");
});

test("of many others that ask the same the card names three, and says how many more there are", async () => {
  const ids = [await ask(), await ask(), await ask(), await ask()];
  const names = async (): Promise<string> => {
    const { body } = await at.send("GET", `/q/${ids[0]}`, { headers: { cookie, accept: "text/html" } });
    return /Also answer [^<]*/.exec(String(body["text"]))?.[0] ?? "";
  };
  expect((await names()).match(/#\d+/g)).toHaveLength(3);
  expect(await names()).not.toContain("more");
  await ask();
  expect(await names()).toMatch(/^Also answer 4 other runs[^:]*: (#\d+ [\w-]+(, )?){3} and 1 more$/);
  await ask();
  expect(await names()).toMatch(/^Also answer 5 other runs[^]* and 2 more$/);
});

test("an answer is given to the others that ask the same, if that is ticked on the card", async () => {
  const [one, two, other] = [await ask(), await ask(), await ask({ question: "Something else?" })];
  const { body } = await at.send("GET", `/q/${one}`, { headers: { cookie, accept: "text/html" } });
  expect(String(body["text"])).toContain(`name="batch" value="${two}"`);
  const { html } = await post(`/q/${one}/answer`, [
    ["do", "answer"],
    ["i.0", "1"],
    ["batch", `${two} ${other}`],
  ]);
  expect(html).toContain("2 answered, 1 not");
  expect(await Promise.all([one, two, other].map(state))).toEqual(["settling", "settling", "pending"]);
});
