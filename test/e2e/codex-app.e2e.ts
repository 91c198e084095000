import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { codexApp } from "../../src/agents/codex/app-server.ts";
import type { Run } from "../../src/core/run/run.ts";
import { AGENTS } from "./agent.ts";
import { programFile } from "./install.ts";
import { Stage, promptOf } from "./stage.ts";

const CACHE = {
  id: "cache",
  header: "Cache",
  question: "Which cache should I use?",
  options: [
    { label: "Redis (Recommended)", description: "pub/sub" },
    { label: "Memcached", description: "simple" },
  ],
};
const native = (...questions: object[]) => ({ call: "request_user_input", input: { questions } });
const ours = (question: string) => ({ call: "ask_human", input: { question, options: ["Redis", "Memcached"] } });
const shell = (command: string) => ({
  call: "exec_command",
  input: { cmd: command, sandbox_permissions: "require_escalated", justification: "It writes a file." },
});
const FINAL = { say: "Final: {{history}}" };

let stage: Stage;
beforeEach(() => {
  stage = new Stage();
});
afterEach(() => stage.close());

interface Over {
  /** Started by the agent's name, not by a command line. */
  isNamed?: boolean;
  program?: string;
  args?: readonly string[];
}

interface Started {
  number: number;
  dir: string;
  /** What the first start of a run has printed. */
  log(runId: string): string;
}

/** Has askd run Codex by its app-server in the background. */
async function run(window: string, steps: readonly object[], over: Over = {}): Promise<Started> {
  const { box, env } = await stage.box((at) => AGENTS.codex(at, { kind: "none" }, "").env);
  await stage.work();
  const { program = programFile("codex"), args = [] } = over;
  const command = [program, "exec", "--skip-git-repo-check", ...args, promptOf(steps)];
  const typed = ["run", "--live-window", window];
  const path = `${dirname(program)}${delimiter}${env["PATH"]}`;
  const number = over.isNamed
    ? await stage.typeIn(box.dir, { ...env, PATH: path }, ...typed, "--agent", "codex-app", promptOf(steps))
    : await stage.typeIn(box.dir, { ...env, ASKD_CODEX: "app-server" }, ...typed, "--", ...command);
  return {
    number: Number(number),
    dir: box.dir,
    log: (id) => readFileSync(join(stage.askdHome, "state", "runs", id, "1.out"), "utf8"),
  };
}

async function until(number: number, status: string) {
  const engine = await stage.engine();
  return stage.until(`#${number} is ${status}`, async () => {
    const { runs } = await engine.lookUp({ by: "number", number }, 1);
    const [found] = runs;
    if (found?.status === "failed" && status !== "failed")
      throw new Error(`#${number} failed: ${JSON.stringify([found.reason, found.result])}`);
    return found?.status === status ? found : undefined;
  });
}

function commandOf(pid: number): string {
  return existsSync(`/proc/${pid}/cmdline`) ? readFileSync(`/proc/${pid}/cmdline`, "utf8") : "";
}

async function questionOf({ lastQuestionId }: Run) {
  return (await (await stage.engine()).read(lastQuestionId!)).question;
}

describe("Codex's own question tool", () => {
  test("gets a live answer as the genuine result of its call", async () => {
    const { number, dir } = await run("60s", [native(CACHE), FINAL]);
    await stage.waiting();
    await stage.type("answer", String(number), "1", "-m", "use db 3");
    const done = await until(number, "completed");
    const [result] = stage.results();
    expect(JSON.parse(result ?? "")).toEqual({
      answers: {
        cache: {
          answers: [
            "Redis (Recommended)",
            'user_note: Note: "use db 3"',
            expect.stringMatching(/^user_note: Question q_/),
          ],
        },
      },
    });
    const question = await questionOf(done);
    expect(question).toMatchObject({ status: "answered", handover: { state: "given" } });
    expect(done).toMatchObject({ agent: "codex-app", epoch: 1 });
    const answerId = "answer" in question ? (question.answer?.id ?? "") : "";
    const evidence = { session: done.session ?? "", dir, env: { HOME: join(stage.root, "home") }, callId: undefined };
    expect(await codexApp.witness({ ...evidence, answerId })).toBe("given");
  });

  test("is parked when nobody answers, and its thread is resumed with the answer", async () => {
    const { number } = await run("1s", [native(CACHE), FINAL]);
    const parked = await until(number, "awaiting_input");
    expect(await stage.processesOf(parked.id)).toEqual([]);
    await stage.type("answer", String(number), "Memcached", "-m", "keep it small");
    const done = await until(number, "completed");
    expect(done.session).toBe(parked.session);
    expect(stage.told()).toMatch(/Memcached/);
    expect(stage.told()).toMatch(/keep it small/);
    const question = await questionOf(done);
    expect(question).toMatchObject({ status: "answered", handover: { state: "given", witness: "transcript" } });
    expect(stage.timesTold("answer" in question ? question.answer?.id : undefined)).toBe(1);
  });

  test("is not lost when Codex dies while it waits", async () => {
    const { number } = await run("60s", [native(CACHE), FINAL]);
    const { runId } = await stage.waiting();
    const servers = (await stage.processesOf(runId)).filter(({ pid }) => commandOf(pid).includes("app-server"));
    for (const { pid } of servers) process.kill(pid, "SIGKILL");
    await until(number, "awaiting_input");
    await stage.type("answer", String(number), "Memcached");
    await until(number, "completed");
    expect(stage.told()).toMatch(/Memcached/);
  });

  test("is asked beside ours in one run", async () => {
    const { number } = await run("60s", [native(CACHE), ours("TTL or LRU?"), FINAL]);
    await stage.waiting();
    await stage.type("answer", String(number), "1");
    await stage.until("the second question", async () => {
      const question = await stage.waiting();
      return question.title.includes("TTL") ? question : undefined;
    });
    await stage.type("answer", String(number), "Redis");
    await until(number, "completed");
    expect(stage.results()).toEqual([expect.stringMatching(/user_note/), expect.stringMatching(/Redis/)]);
  });

  test("is told why a question is refused", async () => {
    const secret = { id: "key", header: "Key", question: "Which key?", isSecret: true, options: CACHE.options };
    const { number } = await run("60s", [native(secret), FINAL], { isNamed: true });
    await until(number, "completed");
    expect(stage.results()).toEqual([expect.stringMatching(/user_note: .*secret/i)]);
  });
});

