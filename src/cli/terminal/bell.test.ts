import { expect, test } from "vitest";
import { bellFor, windowTitle } from "./bell.ts";
import { instant } from "../../core/instant.ts";

type BellContext = Parameters<typeof bellFor>[0];

function aTerminal(
  env: Record<string, string>,
  terminal: { bell?: boolean; notify?: boolean } = {},
  over: Partial<BellContext> = {},
) {
  const context = {
    stderr: { isTty: true, columns: 80, write: () => undefined },
    isQuiet: false,
    isAccessible: false,
    env,
    config: { values: { channels: { terminal } } },
    now: () => instant(0),
    ahead: () => 0,
  };
  return { ...context, ...over } as unknown as BellContext; // what the bell reads
}

const KITTY = { TERM: "xterm-kitty" };

test.each([
  ["iTerm2", { TERM_PROGRAM: "iTerm.app", TERM: "xterm-256color" }, "\x1b]9;askd: Which cache?\x1b\\"],
  ["WezTerm", { TERM_PROGRAM: "WezTerm", TERM: "xterm-256color" }, "\x1b]9;askd: Which cache?\x1b\\"],
  ["kitty", KITTY, "\x1b]99;;askd: Which cache?\x1b\\"],
  ["foot", { TERM: "foot" }, "\x1b]777;notify;askd;Which cache?\x1b\\"],
  ["urxvt", { TERM: "rxvt-unicode-256color" }, "\x1b]777;notify;askd;Which cache?\x1b\\"],
  ["a terminal that is not known to have notifications", { TERM: "xterm-256color" }, ""],
  ["tmux, which passes none on", { ...KITTY, TMUX: "/tmp/tmux-0/default,1,0" }, ""],
  ["a dumb terminal", { TERM_PROGRAM: "iTerm.app", TERM: "dumb" }, ""],
])("rings, and shows the question as a notification where the terminal has that: %s", (_name, env, shown) => {
  expect(bellFor(aTerminal(env), "Which cache?")).toBe(`\x07${shown}`);
});

test("what an agent wrote ends no sequence and begins none", () => {
  const evil = "a\x1b\\\x1b]52;c;eA==\x07\x9c;b\nc";
  const text = bellFor(aTerminal({ TERM: "foot" }), evil).slice(1);
  const inside = text.slice("\x1b]777;notify;askd;".length, -"\x1b\\".length);
  // oxlint-disable-next-line no-control-regex -- control characters are what must not be there
  expect(inside).not.toMatch(/[\x00-\x1f\x7f-\x9f;]/);
});

test("the bell and the notification can be turned off, and neither goes into a pipe", () => {
  const silent = bellFor(aTerminal(KITTY, { notify: false }), "Which cache?");
  expect(silent).toBe("\x07");
  expect(bellFor(aTerminal(KITTY, { bell: false }), "Which cache?")).toBe("");
  expect(bellFor(aTerminal(KITTY, { bell: false, notify: true }), "Which cache?")).toBe(
    "\x1b]99;;askd: Which cache?\x1b\\",
  );
  expect(bellFor(aTerminal(KITTY, {}, { isQuiet: true }), "Which cache?")).toBe("");
  expect(bellFor(aTerminal(KITTY, {}, { isAccessible: true }), "Which cache?")).toBe("\x07");
  const pipe = { isTty: false, columns: undefined, write: () => undefined };
  expect(bellFor(aTerminal(KITTY, {}, { stderr: pipe }), "Which cache?")).toBe("");
});

test("the title of the window says that a question waits, and comes back, where the terminal keeps it", () => {
  const { show, restore } = windowTitle(aTerminal({ TERM: "xterm-256color" }));
  expect([show, restore]).toEqual(["\x1b[22;2t\x1b]2;(1) askd\x1b\\", "\x1b[23;2t"]);
  const none = { show: "", restore: "" };
  const pipe = { isTty: false, columns: undefined, write: () => undefined };
  expect(windowTitle(aTerminal({ TERM: "xterm" }, {}, { stderr: pipe }))).toEqual(none);
  expect(windowTitle(aTerminal({ TERM: "xterm" }, { notify: false }))).toEqual(none);
  for (const TERM of ["dumb", "linux", "screen-256color"]) expect(windowTitle(aTerminal({ TERM }))).toEqual(none);
});
