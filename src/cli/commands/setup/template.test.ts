import { expect, test } from "vitest";
import { Scene } from "../../../../test/scene.ts";
import { type } from "../../../../test/typed.ts";

const ASK = ["ask", "Redis or Memcached?", "-o", "redis:Redis", "-o", "memcached:Memcached"];

test("a template is added, listed, shown, changed and removed", async () => {
  const scene = new Scene();
  expect((await type(scene, ["template"])).stdout).toContain("No templates yet");
  const added = await type(scene, ["template", "add", "tests", "Yes, and test {{run.name}} first"]);
  expect(added.stdout).toBe("✓ Template tests added; use it: askd answer <id> -t tests\n");
  await type(scene, ["template", "add", "cache", "-c", "redis", "-m", "we run it", "--repo", "acme/*"]);
  expect((await type(scene, ["template", "list"])).stdout).toBe(
    "cache  chooses redis: we run it (in acme/*)\ntests  Yes, and test {{run.name}} first\n",
  );
  await type(scene, ["template", "add", "tests", "Yes"], { user: "lena" });
  expect((await type(scene, ["template", "show", "tests"])).stdout).toBe(
    "Template: tests\nText: Yes\nadded by ada (cli) 2026-01-01 12:00:00\nchanged by lena (cli) 2026-01-01 12:00:00\n",
  );
  expect((await type(scene, ["template", "remove", "tests"])).stdout).toBe("✓ Template tests removed\n");
  expect(await type(scene, ["template", "show", "tests"])).toMatchObject({
    exit: 5,
    stderr: 'error: There is no template "tests"\n  See all: askd template list\n',
  });
  const { stdout } = await type(scene, ["template", "list", "--json=name,choose,match"]);
  expect(JSON.parse(stdout)).toEqual([{ name: "cache", choose: ["redis"], match: { repo: "acme/*", label: null } }]);
});

test.each([
  [["template", "add", "x", "{{nope}}"], "There is no field {{nope}}"],
  [["template", "add", "Not A Name", "x"], "The template is not valid"],
  [["template", "add", "x"], "A template needs a text or a choice"],
  [["template", "add"], "A name is missing"],
  [["template", "burn"], `There is no "askd template burn"`],
])("%j is refused", async (argv, problem) => {
  expect(await type(new Scene(), argv)).toMatchObject({ exit: 2, stderr: expect.stringContaining(problem) });
});

test("an answer from a template says so in the trail, and takes a note", async () => {
  const scene = new Scene();
  await type(scene, [...ASK, "--name", "one"]);
  await type(scene, ["template", "add", "cache", "-c", "redis", "-m", "we run it"]);
  expect((await type(scene, ["answer", "one", "-t", "cache", "-m", "for {{branch}} too"])).exit).toBe(0);
  const [question] = await scene.store.listQuestions({ order: "oldest", limit: 1 });
  expect(question).toMatchObject({
    answer: { items: { 1: { values: ["redis"] } }, note: "we run it\nfor {{branch}} too", template: "cache" },
  });
  const events = await scene.engine.readChain(question!.runId);
  expect(events.find(({ event }) => event.type === "question.answered")?.event.detail).toMatchObject({
    template: "cache",
  });
});

test("a template that does not fit the question changes nothing", async () => {
  const scene = new Scene();
  await type(scene, [...ASK, "--only-options"]);
  await type(scene, ["template", "add", "branch", "on {{branch}}"]);
  expect(await type(scene, ["answer", "1", "-t", "branch"])).toMatchObject({ exit: 2 });
  expect(await type(scene, ["answer", "1", "-t", "nothing"])).toMatchObject({ exit: 5 });
  expect(await type(scene, ["answer", "1", "x", "-t", "branch"])).toMatchObject({ exit: 2 });
  expect(await scene.store.countQuestions("pending")).toBe(1);
});

test("an agent can neither add nor remove one", async () => {
  const scene = new Scene();
  const run = await scene.startedRun();
  const env = { ASKD_RUN: run.id };
  expect(await type(scene, ["template", "add", "x", "y"], { env })).toMatchObject({ exit: 7 });
  expect(await scene.engine.listTemplates()).toEqual([]);
});
