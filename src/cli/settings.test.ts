import { chmodSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ConfigHome } from "../../test/config-home.ts";
import { Scene } from "../../test/scene.ts";
import { type Typed, type } from "../../test/typed.ts";
import { epochMs } from "../core/instant.ts";
import type { Rules } from "../core/rules.ts";
import type { ServeRequest } from "./context.ts";
import type { StorePlace } from "./paths.ts";
import type { ProcessWorld } from "./process.ts";

function around(home: ConfigHome, env: Record<string, string> = {}): Partial<ProcessWorld> {
  return { cwd: home.project, homeDir: home.home, env: { ASKD_CONFIG_SYSTEM: home.systemFile, ...env } };
}

/** The options with which a command would open its engine. */
async function opened(
  home: ConfigHome,
  argv: readonly string[],
  env: Record<string, string> = {},
): Promise<{ typed: Typed; store: StorePlace | undefined; rules: Rules | undefined }> {
  let store: StorePlace | undefined;
  let rules: Rules | undefined;
  const typed = await type(new Scene(), argv, {
    ...around(home, env),
    openEngine: (...given) => {
      [store, rules] = given;
      return Promise.reject(new Error("seen enough"));
    },
  });
  return { typed, store, rules };
}

/** Where a server would listen. */
async function listening(home: ConfigHome, argv: readonly string[], env: Record<string, string> = {}) {
  let request: ServeRequest | undefined;
  const typed = await type(new Scene(), ["serve", ...argv], {
    ...around(home, env),
    openServer: (_at, given) => {
      request = given;
      return Promise.reject(new Error("seen enough"));
    },
  });
  return { typed, request };
}

/** How long a question can be answered that is asked like this. */
async function timeoutOf(home: ConfigHome, argv: readonly string[], env: Record<string, string>): Promise<number> {
  const scene = new Scene();
  const { exit, stdout } = await type(scene, ["ask", "Redis?", "--json", ...argv], around(home, env));
  expect(exit).toBe(0);
  const { id } = JSON.parse(stdout) as { id: string };
  const [question] = await scene.engine.listQuestions({ status: "pending", order: "oldest", limit: 1 });
  expect(question?.id).toBe(id);
  return epochMs(question?.dueAt ?? scene.now) - epochMs(scene.now);
}

describe("of six who say how long a question waits", () => {
  const LAYERS = ["flag", "env", "project", "user", "system", "default"] as const;
  const MINUTES = { flag: 1, env: 2, project: 3, user: 4, system: 5, default: 24 * 60 } as const;
  const below = (minutes: number): string => `[questions]\ntimeout = "${minutes}m"\n`;

  test.each(LAYERS.map((layer, index) => ({ layer, said: LAYERS.slice(index) })))(
    "$layer wins over those that come after it",
    async ({ layer, said }) => {
      const home = new ConfigHome();
      if (said.includes("project")) home.write(home.projectFile, below(MINUTES.project));
      if (said.includes("user")) home.write(home.userFile, below(MINUTES.user));
      if (said.includes("system")) home.write(home.systemFile, below(MINUTES.system));
      const argv = said.includes("flag") ? ["--timeout", `${MINUTES.flag}m`] : [];
      const env: Record<string, string> = said.includes("env") ? { ASKD_TIMEOUT: `${MINUTES.env}m` } : {};
      expect(await timeoutOf(home, argv, env)).toBe(MINUTES[layer] * 60_000);
    },
  );
});

