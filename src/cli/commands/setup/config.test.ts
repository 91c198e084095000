import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ConfigHome } from "../../../../test/config-home.ts";
import { Scene } from "../../../../test/scene.ts";
import { type Typed, type } from "../../../../test/typed.ts";
import type { ProcessWorld } from "../../process.ts";

/** Types `askd …` in the project of a home; paths of the home come out as if it were at the root. */
async function typed(home: ConfigHome, argv: readonly string[], over: Partial<ProcessWorld> = {}): Promise<Typed> {
  const { env = {}, ...rest } = over;
  const ended = await type(new Scene(), argv, {
    cwd: home.project,
    homeDir: home.home,
    ...rest,
    env: { ASKD_CONFIG_SYSTEM: home.systemFile, ...env },
  });
  return { exit: ended.exit, stdout: home.plain(ended.stdout), stderr: home.plain(ended.stderr) };
}

const SAID = { exit: 0, stdout: "" };

describe("config list", () => {
  test("shows what is set and what is not, in the order of the page, with where it comes from", async () => {
    const home = new ConfigHome();
    home.write(home.projectFile, '[questions]\n\ntimeout = "1h"\n');
    home.write(
      home.userFile,
      '# mine\n[questions]\ntimeout = "2h"\nlive_window = "2m"\n[agents.x]\nresume = ["x", "{session}"]\n',
    );
    home.write(home.systemFile, "[limits]\nitems = 5\n");
    const env = { ASKD_MAX_QUESTIONS: "7", ASKD_STORE: "postgres://ada:hunter2hunter2@db/askd" };
    const { exit, stdout, stderr } = await typed(home, ["config", "list", "--show-origin"], { env });
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
    expect(stdout).toBe(
      [
        'questions.live_window = "2m"                     user ~/.config/askd/config.toml:4',
        'questions.timeout = "1h"                         project ~/project/askd.toml:3',
        'questions.on_timeout = "fail"                    default',
        "questions.max_per_run = 7                        env ASKD_MAX_QUESTIONS",
        "questions.remind_at = [0.5,0.9]                  default",
        "questions.confidence.ask = 0.5                   default",
        'questions.confidence.below = "ask"               default',
        'answers.undo_window.web = "5s"                   default',
        'answers.undo_window.slack = "5s"                 default',
        'answers.undo_window.cli = "0s"                   default',
        'answers.undo_window.api = "0s"                   default',
        "notifications.terminal_bell = true               default",
        "notifications.interruptions_per_hour = 20        default",
        "limits.question_bytes = 16384                    default",
        "limits.context_bytes = 65536                     default",
        "limits.answer_bytes = 65536                      default",
        "limits.items = 5                                 system /etc/askd/config.toml:2",
        "limits.options = 50                              default",
        "limits.header_chars = 30                         default",
        "limits.asks_per_run = 100                        default",
        "limits.asks_per_minute = 10                      default",
        "limits.pending = 10000                           default",
        "limits.replies_per_minute = 10                   default",
        "limits.comments = 200                            default",
        "limits.requests_per_minute = 6000                default",
        "limits.anonymous_per_minute = 3000               default",
        "limits.streams = 256                             default",
        "limits.streams_per_token = 64                    default",
        "limits.holds = 20000                             default",
        "limits.holds_per_token = 10000                   default",
        "alerts.pending_questions_threshold = 10          default",
        "alerts.timeout_rate_threshold = 0.3              default",
        'alerts.window = "24h"                            default',
        "alerts.to = []                                   default",
        "redact.patterns = []                             default",
        "server.port = 4319                               default",
        "server.names = []                                default",
        "server.behind_proxy = false                      default",
        'store.url = "postgres://ada:[redacted]@db/askd"  env ASKD_STORE',
        "callbacks.allow_loopback = false                 default",
        'audit.archive_after = "24h"                      default',
        "audit.anchor_git = false                         default",
        'agents.x.resume = ["x","{session}"]              user ~/.config/askd/config.toml:6',
        "",
      ].join("\n"),
    );
  });

  test("is what `config` alone does, and can be asked for one table", async () => {
    const home = new ConfigHome();
    expect(await typed(home, ["config"])).toEqual(await typed(home, ["config", "list"]));
    expect(await typed(home, ["config", "list", "alerts"])).toEqual({
      exit: 0,
      stderr: "",
      stdout:
        'alerts.pending_questions_threshold = 10\nalerts.timeout_rate_threshold = 0.3\nalerts.window = "24h"\nalerts.to = []\n',
    });
  });

  test("as JSON has every value with its file and line", async () => {
    const home = new ConfigHome();
    home.write(home.projectFile, '[questions]\ntimeout = "1h"\n');
    const { stdout } = await typed(home, ["config", "list", "questions", "--json"]);
    expect(JSON.parse(stdout)).toContainEqual({
      key: "questions.timeout",
      value: "1h",
      origin: "project",
      file: "/home/project/askd.toml",
      line: 2,
    });
    expect(JSON.parse(stdout)).toContainEqual({
      key: "questions.on_timeout",
      value: "fail",
      origin: "default",
      file: null,
      line: null,
    });
    const some = await typed(home, ["config", "list", "questions", "--json=key,origin"]);
    expect(JSON.parse(some.stdout)).toContainEqual({ key: "questions.timeout", origin: "project" });
  });

  test("says all that is wrong with the files, and ends with that", async () => {
    const home = new ConfigHome();
    home.write(home.userFile, '[questions]\ntimeout = 1\ntimout = "1h"\non_timeout = "guess"\n');
    const { exit, stdout, stderr } = await typed(home, ["config", "list"]);
    expect(exit).toBe(2);
    expect(stdout).toContain('questions.timeout = "24h"');
    expect(stderr).toBe(
      'error: /home/.config/askd/config.toml:2:1: questions.timeout cannot be 1; write a duration from 1s to 366d, such as "24h"\n' +
        'error: /home/.config/askd/config.toml:4:1: questions.on_timeout cannot be "guess"; write one of: "wait", "proceed", "skip", "default", "escalate", "fail", "defer"\n' +
        'warning: /home/.config/askd/config.toml:3:1: There is no setting "questions.timout"\n  Did you mean questions.timeout?\n',
    );
  });

  test("never shows the address that things are posted to", async () => {
    const home = new ConfigHome();
    home.write(home.userFile, '[notifications]\nwebhook_url = "https://chat.example/hooks/T0/B0/abcdefgh12345678"\n');
    const { stdout } = await typed(home, ["config", "list", "notifications"]);
    expect(stdout).toBe(
      'notifications.terminal_bell = true\nnotifications.webhook_url = "https://chat.example/[redacted]"\nnotifications.interruptions_per_hour = 20\n',
    );
    expect((await typed(home, ["config", "get", "notifications.webhook_url"])).stdout).toBe(
      "https://chat.example/[redacted]\n",
    );
    home.write(
      home.userFile,
      '[audit]\nanchor_secret_env = "SEAL_SECRET"\nanchor_url = "https://audit.example/seals/abcdefgh12345678"\n',
    );
    expect((await typed(home, ["config", "get", "audit.anchor_url"])).stdout).toBe(
      "https://audit.example/[redacted]\n",
    );
  });
});

