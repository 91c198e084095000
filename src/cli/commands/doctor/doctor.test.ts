import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Finding } from "../../../doctor/finding.ts";
import { BIN, BuiltScene } from "../../../../test/built.ts";
import { type DoctorView, renderDoctor, renderSummary, viewDoctor } from "./doctor-view.ts";
import { styleFor } from "../../terminal/terminal.ts";

const PLAIN = styleFor("off");
const repair = () => Promise.resolve();

const HEALTHY: Finding[] = [
  { code: "node", area: "system", level: "ok", text: "node 20.20.2" },
  { code: "git", area: "system", level: "ok", text: "git 2.39.5" },
  { code: "store", area: "store", level: "ok", text: "sqlite 3.53.0, WAL, sync full" },
  { code: "disk", area: "store", level: "ok", text: "writable, 53 GB free" },
  { code: "server", area: "server", level: "ok", text: "127.0.0.1:4319, 12 ms" },
  { code: "clock", area: "server", level: "ok", text: "clock ok" },
  { code: "client", area: "agents", subject: "claude", level: "ok", text: "2.1.325" },
  { code: "handshake", area: "agents", subject: "claude", level: "ok", text: "mcp handshake 140 ms, 3 tools" },
  { code: "hook", area: "agents", subject: "claude", level: "ok", text: "hook present" },
  {
    code: "client_unwired",
    area: "agents",
    subject: "codex",
    level: "off",
    text: "0.166.0, not wired; askd init does so",
  },
  { code: "channel", area: "channels", subject: "bell", level: "ok", text: "" },
  { code: "channel", area: "channels", subject: "slack", level: "ok", text: "(token, socket, #agents)" },
  { code: "channel_off", area: "channels", subject: "github, email", level: "off", text: "not set up" },
  { code: "waiting", area: "queue", level: "ok", text: "1 waiting, oldest 2h" },
  { code: "jobs", area: "queue", level: "ok", text: "0 stuck; 0 undelivered" },
];

const SICK: Finding[] = [
  ...HEALTHY.filter(({ area }) => area !== "server"),
  {
    code: "always_load",
    area: "agents",
    subject: "claude",
    level: "warning",
    repair,
    text: "alwaysLoad is not set: the model must search for ask_human before it can use it",
  },
  {
    code: "client_timeout",
    area: "agents",
    subject: "codex",
    level: "problem",
    repair,
    text: "tool_timeout_sec is 60 s, live window is 180 s: questions would be cut off",
    fix: 'live_window = "45s" in askd.toml',
  },
  {
    code: "server_crash",
    area: "agents",
    subject: "gemini",
    level: "problem",
    text: "its MCP server does not start: it ended with exit code 1: \u001b]0;you\u0007 are owned\nreally",
  },
  {
    code: "port_taken",
    area: "server",
    level: "problem",
    fix: "kill 4711, or askd serve --port 0",
    text: "port 4319 is taken by python3 (process 4711): askd serve cannot listen there",
  },
];

function viewOf(findings: readonly Finding[], over: Partial<DoctorView> = {}): DoctorView {
  const machine = { version: "1.0.0", platform: "linux-x64", node: "20.20.2" };
  return { ...machine, findings, repaired: [], program: "askd", columns: 100, ...over };
}