describe("settings take effect", () => {
  test("as the rules of every engine", async () => {
    const home = new ConfigHome();
    home.write(
      home.userFile,
      [
        '[questions]\nlive_window = "5m"\ntimeout = "2h"\non_timeout = "skip"\nmax_per_run = 20\nremind_at = [0.25]',
        'confidence = { act = 0.9, ask = 0.4, below = "block" }',
        '[answers]\nundo_window = { web = "9s", cli = "2s" }',
        "[limits]\nquestion_bytes = 1\nitems = 2\npending = 3\nstreams = 4\nrequests_per_minute = 5",
        '[alerts]\npending_questions_threshold = 7\ntimeout_rate_threshold = 0.5\nwindow = "1h"',
        "[redact]\npatterns = ['CUST-\\d+']",
        "[callbacks]\nallow_loopback = true\n",
      ].join("\n"),
    );
    const { rules } = await opened(home, ["status"]);
    expect(rules).toMatchObject({
      liveWindowMs: 300_000,
      timeoutMs: 7_200_000,
      onTimeout: "skip",
      remindAt: [0.25],
      callbackLoopback: true,
      confidence: { act: 0.9, ask: 0.4, below: "block" },
      undoMs: { web: 9_000, slack: 5_000, cli: 2_000, api: 0 },
      alerts: { pendingQuestions: 7, timeoutRate: 0.5, windowMs: 3_600_000, to: [] },
      limits: { questionBytes: 1, items: 2, pending: 3, streams: 4, requestsPerMinute: 5, asksPerRun: 20 },
      redact: [/CUST-\d+/gu],
    });
  });

  test("but those of a project not in what serves all projects", async () => {
    const home = new ConfigHome();
    home.write(home.projectFile, '[questions]\ntimeout = "1h"\n');
    expect((await opened(home, ["status"])).rules?.timeoutMs).toBe(3_600_000);
    expect((await opened(home, ["worker"])).rules?.timeoutMs).toBe(86_400_000);
  });

  test("a run may never ask more often than the limit, whatever is wanted", async () => {
    const home = new ConfigHome();
    home.write(home.projectFile, "[questions]\nmax_per_run = 500\n");
    home.write(home.userFile, "[limits]\nasks_per_run = 50\n");
    expect((await opened(home, ["status"])).rules?.limits.asksPerRun).toBe(50);
    expect((await opened(home, ["status"], { ASKD_MAX_QUESTIONS: "5" })).rules?.limits.asksPerRun).toBe(5);
  });

  test("on where a server listens, below the flags and the environment", async () => {
    const home = new ConfigHome();
    expect((await listening(home, [])).request).toEqual({ port: 4319, names: [], isSecure: false });
    home.write(home.userFile, '[server]\nport = 1\nhost = "0.0.0.0"\nnames = ["a.example"]\nbehind_proxy = true\n');
    const configured = { port: 1, host: "0.0.0.0", names: ["a.example"], isSecure: true };
    expect((await listening(home, [])).request).toEqual(configured);
    expect((await listening(home, [], { ASKD_PORT: "2" })).request).toEqual({ ...configured, port: 2 });
    expect((await listening(home, ["--port", "3"], { ASKD_PORT: "2" })).request).toEqual({ ...configured, port: 3 });
  });

  test("and a server that would be open to the network is refused from a file, too", async () => {
    const home = new ConfigHome();
    home.write(home.userFile, '[server]\nhost = "0.0.0.0"\n');
    expect((await listening(home, [])).typed).toMatchObject({ exit: 7 });
  });

  test("on how long an answer that is typed can be taken back", async () => {
    const home = new ConfigHome();
    home.write(home.projectFile, '[answers]\nundo_window.cli = "10s"\n');
    const scene = new Scene();
    await scene.ask();
    expect((await type(scene, ["answer", "-", "1"], around(home))).exit).toBe(0);
    const [settling] = await scene.engine.listQuestions({ status: "pending", order: "oldest", limit: 1 });
    expect(settling).toMatchObject({ settling: { answer: { by: { id: "ada" } } } });
    await scene.pass(10_000);
    expect(await scene.engine.countQuestions("pending")).toBe(0);
  });

  test("on the bell: not where it is off, and not in quiet hours", async () => {
    const rings = async (text: string): Promise<boolean> => {
      const home = new ConfigHome();
      home.write(home.userFile, text);
      let stderr = "";
      const scene = new Scene(); // it is noon there
      const output = { write: (piece: string) => void (stderr += piece), isTty: true, columns: 80 };
      const interrupt = (): AbortSignal => AbortSignal.abort(); // rings, and waits no longer
      const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve)); // lets the store commit
      await type(scene, ["ask", "Now?", "--wait"], { ...around(home), stderr: output, interrupt, pause });
      return stderr.includes("\x07");
    };
    expect(await rings("")).toBe(true);
    expect(await rings("[notifications]\nterminal_bell = false\n")).toBe(false);
    expect(await rings('[notifications]\nquiet_hours = "22:00-13:00"\n')).toBe(false);
    expect(await rings('[notifications]\nquiet_hours = "22:00-07:00"\n')).toBe(true);
    expect(await rings('[notifications]\nquiet_hours = "11:59-12:01"\n')).toBe(false);
  });
});

describe("what is wrong", () => {
  test("is an error of every command, and says where and what to type", async () => {
    const home = new ConfigHome();
    home.write(home.userFile, "[questions]\ntimeout = 24\nmax_per_run = -1\n");
    const { typed } = await opened(home, ["status"]);
    expect({ ...typed, stderr: home.plain(typed.stderr) }).toEqual({
      exit: 2,
      stdout: "",
      stderr:
        'error: /home/.config/askd/config.toml:2:1: questions.timeout cannot be 24; write a duration from 1s to 366d, such as "24h"\n' +
        "  See all 2 problems: askd config list\n",
    });
  });

  test("a key that nobody knows is a warning, and everything goes on", async () => {
    const home = new ConfigHome();
    home.write(home.projectFile, '[questions]\ntimout = "1h"\n');
    const { exit, stderr } = await type(new Scene(), ["status"], around(home));
    expect(exit).toBe(0);
    expect(home.plain(stderr)).toBe(
      'warning: /home/project/askd.toml:2:1: There is no setting "questions.timout". Did you mean questions.timeout?\n',
    );
  });

  test("in a hostile name or key cannot reach the terminal", async () => {
    const home = new ConfigHome();
    home.write(home.projectFile, '"a\\u001b[2Jb\\nc" = 1\n');
    const { stderr } = await type(new Scene(), ["status"], around(home));
    expect(stderr).not.toContain("\x1b");
    expect(stderr.split("\n")).toHaveLength(2);
  });

  test.each([
    ["ASKD_TIMEOUT", "soon"],
    ["ASKD_LIVE_WINDOW", "x"],
    ["ASKD_ON_TIMEOUT", "guess"],
    ["ASKD_MAX_QUESTIONS", "-1"],
    ["ASKD_PORT", "99999"],
  ])("in %s is named", async (name, value) => {
    const { typed } = await opened(new ConfigHome(), ["status"], { [name]: value });
    expect(typed.exit).toBe(2);
    expect(typed.stderr).toContain(`The value of ${name} cannot be read`);
  });
});

