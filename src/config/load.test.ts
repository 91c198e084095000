import { chmodSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ConfigHome } from "../../test/config-home.ts";
import { type Config, loadConfig } from "./load.ts";
import { formatProblem } from "../core/text/file-problem.ts";

async function load(write: (home: ConfigHome) => void): Promise<Config & { said: string[]; home: ConfigHome }> {
  const home = new ConfigHome();
  write(home);
  const config = await loadConfig(home.around());
  const said = [...config.errors, ...config.warnings].map((problem) =>
    home.plain([problem.level, formatProblem(problem), problem.hint].filter(Boolean).join(" | ")),
  );
  return { ...config, said, home };
}

/** The problems of a user's file with this text. */
async function saidOf(text: string): Promise<string[]> {
  return (await load((home) => home.write(home.userFile, text))).said;
}

async function saidOfProject(text: string): Promise<string[]> {
  return (await load((home) => home.write(home.projectFile, text))).said;
}

const USER = "/home/.config/askd/config.toml";

describe("what files say", () => {
  test("is taken from the project first, then from the user, then from the system", async () => {
    const { values, origins, home, said } = await load((made) => {
      made.write(made.projectFile, '[questions]\ntimeout = "1h"\n');
      made.write(made.userFile, '[questions]\ntimeout = "2h"\nlive_window = "2m"\n');
      made.write(made.systemFile, '[questions]\ntimeout = "3h"\nlive_window = "3m"\nmax_per_run = 3\n');
    });
    expect(said).toEqual([]);
    expect(values).toEqual({ questions: { timeout: "1h", live_window: "2m", max_per_run: 3 } });
    expect(origins.get("questions.timeout")).toEqual({ layer: "project", file: home.projectFile, line: 2 });
    expect(origins.get("questions.live_window")).toEqual({ layer: "user", file: home.userFile, line: 3 });
    expect(origins.get("questions.max_per_run")).toEqual({ layer: "system", file: home.systemFile, line: 4 });
  });

  test("is nothing where there is no file", async () => {
    expect(await load(() => undefined)).toMatchObject({ values: {}, warnings: [], errors: [] });
  });

  test("comes from one file where keys mean something together", async () => {
    const { values, said } = await load((home) => {
      home.write(
        home.userFile,
        '[profiles.work]\nurl = "https://askd.example"\n[audit]\nanchor_file = "/mnt/seals.ndjson"\n',
      );
      home.write(
        home.systemFile,
        '[profiles.work]\nstore = "sqlite:/srv/askd.db"\n[profiles.home]\nstore = "sqlite:/x"\n' +
          '[audit]\nanchor_file = "/srv/seals.ndjson"\nanchor_git = true\n',
      );
    });
    expect(said).toEqual([]);
    expect(values.audit).toEqual({ anchor_file: "/mnt/seals.ndjson" });
    expect(values.profiles).toEqual({
      work: { url: "https://askd.example" },
      home: { store: "sqlite:/x" },
    });
  });

  test("is the same with a byte order mark and with the line ends of Windows", async () => {
    const { values, origins, said } = await load((home) =>
      home.write(home.userFile, '\ufeff# mine\r\n[questions]\r\ntimeout = "1h"\r\n'),
    );
    expect(said).toEqual([]);
    expect(values.questions?.timeout).toBe("1h");
    expect(origins.get("questions.timeout")?.line).toBe(3);
  });

  test("counts in the folders below a repository, and not above it", async () => {
    const home = new ConfigHome();
    const inner = join(home.project, "packages/inner");
    home.write(join(home.home, "askd.toml"), '[questions]\ntimeout = "9h"\n');
    home.write(home.projectFile, '[questions]\ntimeout = "1h"\n');
    mkdirSync(inner, { recursive: true });
    const at = (cwd: string) => loadConfig(home.around({ cwd }));
    expect((await at(inner)).values.questions?.timeout).toBe("1h");
    mkdirSync(join(home.project, "packages/.git"));
    expect((await at(inner)).values).toEqual({});
    expect((await at(join(home.home, ".config"))).values.questions?.timeout).toBe("9h");
  });

  test("does not count in a folder above that anybody may write to", async () => {
    const home = new ConfigHome();
    const inner = join(home.root, "shared/inner");
    mkdirSync(inner, { recursive: true });
    home.write(join(home.root, "shared/askd.toml"), '[questions]\ntimeout = "5m"\n');
    expect((await loadConfig(home.around({ cwd: inner }))).values).toEqual({});
    expect((await loadConfig(home.around({ cwd: join(home.root, "shared") }))).values).not.toEqual({});
  });
});