describe("config get", () => {
  test("prints one value for a script", async () => {
    const home = new ConfigHome();
    expect(await typed(home, ["config", "get", "questions.timeout"])).toEqual({ exit: 0, stdout: "24h\n", stderr: "" });
    expect((await typed(home, ["config", "get", "questions.remind_at"])).stdout).toBe("[0.5,0.9]\n");
    expect((await typed(home, ["config", "get", "alerts"])).stdout).toContain("alerts.window");
  });

  test("says what is not set, and what there is not", async () => {
    const home = new ConfigHome();
    expect(await typed(home, ["config", "get", "server.host"])).toEqual({
      exit: 5,
      stdout: "",
      stderr: "error: server.host is not set\n  Set it with: askd config set server.host <value>\n",
    });
    expect(await typed(home, ["config", "get", "questions.timout"])).toEqual({
      exit: 2,
      stdout: "",
      stderr: 'error: There is no setting "questions.timout"\n  Did you mean questions.timeout?\n',
    });
    expect((await typed(home, ["config", "get", "timeout"])).stderr).toContain("Did you mean questions.timeout?");
    expect((await typed(home, ["config", "tell"])).exit).toBe(2);
  });
});

describe("config set", () => {
  test("makes a file that only its user can read, and names its schema", async () => {
    const home = new ConfigHome();
    expect(await typed(home, ["config", "set", "questions.timeout", "12h"])).toEqual({
      ...SAID,
      stderr: "✓ questions.timeout set in /home/.config/askd/config.toml\n",
    });
    expect(readFileSync(home.userFile, "utf8")).toBe(
      '#:schema https://cdn.jsdelivr.net/npm/askd/askd.schema.json\n\n[questions]\ntimeout = "12h"\n',
    );
    expect(statSync(home.userFile).mode & 0o777).toBe(0o600);
    expect(statSync(join(home.userFile, "..")).mode & 0o777).toBe(0o700);
  });

  test("changes one value and keeps every other byte, also behind a link", async () => {
    const home = new ConfigHome();
    const real = join(home.home, "dotfiles.toml");
    home.write(real, '# mine\r\n[questions]\r\ntimeout   =   "1h" # an hour\r\n');
    mkdirSync(join(home.userFile, ".."), { recursive: true });
    symlinkSync(real, home.userFile);
    await typed(home, ["config", "set", "questions.timeout", "2h"]);
    await typed(home, ["config", "set", "questions.max_per_run", "3"]);
    expect(readFileSync(real, "utf8")).toBe(
      '# mine\r\n[questions]\r\ntimeout   =   "2h" # an hour\r\nmax_per_run = 3\r\n',
    );
    expect(readFileSync(home.userFile, "utf8")).toBe(readFileSync(real, "utf8"));
  });

  test.each([
    ["server.port", "8080", "8080"],
    ["notifications.terminal_bell", "false", "false"],
    ["questions.remind_at", "[0.25]", "[0.25]"],
    ["server.names", '["a.example"]', '["a.example"]'],
    ["agents.nightly.resume", '["n", "{session}"]', '["n", "{session}"]'],
    ["questions.timeout", "90", '"90"'],
    ["questions.timeout", '"2d"', '"2d"'],
    ["questions.confidence", "{ act = 0.8 }", "{ act = 0.8 }"],
    ["alerts.timeout_rate_threshold", "0.5", "0.5"],
  ])("%s takes %s", async (key, value, written) => {
    const home = new ConfigHome();
    expect(await typed(home, ["config", "set", key, value])).toMatchObject(SAID);
    expect(readFileSync(home.userFile, "utf8")).toContain(` = ${written}\n`);
    expect((await typed(home, ["config", "list"])).exit).toBe(0);
  });

  test.each([
    [["questions.timeout", "soon"], "questions.timeout cannot be that: write a duration"],
    [["server.port", "many"], "server.port cannot be that: write a whole number from 0 to 65535"],
    [["channels.github.token", "abc"], "Type: askd config set channels.github.token_env <variable>"],
    [["questions", "1"], "questions is a table"],
    [["questions.timeout"], "A key and a value are missing"],
    [["--project", "store.url", "sqlite:/x"], "A project may not set store.url"],
    [["--project", "questions.on_timeout", "proceed"], "A project may not make silence an answer"],
    [["--project", "--user", "questions.timeout", "1h"], "--user and --project name different files"],
    [["store.url", "postgres://a:secret12@db/x"], "write it without the password"],
    [["profiles.work.token_env", "TOKEN"], "profiles.work cannot be"],
  ])("refuses %j and leaves no file behind", async (words, said) => {
    const home = new ConfigHome();
    const { exit, stderr } = await typed(home, ["config", "set", ...words]);
    expect(exit).toBe(2);
    expect(stderr).toContain(said);
    expect(stderr).not.toContain("secret12");
    expect(existsSync(home.userFile) || existsSync(home.projectFile)).toBe(false);
  });

  test("mends a file that is wrong, one value after another", async () => {
    const home = new ConfigHome();
    home.write(home.userFile, "[questions]\ntimeout = 1\nmax_per_run = -1\n");
    expect((await typed(home, ["status"])).exit).toBe(2);
    expect(await typed(home, ["config", "set", "questions.timeout", "1h"])).toMatchObject(SAID);
    expect(await typed(home, ["config", "unset", "questions.max_per_run"])).toMatchObject(SAID);
    expect((await typed(home, ["status"])).exit).toBe(0);
  });

  test("of a project goes to the root of its repository, readable for all", async () => {
    const home = new ConfigHome();
    const inner = join(home.project, "src");
    mkdirSync(join(home.project, ".git"), { recursive: true });
    mkdirSync(inner);
    await typed(home, ["config", "set", "--project", "questions.on_timeout", "skip"], { cwd: inner });
    expect(readFileSync(home.projectFile, "utf8")).toContain('[questions]\non_timeout = "skip"\n');
    expect(statSync(home.projectFile).mode & 0o777).toBe(0o644);
  });

  test("is not for agents", async () => {
    const home = new ConfigHome();
    const argv = ["config", "set", "questions.timeout", "1s"];
    const env = { ASKD_RUN: `r_${"0".repeat(26)}` };
    expect(await typed(home, argv, { env })).toMatchObject({ exit: 7 });
    expect(await typed(home, argv, { runsAbove: () => ["r_x"] })).toMatchObject({ exit: 7 });
    expect(existsSync(home.userFile)).toBe(false);
  });

  test("by many at once loses nothing", async () => {
    const home = new ConfigHome();
    home.write(home.userFile, "");
    const keys = ["items", "options", "pending", "comments", "streams"];
    const ended = await Promise.all(keys.map((key) => typed(home, ["config", "set", `limits.${key}`, "9"])));
    const text = readFileSync(home.userFile, "utf8");
    expect(ended.map(({ exit }) => exit)).toEqual(keys.map(() => 0));
    for (const key of keys) expect(text).toContain(`${key} = 9\n`);
  });
});