describe("the page of doctor", () => {
  test("of a healthy place", () => {
    expect(renderDoctor(viewOf(HEALTHY), PLAIN)).toBe(`askd 1.0.0 · linux-x64 · node 20.20.2

System     ✓ node 20.20.2, git 2.39.5
Store      ✓ sqlite 3.53.0, WAL, sync full, writable, 53 GB free
Server     ✓ 127.0.0.1:4319, 12 ms, clock ok
Agents     ✓ claude 2.1.325, mcp handshake 140 ms, 3 tools, hook present
           – codex 0.166.0, not wired; askd init does so
Channels   ✓ bell  ✓ slack (token, socket, #agents)  – github, email not set up
Queue      ✓ 1 waiting, oldest 2h; 0 stuck; 0 undelivered

No problems
`);
  });

  test("of a sick place, where nothing that a program said moves the terminal", () => {
    expect(renderDoctor(viewOf(SICK), PLAIN)).toBe(`askd 1.0.0 · linux-x64 · node 20.20.2

Problems
  ✗ codex        tool_timeout_sec is 60 s, live window is 180 s: questions would be cut off
                 Fix: askd doctor --fix   or   live_window = "45s" in askd.toml
  ✗ gemini       its MCP server does not start: it ended with exit code 1: \\x1b]0;you\\x07 are owned
                 really
  ✗ server       port 4319 is taken by python3 (process 4711): askd serve cannot listen there
                 Fix: kill 4711, or askd serve --port 0
  ⚠ claude       alwaysLoad is not set: the model must search for ask_human before it can use it
                 Fix: askd doctor --fix

System     ✓ node 20.20.2, git 2.39.5
Store      ✓ sqlite 3.53.0, WAL, sync full, writable, 53 GB free
Server     ✗ see above
Agents     ⚠ claude 2.1.325, mcp handshake 140 ms, 3 tools, hook present
           ✗ codex 0.166.0, not wired; askd init does so
           ✗ gemini
Channels   ✓ bell  ✓ slack (token, socket, #agents)  – github, email not set up
Queue      ✓ 1 waiting, oldest 2h; 0 stuck; 0 undelivered

3 problems, 1 warning
`);
  });

  test("says what was fixed and what could not be", () => {
    const [warning, problem] = SICK.filter((finding) => finding.repair);
    if (!warning || !problem) throw new Error("there are findings");
    const repaired = [
      { finding: warning, failure: undefined },
      { finding: problem, failure: "config.toml is read-only" },
    ];
    expect(renderDoctor(viewOf([problem], { repaired }), PLAIN)).toContain(`Fixed
  ✓ claude       alwaysLoad is not set: the model must search for ask_human before it can use it
  ✗ codex        tool_timeout_sec is 60 s, live window is 180 s: questions would be cut off
                 Fix failed: config.toml is read-only
`);
  });

  test("names each way to fix once", () => {
    const finding = SICK.find(({ repair }) => repair);
    if (!finding) throw new Error("there are findings");
    const shown = renderDoctor(viewOf([{ ...finding, fix: "askd doctor --fix" }]), PLAIN);
    expect(shown).toContain("Fix: askd doctor --fix\n");
  });

  test("in one line names whom it is about", () => {
    expect(renderSummary(viewOf(HEALTHY))).toBe("No problems\n");
    expect(renderSummary(viewOf(SICK))).toBe("3 problems, 1 warning (codex, gemini, server, claude)\n");
  });

  test("as JSON holds no secret and no name of a home", () => {
    const finding: Finding = {
      code: "x",
      area: "store",
      level: "problem",
      fix: "cat /home/ada/.askd/key",
      text: "postgres://ada:hunter2hunter2@db/askd in /home/ada/x: my-very-own-token",
    };
    const env = { SLACK_TOKEN: "my-very-own-token" };
    expect(viewDoctor(viewOf([finding]), { env, homeDir: "/home/ada" })).toEqual({
      version: "1.0.0",
      platform: "linux-x64",
      node: "20.20.2",
      problems: 1,
      warnings: 0,
      fixed: [],
      findings: [
        {
          code: "x",
          area: "store",
          subject: null,
          level: "problem",
          canFix: false,
          fix: "cat ~/.askd/key",
          text: "postgres://ada:[redacted]@db/askd in ~/x: [redacted]",
        },
      ],
    });
  });
});