describe("a key that nobody knows", () => {
  test.each([
    ['[questions]\ntimout = "1h"\n', 2, "questions.timout", "Did you mean questions.timeout?"],
    ['[question]\ntimeout = "1h"\n', 1, "question", "Did you mean questions?"],
    ['[questions]\nlive-window = "1h"\n', 2, "questions.live-window", "Did you mean questions.live_window?"],
    ['timeout = "1h"\n', 1, "timeout", "Did you mean questions.timeout?"],
    [
      "[answers]\nundo_window = { wep = '5s' }\n",
      2,
      "answers.undo_window.wep",
      "Did you mean answers.undo_window.web?",
    ],
    ['[colours]\nbell = "red"\n', 1, "colours", "See what can be set: askd config list"],
    ['[[fruit]]\nname = "apple"\n[[fruit]]\nname = "pear"\n', 1, "fruit", "See what can be set: askd config list"],
  ])("%j is named, with what was probably meant", async (text, line, key, hint) => {
    const [said = ""] = await saidOf(text);
    expect(said).toMatch(new RegExp(`^warning \\| ${USER}:${line}:\\d+: There is no setting "${key}" \\| `));
    expect(said.endsWith(hint)).toBe(true);
  });

  test("leaves the others as they are", async () => {
    const { values } = await load((home) => home.write(home.userFile, '[questions]\ntimout = "1h"\ntimeout = "2h"\n'));
    expect(values).toEqual({ questions: { timeout: "2h" } });
  });
});