describe("a profile", () => {
  const PROFILES =
    '[profiles.work]\nurl = "https://askd.example"\ntoken_env = "WORK_TOKEN"\n[profiles.box]\nstore = "sqlite:/srv/box.db"\n';

  function withProfiles(more = ""): ConfigHome {
    const home = new ConfigHome();
    home.write(home.userFile, more + PROFILES);
    return home;
  }

  test("is a server with its token, or a store", async () => {
    const home = withProfiles();
    const work = await opened(home, ["status", "--profile", "work"], { WORK_TOKEN: "t0", ASKD_TOKEN: "other" });
    expect(work.store).toMatchObject({ kind: "server", url: "https://askd.example", token: "t0" });
    const box = await opened(home, ["--profile", "box", "status"]);
    expect(box.store).toEqual({ kind: "sqlite", file: "/srv/box.db" });
  });

  test("is chosen by a flag, by ASKD_PROFILE, or by the setting; a store or server named nearer wins", async () => {
    const home = withProfiles('profile = "box"\n[store]\nurl = "sqlite:/srv/else.db"\n');
    const env = { WORK_TOKEN: "t0" };
    const kindOf = async (argv: string[], more: Record<string, string> = {}): Promise<string> => {
      const { store } = await opened(home, ["status", ...argv], { ...env, ...more });
      return store?.kind === "sqlite" ? store.file : (store?.url ?? "");
    };
    expect(await kindOf([])).toBe("/srv/box.db");
    expect(await kindOf([], { ASKD_PROFILE: "work" })).toBe("https://askd.example");
    expect(await kindOf([], { ASKD_PROFILE: "work", ASKD_STORE: "sqlite:/env.db" })).toBe("/env.db");
    expect(await kindOf([], { ASKD_STORE: "sqlite:/env.db", ASKD_URL: "https://env.example" })).toBe(
      "https://env.example",
    );
    expect(await kindOf(["--url", "https://flag.example/"], { ASKD_STORE: "sqlite:/env.db" })).toBe(
      "https://flag.example",
    );
    expect(await kindOf(["--store", "sqlite:/flag.db"], { ASKD_URL: "https://env.example" })).toBe("/flag.db");
    expect(await kindOf(["--profile", "work"], { ASKD_URL: "https://env.example" })).toBe("https://askd.example");
  });

  test("that is not there, lacks its token, or is named beside another place is refused", async () => {
    const home = withProfiles();
    const missing = await opened(home, ["status", "--profile", "wrok"]);
    expect(missing.typed).toMatchObject({ exit: 5 });
    expect(missing.typed.stderr).toContain("Choose from: work, box");
    const bare = await opened(home, ["status", "--profile", "work"]);
    expect(bare.typed.stderr).toContain("The variable WORK_TOKEN, which profiles.work.token_env names, is not set");
    const two = await opened(home, ["status", "--profile", "work", "--url", "https://evil.example"], {
      WORK_TOKEN: "t",
    });
    expect(two.typed).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("--url and --profile conflict"),
    });
    const clear = await opened(home, ["status", "--url", "http://evil.example"]);
    expect(clear.typed.stderr).toContain("--url would send your token over the network in the clear");
  });

  test("reads its token from a file that only its user can read", async () => {
    const home = new ConfigHome();
    const file = join(home.home, "token");
    home.write(home.userFile, `[profiles.work]\nurl = "https://askd.example"\ntoken_file = "${file}"\n`);
    home.write(file, "t1\n");
    chmodSync(file, 0o644);
    const open = await opened(home, ["status", "--profile", "work"]);
    expect(open.typed).toMatchObject({ exit: 7, stderr: expect.stringContaining("chmod 600") });
    chmodSync(file, 0o600);
    expect((await opened(home, ["status", "--profile", "work"])).store).toMatchObject({ token: "t1" });
  });

  test("does not get in the way of those who mend it", async () => {
    const home = withProfiles('profile = "work"\n');
    expect((await type(new Scene(), ["status"], around(home))).exit).toBe(4);
    expect((await type(new Scene(), ["config", "unset", "profile"], around(home))).exit).toBe(0);
    expect((await type(new Scene(), ["status"], around(home))).exit).toBe(0);
  });

  test("the store can be named by a variable", async () => {
    const home = new ConfigHome();
    home.write(home.userFile, '[store]\nurl_env = "MY_STORE"\n');
    const { store } = await opened(home, ["status"], { MY_STORE: "postgres://ada:pw@db/askd" });
    expect(store).toEqual({ kind: "postgres", url: "postgres://ada:pw@db/askd" });
    expect((await opened(home, ["status"])).typed.stderr).toContain("The variable MY_STORE, which store.url_env names");
  });
});
