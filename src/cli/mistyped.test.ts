import { describe, expect, test } from "vitest";
import { AGENT } from "../../test/builders.ts";
import { fixedScene } from "../../test/everyday.ts";
import type { Scene } from "../../test/scene.ts";
import { type } from "../../test/typed.ts";

/** One question that waits, as run #1. */
async function asking(ask: object): Promise<Scene> {
  const scene = fixedScene();
  const run = await scene.startedRun({ name: "fruit" });
  await scene.engine.ask(scene.input({ question: "Which?", ...ask }), AGENT, { runId: run.id });
  return scene;
}

const FRUIT = {
  options: [
    { value: "a", label: "Apple" },
    { value: "b", label: "Pear" },
  ],
};

describe("an answer", () => {
  test.each([
    [["1", "-c", "b"], "an answer and --choose exclude each other"],
    [["1", "--decide"], "an answer and --decide exclude each other"],
    [["--decide", "--clarify", "why?"], "--decide and --clarify exclude each other"],
    [["-F", "-", "-e"], "--file and --edit exclude each other"],
  ])("said in two ways, %j, is not guessed at", async (words, problem) => {
    const scene = await asking(FRUIT);
    const typed = await type(scene, ["answer", "1", ...words]);
    expect(typed).toMatchObject({ exit: 2, stderr: expect.stringContaining(`error: ${problem}\n  Give one of them`) });
    expect((await type(scene, ["check", "1"])).exit).toBe(8);
  });

  test("by a number that no option has is refused, unless it is said to be the answer", async () => {
    const scene = await asking(FRUIT);
    const typed = await type(scene, ["answer", "1", "9"]);
    expect(typed).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("There is no option 9; choose 1 Apple, 2 Pear"),
    });
    expect((await type(scene, ["answer", "1", "-m", "9"])).stdout).toContain(": 9\n");
  });

  test("by a number is free where the options are numbers themselves", async () => {
    const scene = await asking({ options: [{ label: "2 workers" }, { label: "4 workers" }] });
    expect((await type(scene, ["answer", "1", "16"])).stdout).toContain(": 16\n");
  });

  test("in the very words of one option means that one", async () => {
    const scene = await asking({
      options: [
        { value: "x", label: "Apple" },
        { value: "y", label: "apple" },
      ],
    });
    expect((await type(scene, ["answer", "1", "apple"])).exit).toBe(0);
    expect((await type(scene, ["check", "1", "--jq", ".answer"])).stdout).toBe("y\n");
  });

  test.each([
    ["ENOENT", 5, "There is no file notes.md"],
    ["EISDIR", 2, "notes.md is a folder"],
    ["EACCES", 2, "notes.md cannot be read: permission denied"],
  ])("from a file that cannot be read (%s) says so", async (code, exit, problem) => {
    const scene = await asking(FRUIT);
    const readFile = () => Promise.reject(Object.assign(new Error(code), { code }));
    const typed = await type(scene, ["answer", "1", "-F", "notes.md"], { readFile });
    expect(typed).toMatchObject({ exit, stderr: `error: ${problem}\n  Name a file, or - for stdin\n` });
  });

  test("of high risk can be looked at without a confirmation, and none is put into anybody's mouth", async () => {
    const scene = await asking({ ...FRUIT, risk: "high" });
    expect((await type(scene, ["answer", "1", "1", "--dry-run"])).stdout).toContain("Apple");
    expect((await type(scene, ["answer", "1", "1"])).exit).toBe(2);
    expect((await type(scene, ["status"])).stdout).toMatch(/Run: askd answer q-\w+ "your response"/);
  });
});

describe("a question", () => {
  test.each([
    [["x", "--on-timeout", "nope"], "--on-timeout takes wait, proceed, skip, default, escalate, fail, defer"],
    [["x", "--risk", "huge"], "risk: use low, medium, high"],
    [[" "], "There is no question"],
    [["--input", "gone.json"], "There is no file gone.json"],
  ])("%j says what is wrong", async (words, problem) => {
    const readFile = () => Promise.reject(Object.assign(new Error("gone"), { code: "ENOENT" }));
    expect((await type(fixedScene(), ["ask", ...words], { readFile })).stderr).toContain(problem);
  });

  test("that is cancelled without a reason does not repeat itself", async () => {
    const scene = await asking(FRUIT);
    await type(scene, ["cancel", "1"]);
    expect((await type(scene, ["show", "1"])).stdout).toContain("Status: cancelled (no reason given)\n");
  });
});

test.each([
  [["show"], "<id> is missing"],
  [["import"], "<file> is missing"],
  [["completion"], "The name of a shell is missing"],
  [["list", "--awaiting", "--state", "answered"], "--awaiting and --state exclude each other"],
])("%j names what is wrong with it", async (argv, problem) => {
  expect(await type(fixedScene(), argv)).toMatchObject({ exit: 2, stderr: expect.stringContaining(problem) });
});

test("a store without tokens says how to make one", async () => {
  expect((await type(fixedScene(), ["token", "list"])).stdout).toContain(
    "No tokens yet. Create one: askd token create",
  );
});

test("a folder that is not there is named, and nothing is made of it", async () => {
  expect(await type(fixedScene(), ["-C", "/not/there", "status"])).toEqual({
    exit: 2,
    stdout: "",
    stderr: "error: There is no folder /not/there\n  Name an existing folder: -C <dir>\n",
  });
});