describe("a wrong value", () => {
  test.each([
    ["[questions]\ntimeout = 24\n", `questions.timeout cannot be 24; write a duration from 1s to 366d, such as "24h"`],
    ['[questions]\ntimeout = "soon"\n', `questions.timeout cannot be "soon"; write a duration`],
    ['[questions]\nlive_window = "25h"\n', `questions.live_window cannot be "25h"; write a duration from 0s to 1d`],
    ['[questions]\non_timeout = "guess"\n', `questions.on_timeout cannot be "guess"; write one of: "wait", "proceed"`],
    ["[questions]\nmax_per_run = -1\n", "questions.max_per_run cannot be -1; write a whole number from 0"],
    ["[questions]\nmax_per_run = 1.5\n", "questions.max_per_run cannot be 1.5; write a whole number"],
    ["[questions]\nremind_at = [0.5, 2]\n", "questions.remind_at cannot be [0.5,2]; write a number from 0 to 1"],
    ["[questions]\nconfidence = 0.8\n", "questions.confidence cannot be 0.8; write { act = 0.85, ask = 0.5 }"],
    ["[questions]\nconfidence = { act = 0.5, ask = 0.8 }\n", "write a number for ask that is not above act"],
    [
      '[questions]\nconfidence = { below = "guess" }\n',
      'confidence.below cannot be "guess"; write one of: "ask", "skip"',
    ],
    ["questions = 3\n", "questions cannot be 3; write a table: [questions]"],
    ['[notifications]\nterminal_bell = "yes"\n', `notifications.terminal_bell cannot be "yes"; write true or false`],
    ['[notifications]\nquiet_hours = "22-7"\n', 'notifications.quiet_hours cannot be "22-7"; write a part of the day'],
    ['[notifications]\nwebhook_url = "http://example.com"\n', "write an address that starts with https://"],
    [
      '[server]\npublic_url = "https://example.com/askd"\n',
      'server.public_url cannot be "https://example.com/askd"; write an address without a path',
    ],
    ["[server]\nport = 70000\n", "server.port cannot be 70000; write a whole number from 0 to 65535"],
    ['[store]\nurl = "mysql://db"\n', 'store.url cannot be "mysql://db"; write "sqlite:/<absolute path>"'],
    ['[store]\nurl = "sqlite:askd.db"\n', 'write "sqlite:/<absolute path>"'],
    ['[store]\nurl = "sqlite:/a"\nurl_env = "B"\n', "write only one of url, url_env and url_file"],
    ['[audit]\nanchor_file = "seals.ndjson"\n', "write the absolute path of a file that every seal is appended to"],
    ["[audit]\nanchor_git = true\n", "audit.anchor_git cannot be true; write anchor_file first"],
    ['[audit]\nanchor_url = "http://example.com"\n', "write an address that starts with https://"],
    ['[audit]\nanchor_url = "https://example.com"\n', "write anchor_secret_env or anchor_secret_file first"],
    [
      '[audit]\nanchor_secret_env = "A"\nanchor_secret_file = "/b"\n',
      "write only one of anchor_secret_env and anchor_secret_file",
    ],
    ['[redact]\npatterns = ["("]\n', "write a regular expression that JavaScript knows"],
    ['[redact]\npatterns = ["x*"]\n', "and that matches some text"],
    ['[agents.x]\nresume = "x --resume"\n', "agents.x.resume cannot be"],
    ["[profiles.work]\n", "write either a url or a store"],
    ['[channels.slack]\nmode = "pigeon"\n', 'write one of: "socket", "http"'],
    ["[limits]\nitems = 1979-05-27\n", "limits.items cannot be"],
  ])("%j is an error that says what to write", async (text, part) => {
    const [said = ""] = await saidOf(text);
    expect(said).toContain(part);
    expect(said).toMatch(new RegExp(`^error \\| ${USER}:\\d+:\\d+: `));
  });

  test("counts for nothing, and what is right beside it stays", async () => {
    const { values, errors } = await load((home) =>
      home.write(home.userFile, '[questions]\ntimeout = 1\nlive_window = "2m"\nconfidence = { act = 8 }\n'),
    );
    expect(errors).toHaveLength(2);
    expect(values).toEqual({ questions: { live_window: "2m" } });
  });

  test("is shown without the secret in it", async () => {
    const [said = ""] = await saidOf('[store]\nurl = "postgres://ada:hunter2hunter2@db/askd"\n');
    expect(said).toContain("write it without the password");
    expect(said).not.toContain("hunter2");
  });
});

describe("a secret", () => {
  test.each([
    ['[channels.github]\ntoken = "ghp_0123456789abcdef0123456789abcdef0123"\n', "channels.github.token", "token_env"],
    ['[channels.email.smtp]\npassword = "hunter2hunter2"\n', "channels.email.smtp.password", "password_env"],
    ['[profiles.work]\nurl = "https://a.example"\ntoken = "abc"\n', "profiles.work.token", "token_file"],
    ['api_key = "abc"\n', "api_key", "api_key_env"],
    ['[mine]\nclient_secret = "abc"\n', "mine", "_env"],
  ])("in %j is refused, and where it belongs is said", async (text, key, hint) => {
    const { said, values } = await load((home) => home.write(home.userFile, text));
    expect(said.find((one) => one.startsWith("error"))).toContain(`"${key}" would keep a secret in this file`);
    expect(said.join()).toContain(hint);
    expect(said.join()).not.toMatch(/ghp_|hunter2/);
    expect(JSON.stringify(values)).not.toMatch(/ghp_|hunter2|abc/);
  });

  test("that stands where the name of its variable belongs is noticed", async () => {
    const [said = ""] = await saidOf('[channels.github]\ntoken_env = "ghp_0123456789abcdef0123456789abcdef0123"\n');
    expect(said).toContain("this looks like the secret itself");
    expect(said).not.toContain("ghp_0123");
  });
});

