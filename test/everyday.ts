import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { makeRunDir } from "../src/agents/runner/run-files.ts";
import type { ProcessWorld } from "../src/cli/process.ts";
import { runEvent } from "../src/core/trail/event.ts";
import { type Ids, QuestionId, RunId, idsFrom } from "../src/core/id.ts";
import { HOUR_MS, type Instant, MINUTE_MS, instant, later, msBetween } from "../src/core/instant.ts";
import type { Actor } from "../src/core/people/actor.ts";
import { AGENT, NOON, aRun } from "./builders.ts";
import { Scene } from "./scene.ts";
import { type Typed, type } from "./typed.ts";

/** When people look: a Tuesday morning. */
export const MORNING: Instant = instant(Date.parse("2026-11-17T08:48:00.000Z"));
export const LENA: Actor = { scope: "human", id: "lena", channel: "slack", strength: "person" };

/** The parts of ids that people see, in the order of the asks. */
const SEEN = ["7k3f", "9m2x", "5c1a", "4h8d", "3p6w", "8t2r", "6v9k", "2n5j"];

/** A scene that is the same each time, down to its ids. */
export function fixedScene(): Scene {
  return new Scene({ ids: fixedIds() });
}

function fixedIds(): Ids {
  let made = 0;
  let asked = 0;
  const counting = idsFrom(
    () => Date.parse("2026-11-17T00:00:00.000Z") + (made += 1),
    (bytes) => Uint8Array.from({ length: bytes }, (_, index) => (made * 37 + index * 11) % 256),
  );
  return {
    ...counting,
    question: () => {
      const id = counting.question();
      const seen = SEEN[asked];
      asked += 1;
      return seen === undefined ? id : QuestionId.parse(`${id.slice(0, 12)}${seen}mn8pqrstvwxy`);
    },
  };
}

/** A morning at work: #41 is done, #42 asks which cache to use, #43 runs. */
export class Everyday {
  readonly scene = fixedScene();
  readonly root = mkdtempSync(join(tmpdir(), "askd-day-"));
  readonly worktree = join(this.root, ".askd/worktrees/42");
  readonly stateDir = join(this.root, "home/state");

  private constructor() {
    onTestFinished(() => rmSync(this.root, { recursive: true, force: true }));
  }

  static async begin(): Promise<Everyday> {
    const day = new Everyday();
    const { scene } = day;
    const asleep = Array.from({ length: 40 }, (_, index) =>
      aRun({
        id: RunId.parse(`r_01jcs7z0aa${String(index).padStart(16, "0")}`),
        name: `old-${index + 1}`,
        status: "completed" as const,
        createdAt: NOON,
        endedAt: NOON,
      }),
    );
    for (const run of asleep) {
      await scene.store.commit({ runs: [run], events: [runEvent(undefined, run, { now: scene.now, by: AGENT })] });
    }
    await scene.pass(msBetween(NOON, later(MORNING, -4 * HOUR_MS)));
    const deps = await scene.startedRun({ name: "update-deps" });
    await scene.pass(HOUR_MS);
    await scene.engine.endRun(deps.id, { status: "completed" }, AGENT);
    await scene.pass(HOUR_MS);
    await day.#startCaching();
    const bug = await scene.startedRun({ name: "fix-auth-bug", agent: "codex" });
    await day.use(bug.id, { turns: 5, costUsd: 0.12, inputTokens: 2_400, outputTokens: 310 });
    await scene.pass(2 * HOUR_MS);
    return day;
  }

