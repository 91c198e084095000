import { describe, expect, test } from "vitest";
import { AGENT } from "../../test/builders.ts";
import { LENA, fixedScene } from "../../test/everyday.ts";
import { Transcript } from "../../test/golden.ts";
import { Scene, said } from "../../test/scene.ts";
import { ServedScene } from "../../test/served.ts";
import { type } from "../../test/typed.ts";
import { openEngine } from "../app.ts";
import { HOUR_MS } from "../core/instant.ts";
import type { ProcessWorld } from "./process.ts";

/** Types on a terminal, and says what it printed there. */
async function onTerminal(scene: Scene, argv: readonly string[], over: Partial<ProcessWorld> = {}) {
  const written = { stdout: "", stderr: "" };
  const to = (name: "stdout" | "stderr") => ({
    isTty: true,
    columns: 80,
    write: (text: string) => void (written[name] += text),
  });
  const { exit } = await type(scene, argv, { stdout: to("stdout"), stderr: to("stderr"), ...over });
  return { ...written, exit };
}

describe("colour", () => {
  test.each([
    ["terminal", {}, [], true],
    ["pipe", {}, [], false],
    ["terminal", { NO_COLOR: "1" }, [], false],
    ["terminal", { NO_COLOR: "" }, [], true],
    ["terminal", { CLICOLOR: "0" }, [], false],
    ["terminal", { TERM: "dumb" }, [], false],
    ["terminal", { FORCE_COLOR: "0" }, [], false],
    ["pipe", { FORCE_COLOR: "1" }, [], true],
    ["pipe", { FORCE_COLOR: "1", NO_COLOR: "1" }, [], true],
    ["pipe", { FORCE_COLOR: "1" }, ["--no-color"], false],
    ["terminal", {}, ["--no-color"], false],
    ["terminal", {}, ["--json"], false],
  ] as const)("on a %s with %j and %j is %j", async (where, env, flags, hasColour) => {
    const scene = new Scene();
    await scene.ask();
    const argv = ["status", ...flags];
    const { stdout } = await (where === "terminal" ? onTerminal(scene, argv, { env }) : type(scene, argv, { env }));
    expect(stdout.includes("\x1b[")).toBe(hasColour);
  });
});

describe("flags of every command", () => {
  test("-q leaves data and problems, and nothing else", async () => {
    const scene = fixedScene();
    await scene.ask();
    for (const argv of [
      ["claim", "1"],
      ["comment", "1", "hm"],
      ["extend", "1", "1h"],
      ["answer", "1", "1"],
    ]) {
      expect(await type(scene, [...argv, "-q"])).toEqual({ exit: 0, stdout: "", stderr: "" });
    }
    expect((await type(scene, ["answer", "1", "2", "-q"])).stderr).toContain("error: already answered by ada");
    expect((await type(scene, ["list", "-q"])).stdout).toContain("q-7k3f");
    const { stdout, stderr } = await type(scene, ["ask", "More?", "-q"]);
    expect([stdout.startsWith("q_"), stderr]).toEqual([true, ""]);
  });

  test.each([
    [["--no-input"], {}],
    [[], { ASKD_PROMPT_DISABLED: "1" }],
  ])("%j with %j never asks on the terminal", async (flags, env) => {
    const scene = fixedScene();
    await scene.ask();
    const stdin = {
      isTty: true,
      readAll: () => Promise.reject(new Error("read")),
      readLine: () => Promise.reject(new Error("asked")),
    };
    const { exit, stderr } = await onTerminal(scene, ["answer", "1", ...flags], { stdin, env });
    expect(exit).toBe(2);
    expect(stderr).toBe("error: Response cannot be empty\n  Choose 1-2, or write text\n");
  });

  test("--verbose says which store, without its password", async () => {
    const said = await type(fixedScene(), ["status", "--verbose", "--store", "postgres://ada:secret@db.example/askd"]);
    expect(said.stderr).toBe("store: postgres://ada@db.example/askd\n");
    expect((await type(fixedScene(), ["status", "--verbose"])).stderr).toMatch(/^store: sqlite:\/.*askd\.db\n$/);
  });

  test("ASKD_DEBUG=api tells of every call to a server, and never of the token", async () => {
    const served = await ServedScene.start();
    try {
      const token = await served.token();
      const lines: string[] = [];
      const store = { kind: "server" as const, url: served.url, token, runtimeDir: "/nowhere", source: "ASKD_URL" };
      const engine = await openEngine({ store, rules: served.scene.rules, onCall: (line) => lines.push(line) });
      await engine.countQuestions("pending");
      expect(lines).toHaveLength(1);
      expect(lines[0]).toMatch(/^GET http:\/\/127\.0\.0\.1:\d+\/api\/v1\/questions\/count\?status=pending 200 \d+ ms$/);
      expect(lines.join()).not.toContain(token);
    } finally {
      await served.stop();
    }
  });

  test("a command that waits says so before it waits", async () => {
    for (const argv of [["watch"], ["status", "--watch"], ["ask", "Which?", "--wait", "1h"]]) {
      const order: string[] = [];
      const interrupted = new AbortController();
      const write = (): void => void order.push("said");
      await type(fixedScene(), argv, {
        stdout: { isTty: false, columns: 80, write },
        stderr: { isTty: false, columns: 80, write },
        interrupt: () => {
          setImmediate(() => interrupted.abort());
          return interrupted.signal;
        },
        pause: () => new Promise((resolve) => setImmediate(() => (order.push("waited"), resolve()))),
      });
      expect(order[0]).toBe("said");
    }
  });
});