describe("the file of a project, which anybody may have written", () => {
  test("may say how long its questions wait", async () => {
    const text =
      '[questions]\nlive_window = "1m"\ntimeout = "1h"\non_timeout = "skip"\nmax_per_run = 5\n' +
      '[answers.undo_window]\ncli = "5s"\n[notifications]\nterminal_bell = false\nmacos_notification = true\n';
    expect(await saidOfProject(text)).toEqual([]);
  });

  test.each([
    ['[store]\nurl = "sqlite:/tmp/evil.db"\n', "store.url"],
    ['profile = "evil"\n', "profile"],
    ['[profiles.work]\nurl = "https://evil.example"\n', "profiles.work.url"],
    ["[server]\nport = 1\n", "server.port"],
    ['[server]\nnames = ["evil.example"]\n', "server.names"],
    ['[agents.claude]\nargv = ["sh", "-c", "curl evil.example"]\n', "agents.claude.argv"],
    ['[agents.x]\nresume = ["sh"]\n', "agents.x.resume"],
    ['[notifications]\nwebhook_url = "https://evil.example"\n', "notifications.webhook_url"],
    ['[notifications]\nquiet_hours = "00:00-23:59"\n', "notifications.quiet_hours"],
    ['[channels.slack]\nchannel = "#evil"\n', "channels.slack.channel"],
    ["[redact]\npatterns = []\n", "redact.patterns"],
    ["[limits]\npending = 1000000\n", "limits.pending"],
    ["[alerts]\npending_questions_threshold = 1000\n", "alerts.pending_questions_threshold"],
    ["[callbacks]\nallow_loopback = true\n", "callbacks.allow_loopback"],
    ['[audit]\nanchor_file = "/tmp/evil"\n', "audit.anchor_file"],
    ['[audit]\nanchor_secret_env = "A"\nanchor_url = "https://evil.example"\n', "audit.anchor_secret_env"],
    ["[questions]\nconfidence = { act = 0 }\n", "questions.confidence.act"],
    ["[questions]\nremind_at = []\n", "questions.remind_at"],
    ['[answers]\nundo_window.web = "0s"\n', "answers.undo_window.web"],
  ])("may not say %j", async (text, key) => {
    const { said, values } = await load((home) => home.write(home.projectFile, text));
    expect(said[0]).toMatch(
      new RegExp(`^error \\| /home/project/askd.toml:\\d+:\\d+: A project may not set ${key} \\| `),
    );
    expect(said[0]).toContain(`It belongs into your own file, ${USER}. Type: askd config set --user ${key} <value>`);
    expect(values).toEqual({});
  });

  test.each(["skip", "fail"])("may not leave people less than a minute, whatever comes then: %s", async (policy) => {
    const said = await saidOfProject(`[questions]\ntimeout = "59s"\non_timeout = "${policy}"\n`);
    expect(said[0]).toContain('A project may not leave people less than a minute: questions.timeout = "59s"');
    expect(await saidOfProject(`[questions]\ntimeout = "1m"\non_timeout = "${policy}"\n`)).toEqual([]);
    expect(await saidOf(`[questions]\ntimeout = "59s"\non_timeout = "${policy}"\n`)).toEqual([]);
  });

  test.each(["proceed", "default"])("may not make silence an answer by %s", async (policy) => {
    const said = await saidOfProject(`[questions]\non_timeout = "${policy}"\n`);
    expect(said[0]).toContain("A project may not make silence an answer");
    expect(await saidOf(`[questions]\non_timeout = "${policy}"\n`)).toEqual([]);
  });

  test("may not lead out of its repository by a link", async () => {
    const { said } = await load((home) => {
      home.write(join(home.home, "other.toml"), '[questions]\ntimeout = "1h"\n');
      mkdirSync(join(home.project, ".git"));
      symlinkSync("../other.toml", home.projectFile);
    });
    expect(said).toEqual([
      "error | /home/project/askd.toml: leads out of its project by a link | Put a file there instead of the link",
    ]);
  });
});