  /** The run that asks, and what of its work is in its tree. */
  async #startCaching(): Promise<void> {
    const { scene, worktree } = this;
    this.#makeWork();
    const run = await scene.startedRun({
      name: "add-caching",
      branch: "feature/add-caching",
      session: "abc123",
      dir: worktree,
    });
    await this.use(run.id, { turns: 12, costUsd: 0.45, inputTokens: 240_000, outputTokens: 5_000 });
    const asked = {
      question: "Should I use Redis or Memcached for the caching layer?",
      context: "Both are available in the project dependencies. Redis has pub/sub and persistence.",
      options: [
        { label: "Redis (recommended)", description: "adds redis:7 and src/cache/redis_client.py" },
        { label: "Memcached", description: "no new service" },
        "Other",
      ],
      confidence: 0.62,
      timeout: "7h12m",
      on_timeout: "default",
    };
    await scene.engine.ask(scene.input(asked), AGENT, { runId: run.id });
    await scene.engine.endRun(run.id, { status: "completed" }, AGENT);
  }

  /** Types a command in the project, with files of its own. */
  type = (argv: readonly string[], over: Partial<ProcessWorld> = {}): Promise<Typed> =>
    type(this.scene, argv, { cwd: this.root, ...over, env: { ASKD_HOME: join(this.root, "home"), ...over.env } });

  async use(id: string, body: Record<string, number>): Promise<void> {
    const before = await this.scene.store.findEntry("usage", id);
    await this.scene.store.commit({ entries: [{ kind: "usage", id, version: before?.version ?? 0, body }] });
  }

  async run(number: number) {
    const { runs } = await this.scene.store.lookUp({ by: "number", number }, 1);
    return runs[0]!;
  }

  /** Writes what an agent prints in one of its starts. */
  async print(number: number, epoch: number, ...lines: Array<object | string>): Promise<string> {
    const runDir = await makeRunDir(this.stateDir, (await this.run(number)).id);
    const text = lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join("");
    appendFileSync(join(runDir, `${epoch}.out`), text);
    return runDir;
  }

  #makeWork(): void {
    const { worktree } = this;
    mkdirSync(join(worktree, "src/cache"), { recursive: true });
    const files = ["src/cache/redis_client.py", "src/cache/keys.py", "src/app.py", "README.md"];
    const write = (lines: (index: number) => number): void =>
      files.forEach((file, index) => {
        writeFileSync(
          join(worktree, file),
          Array.from({ length: lines(index) }, (_, at) => `${file} ${at + 1}\n`).join(""),
        );
      });
    git(worktree, "init", "-q");
    write((index) => (index === 3 ? 12 : 0));
    git(worktree, "add", ".");
    git(worktree, "commit", "-qm", "first");
    write((index) => [120, 50, 12, 3][index] ?? 0);
  }
}

function git(dir: string, ...args: string[]): void {
  const who = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"];
  execFileSync("git", [...who, ...args], { cwd: dir, stdio: "ignore", env: { ...process.env, ...AT } });
}

const AT = { GIT_AUTHOR_DATE: "2026-11-17T06:00:00Z", GIT_COMMITTER_DATE: "2026-11-17T06:00:00Z" };

/** Task managers' tasks, as another system names them: one asks with a deadline, one is claimed. */
export async function taskScene(): Promise<Scene> {
  const scene = fixedScene();
  await scene.pass(msBetween(NOON, later(MORNING, -2 * HOUR_MS)));
  const design = await scene.engine.createRun({ ...TASK, externalId: "tm-pay", name: "Design payment system" }, AGENT);
  const auth = await scene.startedRun({
    ...TASK,
    externalId: "tm-abc",
    name: "Implement user authentication",
    size: "medium",
    parentId: design.id,
  });
  for (const [externalId, name] of [
    ["tm-def", "Implement payment API"],
    ["tm-ghi", "Write integration tests"],
  ] as const) {
    await scene.engine.createRun({ ...TASK, externalId, name, parentId: design.id }, AGENT);
  }
  const jwt = {
    question: "Should the API use JWT tokens or session cookies?",
    context: "JWT is better for stateless APIs...",
    options: [],
    timeout: "24h",
    on_timeout: "skip",
  };
  await scene.engine.ask(scene.input(jwt), AGENT, { runId: auth.id });
  await scene.engine.endRun(auth.id, { status: "completed" }, AGENT);
  await scene.pass(90 * MINUTE_MS);
  const cloud = await scene.startedRun({
    ...TASK,
    externalId: "tm-xyz",
    name: "Configure deployment",
    size: "small",
    priority: 1,
  });
  const which = {
    question: "Which cloud provider should we use?",
    options: [],
    on_timeout: "wait",
    timeout: undefined,
  };
  const { question } = await scene.engine.ask(scene.input(which), AGENT, { runId: cloud.id });
  await scene.engine.endRun(cloud.id, { status: "completed" }, AGENT);
  await scene.engine.claim(question.id, LENA);
  await scene.pass(30 * MINUTE_MS);
  return scene;
}

const TASK = { agent: "claude", host: "here", giveBack: "worker" as const, measured: ["agent"] as const };