describe("Leave to run a command", () => {
  const write = shell("echo done > made.txt");

  test("is refused when a person says no", async () => {
    const { number, dir } = await run("60s", [write, FINAL]);
    await stage.waiting();
    await stage.type("answer", String(number), "deny");
    await until(number, "completed");
    expect(existsSync(join(dir, "made.txt"))).toBe(false);
    expect(stage.results()).toEqual([expect.stringMatching(/rejected/)]);
  });

  test("that was given while it was parked is there for its next try, once", async () => {
    const { number, dir } = await run("1s", [write, write, write, FINAL]);
    await until(number, "awaiting_input");
    await stage.type("answer", String(number), "allow");
    await stage.until("it asks again", async () => {
      const { runs } = await (await stage.engine()).lookUp({ by: "number", number }, 1);
      return runs[0]?.asked === 2 ? runs[0] : undefined;
    });
    expect(readFileSync(join(dir, "made.txt"), "utf8")).toBe("done\n");
    await until(number, "awaiting_input");
    await stage.type("answer", (await stage.waiting()).id, "deny");
    await until(number, "completed");
  });
});

describe("What else it asks its client", () => {
  test("a change of files is shown to a person", async () => {
    const patch = "apply_patch <<EOF\n*** Begin Patch\n*** Add File: made.txt\n+hi\n*** End Patch\nEOF";
    const { number, dir } = await run("60s", [{ call: "exec_command", input: { cmd: patch } }, FINAL]);
    const { content } = await (await stage.engine()).read((await stage.waiting()).id);
    expect(content.context).toMatch(/made\.txt/);
    await stage.type("answer", String(number), "allow");
    await until(number, "completed");
    expect(readFileSync(join(dir, "made.txt"), "utf8")).toBe("hi\n");
  });

  const formed = () => {
    const server = `mcp_servers.forms={command="${process.execPath}",args=["${resolve("test", "agents", "form-server.mjs")}"]}`;
    return { args: ["-c", server] };
  };

  test("a form of an MCP server is filled in", async () => {
    const { number } = await run("60s", [{ call: "pick_color", input: {} }, FINAL], formed());
    await stage.waiting();
    await stage.type("answer", String(number), "blue");
    const done = await until(number, "completed");
    expect(stage.results()).toEqual([expect.stringMatching(/"accept".*blue/)]);
    expect(await questionOf(done)).toMatchObject({ handover: { state: "given", witness: "stream" } });
    expect(done.epoch).toBe(1);
  });

  test("a form that nobody fills in is cancelled, and the run goes on", async () => {
    const { number } = await run("1s", [{ call: "pick_color", input: {} }, FINAL], formed());
    const done = await until(number, "completed");
    expect(stage.results()).toEqual([expect.stringMatching(/"cancel"/)]);
    expect(await questionOf(done)).toMatchObject({ status: "cancelled" });
  });
});

describe("Without an app-server", () => {
  test("Codex is run by exec, and its log says so", async () => {
    const program = join(stage.root, "codex");
    const refusing = `case "$1" in app-server) echo no server here >&2; exit 2;; esac`;
    writeFileSync(program, `#!/bin/sh\n${refusing}\nexec "${programFile("codex")}" "$@"\n`, { mode: 0o755 });
    const { number, log } = await run("60s", [ours("Redis or Memcached?"), FINAL], { program });
    await stage.waiting();
    await stage.type("answer", String(number), "Memcached");
    const done = await until(number, "completed");
    expect(stage.results()).toEqual([expect.stringMatching(/Memcached/)]);
    expect(log(done.id)).toMatch(/cannot be used .*codex exec is started instead/);
  });
});