describe("a file that cannot be taken", () => {
  test("for it is no TOML says line and column, and nothing of what is in it", async () => {
    expect(await saidOf('[questions]\ntimeout = "1h\nkey = "s3cret"\n')).toEqual([
      expect.stringMatching(new RegExp(`^error \\| ${USER}:2:\\d+: This is not TOML: [^\\n]*$`)),
    ]);
    expect((await saidOf("a = 1\na = 2\n"))[0]).toMatch(/config\.toml:2:1: This is not TOML/);
    expect((await saidOf("__proto__ = 1\n"))[0]).toContain("This is not TOML: document contains an unsafe property");
  });

  test("for it is too large", async () => {
    expect((await saidOf(`# ${"x".repeat(300_000)}\n`))[0]).toMatch(/has 300003 bytes; at most 262144 are read/);
  });

  test("for it is deeper than anything we know", async () => {
    expect((await saidOf(`a = ${"[".repeat(100)}${"]".repeat(100)}\n`))[0]).toContain("This is not TOML");
  });

  test("for it is not UTF-8", async () => {
    const { said } = await load((home) => home.write(home.userFile, Uint8Array.of(0x61, 0x3d, 0xff, 0x0a)));
    expect(said[0]).toContain("is not UTF-8 text");
  });

  test("for it is a folder, or a link to itself, or may not be read", async () => {
    const folder = await load((home) => mkdirSync(home.userFile, { recursive: true }));
    expect(folder.said[0]).toMatch(/config\.toml: (is not a file|cannot be read \(EISDIR\))/);
    const loop = await load((home) => {
      home.write(join(home.userFile, "../x"), "");
      symlinkSync("config.toml", home.userFile);
    });
    expect(loop.said[0]).toContain("cannot be read (ELOOP)");
    if (process.getuid?.() === 0) return; // root may read everything
    const closed = await load((home) => {
      home.write(home.userFile, "");
      chmodSync(home.userFile, 0);
    });
    expect(closed.said[0]).toContain("cannot be read (EACCES)");
  });

  test("for everybody on this machine could have written it", async () => {
    const { said } = await load((home) => {
      home.write(home.userFile, "");
      chmodSync(home.userFile, 0o666);
    });
    expect(said[0]).toContain("can be changed by everybody on this machine | Type: chmod o-w '");
  });

  test("does not stop a link of the user's own from being followed", async () => {
    const { values } = await load((home) => {
      home.write(join(home.home, "dotfiles/askd.toml"), '[questions]\ntimeout = "1h"\n');
      mkdirSync(join(home.userFile, ".."), { recursive: true });
      symlinkSync("../../dotfiles/askd.toml", home.userFile);
    });
    expect(values.questions?.timeout).toBe("1h");
  });
});

test("a policy that escalates to nobody is reported", async () => {
  const text = '[questions]\non_timeout = "escalate"\n';
  expect(await saidOf(text)).toEqual([
    expect.stringContaining(`warning | ${USER}:2: questions.on_timeout = "escalate" names nobody to escalate to`),
  ]);
  const chain = '[escalation]\nsteps = [{ after = "30m", to = ["lena"] }]\n';
  expect(await saidOf(`${text}${chain}`)).toEqual([]);
});

test("a step of an escalation with a misspelt field is an error that says what to write", async () => {
  const [said] = await saidOf('[escalation]\nsteps = [{ after = "30m", too = ["lena"] }]\n');
  expect(said).toContain('write a list, such as [{ after = "30m", to = ["lena"] }]');
});
