import type { QuestionSnapshot } from "../../../core/changes.ts";
import { formatDuration } from "../../../core/text/duration.ts";
import type { Run } from "../../../core/run/run.ts";
import type { Verified } from "../../../engine/engine.ts";
import { commandNames } from "../../command.ts";
import { oneLine } from "../../view/sanitise.ts";
import { type Style, padCells } from "../../terminal/terminal.ts";

/** The address of the web inbox, and a one-time code for it. */
export interface DemoInbox {
  url: string;
  code: string;
}

/** The text before the agent starts. */
export function renderDemoStart(at: { url: string; dir: string; inbox: DemoInbox | undefined }, style: Style): string {
  return [
    style.bold("An agent works alone, asks you, stops, and resumes with your answer."),
    `No account and no key needed; the agent is scripted, everything else is real.`,
    "",
    `Store  ${at.dir}`,
    at.inbox ? `Inbox  ${at.inbox.url}  sign in there with ${style.bold(at.inbox.code)}` : `Server ${at.url}`,
    "",
    "",
  ].join("\n");
}

/** The question, the keys to press here, and the command for another terminal. */
export function renderDemoQuestion(
  { content }: QuestionSnapshot,
  ways: { keys: readonly string[]; elsewhere: string },
  style: Style,
): string {
  const [item] = content.items;
  const options = item?.options ?? [];
  const cells = Math.max(...options.map(({ label }) => label.length)) + 2;
  const lines = options.map(
    ({ label, description = "", recommended }, index) =>
      `  ${style.bold(String(index + 1))}  ${padCells(oneLine(label), cells)}${style.dim(oneLine(description))}` +
      (recommended ? style.dim(" (recommended)") : ""),
  );
  return [
    "",
    style.bold(oneLine(item?.text ?? "")),
    ...(content.context === undefined ? [] : [oneLine(content.context)]),
    ...lines,
    "",
    ways.keys.length > 0 ? `Press ${ways.keys.join(" or ")}. Or type in another terminal:` : "In another terminal:",
    `  ${ways.elsewhere}`,
    "",
  ].join("\n");
}

interface Ended {
  run: Run;
  trail: Verified;
  tookMs: number;
  /** The part of it that was waiting for the answer. */
  thoughtMs: number;
  /** The directory, if it is kept. */
  kept: string | undefined;
  program: string;
}

/** The text at the end: the result, and what to do next. */
export function renderDemoEnd({ run, trail, tookMs, thoughtMs, kept, program }: Ended, style: Style): string {
  const isDone = run.status === "completed" && trail.problems.length === 0;
  const time = `${formatDuration(wholeSeconds(tookMs))}, of which ${formatDuration(wholeSeconds(thoughtMs))} waiting for an answer`;
  const proof = `${trail.events} events, and ${trail.problems.length === 0 ? "nothing" : "something"} in them was changed`;
  return [
    "",
    `${isDone ? style.green("✓") : style.red("✗")} #${run.number} ${oneLine(run.name)} ${run.status} in ${time}.`,
    `  The trail: ${proof}.`,
    ...(kept === undefined ? [] : [`  Kept: ASKD_HOME=${kept} ${program} show ${run.number}`]),
    "",
    style.bold("Next"),
    ...nextSteps(program).map(([what, line]) => `  ${padCells(what, 26)}${line}`),
    "",
  ].join("\n");
}

function nextSteps(program: string): Array<readonly [string, string]> {
  return [
    ...(commandNames().includes("init") ? [["Set up your agents", `${program} init`] as const] : []),
    ["Run your agent", `${program} run -- claude -p "Add caching. Ask me before you pick a store."`],
    ["Ask from a script", `${program} ask "Redis or Memcached?" -o Redis -o Memcached --wait 10m`],
    ["See what is waiting", `${program} status`],
  ];
}

function wholeSeconds(ms: number): number {
  return Math.max(1, Math.round(ms / 1000)) * 1000;
}
