import { afterEach, beforeEach, expect, test } from "vitest";
import { ADA } from "../../../test/builders.ts";
import { PageVisit } from "../../../test/page-visit.ts";
import { said } from "../../../test/scene.ts";

let visit: PageVisit;
beforeEach(async () => {
  visit = await PageVisit.start();
});
afterEach(() => visit.stop());

const list = () => visit.at.scene.engine.listTemplates();

test("templates are added, changed and removed, each by a form", async () => {
  expect((await visit.open("/templates")).html).toContain("There are no templates yet.");
  await visit.post("/templates", {
    name: "use-redis",
    choose: "Redis\r\n\r\n",
    text: "as in {{repo}}",
    repo: "acme/*",
  });
  expect(await list()).toMatchObject([{ name: "use-redis", choose: ["Redis"], match: { repo: "acme/*" } }]);
  const edit = (await visit.open("/templates?edit=use-redis")).html;
  expect(edit).toContain('value="use-redis"');
  await visit.post("/templates", { name: "use-redis", text: "Redis" });
  expect(await list()).toMatchObject([{ name: "use-redis", text: "Redis" }]);
  expect((await visit.post("/templates/use-redis/remove", {})).location).toBe("/templates");
  expect(await list()).toEqual([]);
});

test("what cannot be kept comes back with its words and why", async () => {
  const unknown = await visit.post("/templates", { name: "odd", text: "{{secret}} <b>" });
  expect([unknown.status, unknown.html.includes("There is no field {{secret}}")]).toEqual([400, true]);
  expect(unknown.html).toContain("{{secret}} &lt;b&gt;");
  expect((await visit.post("/templates", { name: "Not a name!" })).status).toBe(400);
  expect((await visit.post("/templates", { name: "empty" })).html).toContain("needs a text or a choice");
});

test("a template is tried on a question, and nothing is answered", async () => {
  const { question } = await visit.at.scene.ask();
  await visit.post("/templates", { name: "use-redis", choose: "Redis", text: "in {{run.name}}" });
  await visit.post("/templates", { name: "of-a-repo", text: "{{repo}}" });
  const { html } = await visit.open(`/templates?try=use-redis&on=${question.id}`);
  expect(html).toMatch(/use-redis answers “Redis or Memcached\?” with:[^]*<b>Redis<\/b>[^]*Note: in /);
  const cannot = (await visit.open(`/templates?try=of-a-repo&on=${question.id}`)).html;
  expect(cannot).toContain("needs {{repo}}, which this question does not have");
  expect((await visit.at.scene.engine.read(question.id)).question.status).toBe("pending");
});

test("an answer that was given is kept for questions like it by one click from its card", async () => {
  const { engine } = visit.at.scene;
  const { question } = await visit.at.scene.ask();
  await engine.answer(question.id, { ...said("Redis"), note: "as everywhere" }, ADA);
  expect((await visit.open(`/q/${question.id}`)).html).toContain(`href="/templates?from=${question.id}#form"`);
  const { html } = await visit.open(`/templates?from=${question.id}`);
  expect(html).toContain('value="redis-or-memcached"');
  expect(html).toMatch(/name="choose"[^>]*>Redis</);
  expect(html).toContain("as everywhere");
});
