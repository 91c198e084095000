import { expect, test } from "vitest";
import { AGENT } from "../../../../test/builders.ts";
import { LENA, fixedScene } from "../../../../test/everyday.ts";
import { type Scene, said } from "../../../../test/scene.ts";
import { type } from "../../../../test/typed.ts";
import { HOUR_MS, MINUTE_MS } from "../../../core/instant.ts";

/** Five questions: of two repositories and agents, with labels, priorities and deadlines of their own. */
async function busy(): Promise<Scene> {
  const scene = fixedScene();
  const asks = [
    { name: "one", agent: "claude", repo: "acme/api", labels: ["night"], priority: 3, timeout: "9h" },
    { name: "two", agent: "codex", repo: "acme/web", labels: ["night", "api"], priority: 1, timeout: "5h" },
    { name: "three", agent: "claude", repo: "other/api", labels: [], priority: 2, timeout: "7h" },
    { name: "four", agent: "claude", labels: ["api"], priority: 1, timeout: "8h" },
    { name: "five", agent: "gemini", repo: "acme/api", labels: [], priority: 0, timeout: "6h" },
  ];
  for (const { timeout, ...over } of asks) {
    const run = await scene.startedRun(over);
    await scene.engine.ask(scene.input({ question: `Number ${over.name}?`, timeout }), AGENT, { runId: run.id });
    await scene.pass(HOUR_MS);
  }
  return scene;
}

async function names(scene: Scene, ...more: string[]): Promise<string[]> {
  const { stdout, stderr } = await type(scene, ["list", "--json=run_name", ...more]);
  if (stdout === "") throw new Error(stderr);
  const found: Array<{ run_name: string }> = JSON.parse(stdout);
  return found.map((each) => each.run_name);
}

test.each([
  [[], ["five", "four", "three", "two", "one"]],
  [
    ["--sort", "oldest"],
    ["one", "two", "three", "four", "five"],
  ],
  [["--awaiting"], ["one", "two", "three", "four", "five"]],
  [
    ["--awaiting", "--sort", "newest", "--limit", "2"],
    ["five", "four"],
  ],
  [
    ["--sort", "due"],
    ["two", "one", "three", "five", "four"],
  ],
  [
    ["--sort", "priority"],
    ["five", "two", "four", "three", "one"],
  ],
  [
    ["--agent", "claude"],
    ["four", "three", "one"],
  ],
  [
    ["--repo", "acme/api"],
    ["five", "one"],
  ],
  [
    ["--repo", "acme/*"],
    ["five", "two", "one"],
  ],
  [
    ["--repo", "ACME/*"],
    ["five", "two", "one"],
  ],
  [["--label", "night", "--label", "api"], ["two"]],
  [
    ["--since", "150m"],
    ["five", "four"],
  ],
  [["--since", "15:30"], ["five"]],
  [["--since", "2026-01-02"], []],
  [
    ["--since", "2026-01-01T14:00:00Z", "--agent", "claude"],
    ["four", "three"],
  ],
  [["--run", "#2"], ["two"]],
  [["--state", "pending", "--limit", "1"], ["five"]],
  [["--after", "two"], ["one"]],
  [["--sort", "oldest", "--after", "q-4h8d"], ["five"]],
])("list %j finds %j", async (argv, found) => {
  const scene = await busy();
  expect(await names(scene, ...argv)).toEqual(found);
});

test("what is mine is what I claimed, and what is for me or my group while nobody else has it", async () => {
  const scene = await busy();
  await type(scene, ["user", "add", "ada", "--group", "ops"]);
  await type(scene, ["user", "add", "lena"]);
  await type(scene, ["claim", "one"]);
  await type(scene, ["assign", "two", "@ops"]);
  await type(scene, ["assign", "three", "lena"]);
  await type(scene, ["assign", "four", "ada", "lena"]);
  expect(await names(scene, "--mine")).toEqual(["four", "two", "one"]);
  const { questions } = await scene.store.lookUp({ by: "short", text: "4h8d" }, 1);
  await scene.engine.claim(questions[0]!.id, LENA);
  expect(await names(scene, "--mine")).toEqual(["two", "one"]);
});

test("a list goes on page by page until its end", async () => {
  const scene = await busy();
  const first = await type(scene, ["list", "--limit", "2"]);
  expect(first.stderr).toBe("There are more. See them with the same command and --after q-4h8d\n");
  expect(await names(scene, "--limit", "2", "--after", "q-4h8d")).toEqual(["three", "two"]);
  expect((await type(scene, ["list", "--limit", "2", "--after", "q-9m2x"])).stderr).toBe("");
  expect((await type(scene, ["list", "--sort", "due", "--limit", "2"])).stderr).toContain("--limit 4");
});

test("the state of a question narrows the list, also by the name that others use", async () => {
  const scene = await busy();
  const { questions } = await scene.store.lookUp({ by: "short", text: "5c1a" }, 1);
  await scene.engine.answer(questions[0]!.id, said("Redis"), LENA);
  await scene.pass(5 * HOUR_MS + MINUTE_MS);
  expect(await names(scene, "--state", "answered")).toEqual(["three"]);
  expect(await names(scene, "--state", "expired")).toEqual(["five", "two", "one"]);
});

test.each([
  [["list", "--sort", "size"], 'There is no order "size"'],
  [["list", "--state", "asleep"], 'There is no state "asleep"'],
  [["list", "--sort", "due", "--after", "two"], "--after goes with --sort newest or oldest"],
  [["list", "--limit", "0"], "--limit takes a number from 1 to 1000"],
  [["list", "everything"], 'Unexpected argument "everything"'],
])("%j is refused", async (argv, problem) => {
  const { exit, stderr } = await type(await busy(), argv);
  expect(exit).toBe(2);
  expect(stderr).toContain(problem);
});
