import { execFile } from "node:child_process";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { expect, test, vi } from "vitest";
import { startUnwired } from "./agent.ts";
import { PROGRAMS, type ProgramName, programFile } from "./install.ts";
import { type Stage, onStage, promptOf, untilTold } from "./stage.ts";

/** Starts take many seconds on a busy machine, and several tests run at once. */
vi.setConfig({ testTimeout: 240_000 });

const NAMES = Object.keys(PROGRAMS) as ProgramName[];
const QUESTION = "Redis or Memcached?";
const OPTIONS = ["Redis", "Memcached"].map((label) => ({ label, description: label }));
const STOP = { say: "I stop here.", stop: true };
const DONE = { say: "Done." };

/** The command that opens the session in the program's own interface, as one that takes a prompt and ends. */
const WITHOUT_TERMINAL: Record<ProgramName, (line: string) => string> = {
  claude: (line) => `${line} -p "$PROMPT"`,
  codex: (line) => `${line.replace("codex resume", "codex exec --skip-git-repo-check resume")} "$PROMPT"`,
  gemini: (line) => `${line} -m gemini-2.5-pro -p "$PROMPT"`,
  opencode: (line) => `${line.replace("opencode --session", "opencode run --session")} "$PROMPT"`,
};

/** The home of somebody who has typed `askd init`, with the programs on the path and no worker in the background. */
async function wire(stage: Stage, program: ProgramName, steps: readonly object[]) {
  const { box, env } = await stage.box(() => ({}));
  // What the program needs to run here is there before, as with people.
  const start = startUnwired(program, box, promptOf(steps));
  const path = [...NAMES.map((name) => dirname(programFile(name))), env.PATH].join(":");
  const own = { ...env, ...start.env, PATH: path };
  await stage.typeIn(box.dir, own, "init", "--yes", "--client", program);
  return { box, start, env: own };
}

async function onlyQuestion(stage: Stage) {
  const [question, ...others] = await (await stage.engine()).listQuestions({ order: "oldest", limit: 9 });
  expect(others.map(({ title }) => title)).toEqual([]);
  return question!;
}

test.concurrent.for(NAMES)(
  "a session of %s is gone on with by the command that the answer prints, and the same ask finds its answer",
  (program) =>
    onStage(async (stage) => {
      const ask = { call: "ask_human", input: { question: QUESTION, timeout_seconds: 1 } };
      const { box, start, env } = await wire(stage, program, [untilTold("answer-one", ask), STOP, DONE]);
      const started = await stage.launch(() => start, env);
      const { exitCode, output } = await started.ended;
      expect(exitCode === 0 ? "it ended well" : output).toBe("it ended well");
      const { id } = await onlyQuestion(stage);

      const said = await stage.typeIn(box.dir, env, "answer", id, "answer-one");
      const line = new RegExp(`cd .* && ${program} .*`).exec(said)?.[0];
      expect(line === undefined ? said : "it says how").toBe("it says how");
      const command = WITHOUT_TERMINAL[program](line ?? "");
      // From anywhere: the line itself says where.
      await promisify(execFile)("sh", ["-c", `${command} </dev/null`], { cwd: "/", env: { ...env, PROMPT: "Go on." } });
      expect(await onlyQuestion(stage)).toMatchObject({ status: "answered", handover: { state: "given" } });
      expect(stage.timesTold("answer-one")).toBe(1);
    }),
);

test.concurrent("a headless session of claude that a person started is resumed by a worker without its environment", () =>
  onStage(async (stage) => {
    const ask = {
      call: "AskUserQuestion",
      input: { questions: [{ question: QUESTION, header: "Cache", multiSelect: false, options: OPTIONS }] },
    };
    const { box, start, env } = await wire(stage, "claude", [untilTold("answer-one", ask), DONE]);
    const argv = [...start.argv, "--permission-prompt-tool", "stdio"];
    const started = await stage.launch(() => ({ ...start, argv }), { ...env, ASKD_LIVE_WINDOW: "1s" });
    expect((await started.ended).exitCode).toBe(0);
    const { id, runId } = await onlyQuestion(stage);

    // As the background service would be: it knows its user and the way to the program, and no key.
    await stage.work({ HOME: box.home, PATH: env.PATH });
    await stage.typeIn(box.dir, env, "answer", id, "answer-one");
    const ended = await stage.until("the run has ended", async () => {
      const run = await (await stage.engine()).findRun(runId);
      return run && ["completed", "failed"].includes(run.status) ? run : undefined;
    });
    expect(ended.status === "completed" ? "it ended well" : ended).toBe("it ended well");
    expect(await onlyQuestion(stage)).toMatchObject({ status: "answered", handover: { state: "given" } });
    expect(stage.timesTold("answer-one")).toBe(1);
  }));