describe("config unset", () => {
  test("takes a value out, or a whole table", async () => {
    const home = new ConfigHome();
    home.write(
      home.userFile,
      '# a\n[profiles.work] # w\nurl = "https://a.example"\ntoken_env = "T"\n\n[server]\nport = 1 # p\n',
    );
    expect(await typed(home, ["config", "unset", "profiles.work"])).toEqual({
      ...SAID,
      stderr: "✓ profiles.work removed from /home/.config/askd/config.toml\n",
    });
    expect(readFileSync(home.userFile, "utf8")).toBe("# a\n\n[server]\nport = 1 # p\n");
    await typed(home, ["config", "unset", "server.port"]);
    expect(readFileSync(home.userFile, "utf8")).toBe("# a\n\n[server]\n");
  });

  test("says where a value is set if not here", async () => {
    const home = new ConfigHome();
    home.write(home.projectFile, '[questions]\ntimeout = "1h"\n');
    expect(await typed(home, ["config", "unset", "questions.timeout"])).toEqual({
      exit: 5,
      stdout: "",
      stderr:
        "error: questions.timeout is not set in /home/.config/askd/config.toml\n" +
        "  It is set in /home/project/askd.toml; add --project\n",
    });
    expect(await typed(home, ["config", "unset", "--project", "questions.timeout"])).toMatchObject(SAID);
    expect(readFileSync(home.projectFile, "utf8")).toBe("[questions]\n");
  });
});

