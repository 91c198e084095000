import { expect, test } from "vitest";
import type { Outbound } from "../outbound.ts";
import { desktopChannel } from "./desktop.ts";
import type { Notification } from "./notifier.ts";

interface Call {
  argv: readonly string[];
  env: Readonly<Record<string, string>>;
}

/** A machine with these programs, which remembers how they were called. */
function aMachine(installed: readonly string[]) {
  const calls: Call[] = [];
  const run: Outbound["run"] = (argv, { env = {} } = {}) => {
    calls.push({ argv, env });
    const isThere = installed.includes(argv[0] ?? "");
    return Promise.resolve(isThere ? { exitCode: 0, stderr: "" } : { exitCode: 127, stderr: "not installed" });
  };
  const outbound = { run } as unknown as Outbound; // nothing else is used
  return { calls, channelOn: (platform: string, env = {}) => desktopChannel({ platform, env }, outbound) };
}

const NOTIFICATION: Notification = {
  title: '-q "x" $(id)',
  body: "A) Redis\n<b>&",
  urgency: "normal",
  group: "q_1",
  buttons: [],
  link: "https://askd.example.com/q/q_1",
  openLabel: "Open",
};
const WIRE = { ...NOTIFICATION };

test("macOS shows a notification with its own program, text as arguments, and never twice", async () => {
  const { calls, channelOn } = aMachine(["osascript"]);
  const channel = channelOn("darwin");
  expect(channel).toMatchObject({ strength: undefined });
  expect(channel.listen).toBeUndefined();
  expect(await channel.send(WIRE)).toEqual({ ok: true, outside: "osascript" });
  expect(calls.map(({ argv }) => argv[0])).toEqual(["terminal-notifier", "osascript"]);
  expect(calls[1]?.argv).toEqual([
    "osascript",
    "-e",
    "on run argv",
    "-e",
    "display notification (item 1 of argv) with title (item 2 of argv)",
    "-e",
    "end run",
    "--",
    "A) Redis\n<b>&",
    '-q "x" $(id)',
  ]);
  expect(await channel.edit?.("osascript", WIRE)).toEqual({ ok: true });
  expect(calls).toHaveLength(2);
});

test("terminal-notifier replaces a notification of the same question and opens its card", async () => {
  const { calls, channelOn } = aMachine(["terminal-notifier", "osascript"]);
  const channel = channelOn("darwin");
  expect(await channel.send(WIRE)).toEqual({ ok: true, outside: "terminal-notifier" });
  expect(await channel.edit?.("terminal-notifier", WIRE)).toMatchObject({ ok: true });
  expect(calls).toHaveLength(2);
  const argv = calls[0]?.argv ?? [];
  expect(argv.slice(argv.indexOf("-group"))).toEqual(["-group", "q_1", "-open", "https://askd.example.com/q/q_1"]);
  // It would read an argument that begins with a dash as an option.
  expect(argv[argv.indexOf("-title") + 1]).toBe('\u2060-q "x" $(id)');
});

test.each([
  ["win32", {}],
  ["linux", { WSL_DISTRO_NAME: "Debian" }],
])("Windows shows a toast, on %s with %j: the script is fixed and text comes in variables", async (platform, env) => {
  const { calls, channelOn } = aMachine(["powershell.exe"]);
  const channel = channelOn(platform, env);
  await channel.send(WIRE);
  await channel.send({ ...WIRE, title: "another" });
  const [first, second] = calls;
  expect(first?.argv).toEqual(second?.argv);
  expect(first?.argv.slice(0, 4)).toEqual(["powershell.exe", "-NoProfile", "-NonInteractive", "-EncodedCommand"]);
  const script = Buffer.from(first?.argv[4] ?? "", "base64").toString("utf16le");
  expect(script).toContain("CreateTextNode($env:NOTE_TITLE)");
  expect(first?.env).toMatchObject({ NOTE_TITLE: '-q "x" $(id)', NOTE_TAG: "q_1", NOTE_LINK: NOTIFICATION.link });
  // A Linux inside Windows hands over only the variables that this one names.
  const { WSLENV = "", ...variables } = first?.env ?? {};
  expect(WSLENV.split(":")).toEqual(Object.keys(variables));
  for (const name of Object.keys(variables)) expect(script).toContain(`$env:${name}`);
});

test("without any program the failure says so", async () => {
  const { channelOn } = aMachine([]);
  expect(await channelOn("darwin").send(WIRE)).toMatchObject({ ok: false, why: "not installed" });
});
