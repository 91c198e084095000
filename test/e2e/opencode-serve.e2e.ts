import { chmodSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { AGENTS, write } from "./agent.ts";
import { programFile } from "./install.ts";
import { Stage, promptOf } from "./stage.ts";

const CACHE = {
  question: "Which cache should I use?",
  header: "Cache",
  options: [
    { label: "Redis (Recommended)", description: "pub/sub" },
    { label: "Memcached", description: "simple" },
  ],
};
const EXTRAS = {
  question: "Which extras?",
  header: "Extras",
  multiple: true,
  options: ["TLS", "Metrics", "Tracing"].map((label) => ({ label, description: label })),
};
const FINAL = { say: "Final: {{history}}" };
const native = (...questions: object[]) => ({ call: "question", input: { questions } });

/** A start of its server takes seconds, on a busy machine many. */
const LONG_MS = 240_000;
vi.setConfig({ testTimeout: LONG_MS });

let stage: Stage;
beforeEach(() => {
  stage = new Stage();
});
afterEach(() => stage.close());

interface Wanted {
  hold: string;
  program?: string;
}

/** Has askd run OpenCode by its server, in the background. */
async function run(steps: readonly object[], { hold, program = programFile("opencode") }: Wanted) {
  const { box, env } = await stage.box((at) => AGENTS.opencode(at, { kind: "none" }, "").env);
  await stage.work();
  const args = ["run", "--live-window", hold, "--", program, "run", promptOf(steps)];
  const number = Number(await stage.typeIn(box.dir, { ...env, ASKD_OPENCODE: "serve" }, ...args));
  return { number, box };
}

async function until(number: number, status: string) {
  const engine = await stage.engine();
  const look = async () => {
    const [found] = (await engine.lookUp({ by: "number", number }, 1)).runs;
    if (found?.status === "failed" && status !== "failed")
      throw new Error(`#${number} failed: ${JSON.stringify([found.reason, found.result])}`);
    return found?.status === status ? found : undefined;
  };
  return stage.until(`#${number} is ${status}`, look, LONG_MS / 2);
}

const logOf = (runId: string, epoch: number, kind: "out" | "err") =>
  readFileSync(join(stage.askdHome, "state", "runs", runId, `${epoch}.${kind}`), "utf8");

test("a person's answers are the genuine result of its own question tool", async () => {
  const { number } = await run([native(CACHE, EXTRAS), FINAL], { hold: "60s" });
  await stage.waiting();
  await stage.type("answer", String(number), "-c", "Cache=1", "-c", "Extras=TLS,Tracing", "-m", "keep it small");
  const done = await until(number, "completed");
  expect(stage.results()).toEqual([
    expect.stringMatching(
      /"Which cache should I use\?"="Redis \(Recommended\), .*keep it small.*"Which extras\?"="TLS, Tracing"/s,
    ),
  ]);
  const { question } = await (await stage.engine()).read(done.lastQuestionId!);
  expect(question).toMatchObject({ status: "answered", handover: { state: "given" } });
  expect(done.epoch).toBe(1);
  expect(await stage.processesOf(done.id)).toEqual([]);
});

test("what nobody answers in time is parked, and resumed with the answer", async () => {
  const { number } = await run([native(CACHE), FINAL], { hold: "1s" });
  const parked = await until(number, "awaiting_input");
  expect(parked.session).toMatch(/^ses_/);
  expect(await stage.processesOf(parked.id)).toEqual([]);
  await stage.type("answer", String(number), "Neither, use files");
  const done = await until(number, "completed");
  expect(done).toMatchObject({ epoch: 2, session: parked.session });
  expect(stage.told()).toMatch(/Neither, use files/);
  const { question } = await (await stage.engine()).read(done.lastQuestionId!);
  expect(question).toMatchObject({ status: "answered", handover: { state: "given", witness: "transcript" } });
  expect(stage.timesTold("answer" in question ? question.answer?.id : undefined)).toBe(1);
});

test("a server that does not come up is done without", async () => {
  const program = join(stage.root, "bin", "opencode");
  mkdirSync(join(stage.root, "bin"));
  write(program, `#!/bin/sh\n[ "$1" = serve ] && exit 3\nexec ${programFile("opencode")} "$@"\n`);
  chmodSync(program, 0o755);
  const { number } = await run([{ say: "Nothing to ask." }], { hold: "1s", program });
  const done = await until(number, "completed");
  expect(logOf(done.id, 1, "err")).toContain("it ended with exit code 3");
  expect(logOf(done.id, 1, "out")).toContain("Nothing to ask.");
});