describe("askd doctor", () => {
  /** Nobody listens on that port; agents that this machine may have are not looked for. */
  const env = { ASKD_PORT: "2", PATH: "/usr/bin:/bin", ASKD_CONFIG_SYSTEM: "/none" };

  test("on a healthy place finds nothing and exits with 0", async () => {
    const scene = new BuiltScene();
    await scene.typeWith(env, "ask", "Redis or Memcached?");
    const { exit, stdout } = await scene.typeWith(env, "doctor");
    const page = stdout
      .toString("utf8")
      .replaceAll(BIN, "askd") // it is not on that path
      .replace(/askd \d+\.\d+\.\d+ · \S+ · node \S+/, "askd V · P · node N")
      .replace(/node \d\S+,/, "node N,")
      .replace(/git \d\S+,/, "git N,")
      .replace(/sqlite 3\.\d+\.\d+/, "sqlite V")
      .replace(/[\d.]+ [GT]B free/, "SPACE free")
      .replace(/oldest \d+s/, "oldest AGE");
    expect(page).toBe(`askd V · P · node N

System     ✓ node N, git N, temporary files ok
Store      ✓ sqlite V, WAL, sync full, writable, SPACE free
Server     – not running; start it with askd serve
Agents     – none found; see how to wire one: askd init --print
Channels   ✓ bell – desktop, github, slack, chat, email, webhook, ntfy, telegram, apprise not set up
Queue      ✓ 1 waiting, oldest AGE; 0 stuck; 0 undelivered

No problems
`);
    expect(exit).toBe(0);
    expect((await scene.typeWith(env, "doctor", "--summary")).stdout.toString("utf8")).toBe("No problems\n");
  });

  test("on a sick place exits with 1 until it is fixed, and its JSON tells programs what is wrong", async () => {
    const scene = new BuiltScene();
    await scene.typeWith(env, "ask", "Redis or Memcached?");
    const file = `${scene.home}/data/askd.db`;
    writeFileSync(`${scene.project}/askd.toml`, '[questions]\nlive_windoww = "1m"\n');
    chmodSync(file, 0o644);
    const sick = await scene.typeWith(env, "doctor", "--json");
    expect(sick.exit).toBe(1);
    const report: Record<string, unknown> = JSON.parse(sick.stdout.toString("utf8"));
    expect(report).toMatchObject({
      problems: 1,
      warnings: 1,
      fixed: [],
      findings: expect.arrayContaining([
        {
          code: "store_open",
          area: "store",
          subject: null,
          level: "problem",
          can_fix: true,
          text: expect.stringMatching(/^~\/data\/askd\.db is open to other users/),
          fix: "chmod 600 ~/data/askd.db",
        },
      ]),
    });
    const fixed = await scene.typeWith(env, "doctor", "--fix");
    expect(fixed.exit).toBe(0); // a warning is left
    expect(fixed.stdout.toString("utf8")).toMatch(/^Fixed\n {2}✓ store/m);
    expect(fixed.stdout.toString("utf8")).toContain("Did you mean questions.live_window?");
    expect((await scene.typeWith(env, "doctor", "--fix")).stdout.toString("utf8")).not.toContain("Fixed");
    expect(readFileSync(file).length).toBeGreaterThan(0);
  });

  test("finds nothing wrong with what init has wired, and init takes back what doctor has changed as well", async () => {
    const scene = new BuiltScene();
    scene.program("claude", "#!/bin/sh\necho 2.1.325\n");
    const own = { ...env, PATH: `${scene.project}:${env.PATH}` };
    expect((await scene.typeWith(own, "init", "--yes", "--client", "claude", "--scope", "user")).exit).toBe(0);
    const wired = await scene.typeWith(own, "doctor");
    expect(wired.stdout.toString("utf8")).toMatch(
      /^Agents {5}✓ claude 2\.1\.325, mcp handshake \d+ ms, 3 tools, hook present, sessions kept$/m,
    );
    expect(wired.exit).toBe(0);
    const file = `${scene.home}/.claude.json`;
    const sick = readFileSync(file, "utf8").replace(/,\s*"alwaysLoad": true/, "");
    writeFileSync(file, sick);
    const fixed = await scene.typeWith(own, "doctor", "--fix");
    expect(fixed.stdout.toString("utf8")).toMatch(/^Fixed\n {2}✓ claude {7}alwaysLoad is not set/m);
    expect(readFileSync(file, "utf8")).not.toBe(sick);
    await scene.typeWith(own, "init", "--undo", "--yes");
    expect(readFileSync(file, "utf8")).not.toContain("askd");
  });

  test("takes no arguments", async () => {
    expect((await new BuiltScene().typeWith(env, "doctor", "please")).exit).toBe(2);
  });
});