describe("config path, edit and schema", () => {
  test("path names the files, the strongest first", async () => {
    const home = new ConfigHome();
    home.write(home.projectFile, "");
    expect((await typed(home, ["config", "path"])).stdout).toBe(
      "project  /home/project/askd.toml\nuser     /home/.config/askd/config.toml  (does not exist)\nsystem   /etc/askd/config.toml  (does not exist)\n",
    );
    expect((await typed(home, ["config", "path", "--user"])).stdout).toBe("/home/.config/askd/config.toml\n");
    const { stdout } = await typed(home, ["config", "path", "--json"]);
    expect(JSON.parse(stdout)).toContainEqual({ origin: "project", file: "/home/project/askd.toml", exists: true });
  });

  test("edit takes what is right and keeps what is not elsewhere", async () => {
    const home = new ConfigHome();
    const kept = new Map<string, string>();
    const editing = (text: string): Partial<ProcessWorld> => ({
      env: { EDITOR: "ed" },
      runChild: ({ argv }) => {
        writeFileSync(argv.at(-1) ?? "", text);
        return Promise.resolve({ exitCode: 0, stdout: "" });
      },
      writeFile: (file, written) => Promise.resolve(void kept.set(home.plain(file), written)),
    });
    const right = '[questions]\ntimeout = "1h"\n';
    expect(await typed(home, ["config", "edit"], editing(right))).toMatchObject(SAID);
    expect(readFileSync(home.userFile, "utf8")).toBe(right);
    const wrong = '[questions]\ntimeout = "soon"\n';
    const { exit, stderr } = await typed(home, ["config", "edit"], editing(wrong));
    expect(exit).toBe(2);
    expect(stderr).toContain("error: Not saved: /home/.config/askd/config.toml:2:1: questions.timeout cannot be");
    expect(stderr).toContain("Your text is in /home/.local/state/askd/rejected.toml\n");
    expect(kept).toEqual(new Map([["/home/.local/state/askd/rejected.toml", wrong]]));
    expect(readFileSync(home.userFile, "utf8")).toBe(right);
    expect((await typed(home, ["config", "edit"])).stderr).toContain(
      "Set EDITOR, or open /home/.config/askd/config.toml",
    );
  });

  test("schema prints what editors read", async () => {
    const { stdout } = await typed(new ConfigHome(), ["config", "schema"]);
    const published: unknown = JSON.parse(
      readFileSync(new URL("../../../../askd.schema.json", import.meta.url), "utf8"),
    );
    expect(JSON.parse(stdout)).toEqual(published); // if not: npm run schema && npm run format
  });
});