/** Questions in every state that a person can run into. */
async function troubled(): Promise<Scene> {
  const scene = fixedScene();
  const ask = async ({ name, ...raw }: Record<string, unknown>) => {
    const run = await scene.startedRun({ name: String(name) });
    const asked = await scene.engine.ask(scene.input(raw), AGENT, { runId: run.id });
    await scene.engine.endRun(run.id, { status: "completed" }, AGENT);
    return asked.question.id;
  };
  await ask({ name: "only-options", allow_text: false });
  await scene.engine.answer(await ask({ name: "answered" }), said("Redis"), LENA);
  await scene.engine.cancel(await ask({ name: "cancelled" }), { reason: "not needed" }, LENA);
  await ask({ name: "high", risk: "high" });
  await scene.engine.answer(await ask({ name: "settling" }), said("Redis", { undoMs: HOUR_MS }), LENA);
  await ask({ name: "for-lena", approvals: { need: 1, from: ["lena"] } });
  await ask({ name: "several", questions: [one("cache"), one("queue")], question: undefined, options: undefined });
  await scene.engine.claim(await ask({ name: "claimed", on_timeout: "wait", timeout: undefined }), LENA);
  await scene.pass(4 * 60_000);
  return scene;
}

function one(header: string): object {
  return { header, question: `Which ${header}?`, options: ["Redis", "Memcached"] };
}

test("every refusal says what is so, what to type next, and ends with its own code", async () => {
  const scene = await troubled();
  const seen = new Transcript((argv) => type(scene, argv));
  for (const argv of [
    ["answer"],
    ["answer", "only-options", "Postgres"],
    ["answer", "only-options", "1", "2"],
    ["answer", "answered", "Redis"],
    ["answer", "cancelled", "Redis"],
    ["answer", "high", "Redis"],
    ["answer", "settling", "Memcached"],
    ["answer", "for-lena", "Redis"],
    ["answer", "several", "1A"],
    ["answer", "several", "-c", "Redis"],
    ["answer", "high", "3", "--yes"],
    ["answer", "high", "Redis", "--undo-window", "soon"],
    ["answer", "-", "1"],
    ["answer", "nothing", "1"],
    ["answer", "https://example.com/elsewhere", "1"],
    ["answer", "", "1"],
    ["answer", "only-options", "--edit"],
    ["undo", "high"],
    ["undo", "answered"],
    ["amend", "high", "no"],
    ["amend", "answered", ""],
    ["amend", "answered"],
    ["claim", "claimed"],
    ["claim", "answered"],
    ["release", "high"],
    ["assign", "high"],
    ["snooze", "high", "0s"],
    ["snooze", "high", "soon"],
    ["extend", "claimed", "1h"],
    ["extend", "high", "0s"],
    ["comment", "high", ""],
    ["escalate", "high"],
    ["cancel", "answered"],
    ["check", "q-zzzz"],
    ["diff", "high"],
    ["logs", "high"],
    ["takeover", "high"],
    ["runs", "resume", "high"],
    ["runs", "sleep"],
    ["runs", "constructor"],
    ["user", "nope"],
    ["user", "shwo", "lena"],
    ["token"],
    ["service", "restart"],
    ["audit", "--limit", "0"],
    ["ask", "Which?", "-o", "a:Apple", "--default", "a"],
    ["ask", "Which?", "--only-options"],
    ["ask", "Which?", "--on-timeout", "nope"],
    ["ask", "Which?", "--on-timeout", "default"],
    ["ask", "Which?", "--confidence", "sure"],
    ["ask", "Which?", "--timeout", "0s"],
    ["ask", "Which?", "--input", "-"],
    ["ask", "--input", "-", "--risk", "high"],
    ["ask", "--input", "-"],
    ["completion"],
    ["completion", "tcsh"],
    ["user", "add", "eve", "--email", "nowhere"],
    ["user", "add", "eve", "--quiet-hours", "at night"],
    ["runs", "cancel", "cancelled"],
    ["token", "revoke", "ffff"],
    ["user", "set", "nobody"],
    ["ask"],
    ["ask", "What is the database password?"],
    ["list", "--json=nothing"],
    ["login", "--json"],
    ["lst"],
    ["list", "--stat"],
    ["list", "--state"],
    ["status", "--short=yes"],
  ]) {
    await seen.type(...argv);
  }
  const { runs } = await scene.store.lookUp({ by: "name", text: "high" }, 1);
  const env = { ASKD_RUN: runs[0]!.id };
  for (const argv of [
    ["answer", "high", "1"],
    ["claim", "high"],
    ["user", "add", "eve"],
  ]) {
    seen.add(["(as an agent)", ...argv], await type(scene, argv, { env }));
  }
  expect(seen.text).toBe(seen.golden("errors"));
});
