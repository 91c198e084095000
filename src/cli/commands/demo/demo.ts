import { dirname, join } from "node:path";
import { parseDuration, formatDuration } from "../../../core/text/duration.ts";
import { type Run, hasEnded } from "../../../core/run/run.ts";
import { EXIT_CODE } from "../../../core/exit-code.ts";
import type { QuestionSnapshot } from "../../../core/changes.ts";
import { later } from "../../../core/instant.ts";
import type { Verified } from "../../../engine/engine.ts";
import { whoManages } from "../../actor.ts";
import { wrongUsage } from "../../arguments.ts";
import { type Command, commandNames } from "../../command.ts";
import type { Flags, Values } from "../../flags.ts";
import { type Key, readKey } from "../../terminal/keyboard.ts";
import { quoted } from "../../view/run-text.ts";
import { oneLine } from "../../view/sanitise.ts";
import { type Style, padCells } from "../../terminal/terminal.ts";
import { DemoStage, DemoStory } from "./demo-stage.ts";

/** How long the question waits before the agent's default applies: with a person here, and without. */
const PATIENCE = { person: "10m", nobody: "30s" };
/** The most time that the rest of the demo takes. */
const WORK_MS = 60_000;
/** The terminal was closed, or the reader of a pipe ended. */
const LEFT = ["SIGHUP", "SIGPIPE"] as const;

const flags = {
  answer: { type: "string", value: "answer", about: "Give this answer, for scripts" },
  keep: { type: "boolean", about: "Keep the store and the work" },
  patience: {
    type: "string",
    value: "duration",
    about: `How long to wait (${PATIENCE.person}; ${PATIENCE.nobody} where nobody can type)`,
  },
} as const satisfies Flags;
type FlagValues = Values<typeof flags>;

/** How long to wait for the answer, and the signal that ends the wait. */
interface DemoQuestion {
  patienceMs: number;
  signal: AbortSignal;
}

/** The address of the web inbox, and a one-time code for it. */
interface DemoInbox {
  url: string;
  code: string;
}

export const command: Command<typeof flags> = {
  usage: "demo [--answer 1] [--keep]",
  flags,
  examples: ["askd demo", "askd demo --answer 2", "askd demo --keep"],
  async run(args, context) {
    if (args.positionals.length > 0) throw wrongUsage("demo takes no arguments", command.usage);
    const { patience = context.mayPrompt ? PATIENCE.person : PATIENCE.nobody, keep = false } = args.flags;
    const patienceMs = parseDuration(patience);
    const interrupt = context.interrupt(LEFT);
    // A second Ctrl-C must not interrupt the clean-up.
    interrupt.addEventListener("abort", () => void context.interrupt(), { once: true });
    const stage = await DemoStage.open(context);
    try {
      const signal = AbortSignal.any([interrupt, AbortSignal.timeout(patienceMs + WORK_MS)]);
      const exitCode = await show(stage, args.flags, { patienceMs, signal });
      if (exitCode === undefined && !interrupt.aborted) throw new Error(`It did not end: ${stage.logged.join("")}`);
      return exitCode ?? EXIT_CODE.interrupted;
    } finally {
      await stage.close({ isKept: keep });
    }
  },
};

/** Runs the demo; undefined if it was interrupted. */
async function show(stage: DemoStage, given: FlagValues, waiting: DemoQuestion) {
  const { stdout, style, program } = stage.context;
  const { url } = stage.serving;
  const startedAt = performance.now();
  stdout.write(renderDemoStart({ url, dir: stage.dir, inbox: await findInbox(stage) }, style));
  const run = await startRun(stage, waiting);
  if (!run) return waiting.signal.aborted ? undefined : EXIT_CODE.error;
  const story = new DemoStory(stage, run);
  const parked = await story.until((now) => now.status === "awaiting_input" || hasEnded(now), waiting.signal);
  if (!parked) return undefined;
  const askedAt = performance.now();
  const exitCode = await bringAnswer(stage, parked, given.answer, waiting);
  if (exitCode !== undefined) return exitCode;
  const thoughtMs = performance.now() - askedAt;
  const ended = await story.until((now) => hasEnded(now) && now.worker === undefined, waiting.signal);
  if (!ended) return undefined;
  const tookMs = performance.now() - startedAt;
  const trail = await stage.engine.verify();
  stdout.write(
    renderDemoEnd({ run: ended, trail, tookMs, thoughtMs, kept: given.keep ? stage.dir : undefined, program }, style),
  );
  return ended.status === "completed" && trail.problems.length === 0 ? 0 : EXIT_CODE.error;
}

/** Starts the agent as people do: with `askd run`, in its own process. */
async function startRun(stage: DemoStage, { patienceMs }: DemoQuestion) {
  const { stdout, style, self, program } = stage.context;
  const [node = "node", bin = ""] = self;
  stdout.write(`${style.dim("$")} ${program} run --name add-caching -- node demo-agent.cjs\n`);
  const agent = join(dirname(bin), "demo-agent.cjs");
  const argv = ["run", "--name", "add-caching", "--", node, agent, `${patienceMs}ms`];
  await stage.type(argv, (line) => stdout.write(`${line}\n`));
  const [run] = await stage.engine.listRuns({ order: "newest", limit: 1 });
  return run;
}

/** The web inbox with a sign-in code, if the server has one. */
async function findInbox({ context, engine, serving }: DemoStage) {
  const page = await fetch(`${serving.url}/`, { redirect: "manual", headers: { accept: "text/html" } });
  await page.body?.cancel();
  if (page.status >= 400) return undefined;
  const by = await whoManages(engine, context);
  const { text } = await engine.issueToken({ scope: "login", subject: by.id }, by);
  return { url: serving.url, code: text };
}

/** Gets the question answered: by --answer, by a key here, or elsewhere. Returns an exit code if the demo ends here. */
async function bringAnswer(stage: DemoStage, run: Run, given: string | undefined, waiting: DemoQuestion) {
  if (run.pendingId === undefined) return undefined;
  const { stdout, style, program, mayPrompt } = stage.context;
  const read = await stage.engine.read(run.pendingId);
  const elsewhere = `ASKD_HOME=${stage.dir} ${program} answer ${run.number} 1`;
  const isHere = mayPrompt && given === undefined;
  stdout.write(renderDemoQuestion(read, { keys: isHere ? keysOf(read) : [], elsewhere }, style));
  if (given !== undefined) return answer(stage, read, given);
  if (isHere) return awaitKey(stage, read, waiting);
  const after = "if nobody answers, the agent's default applies";
  stdout.write(`Waiting ${formatDuration(waiting.patienceMs)}; ${after}.\n\n`);
  await stage.engine.wait(read.question.id, { until: await endOf(stage, waiting), signal: waiting.signal });
  return undefined;
}

/** Waits for a key that answers, or for an answer from elsewhere. */
async function awaitKey(stage: DemoStage, read: QuestionSnapshot, waiting: DemoQuestion) {
  const { stdout, streams } = stage.context;
  const over = new AbortController();
  const signal = AbortSignal.any([waiting.signal, over.signal]);
  const closed = stage.engine.wait(read.question.id, { until: await endOf(stage, waiting), signal });
  const watching = closed.then(() => over.abort());
  const keys = keysOf(read);
  try {
    for (;;) {
      const key = await readKey(streams().input, signal);
      if (signal.aborted) return undefined;
      if (key === undefined || isLeaving(key)) return EXIT_CODE.interrupted;
      if (key.name === "character" && keys.includes(key.text)) return await answer(stage, read, key.text);
      stdout.write(`Press ${keys.join(" or ")}, or q to quit.\n`);
    }
  } finally {
    over.abort();
    await watching;
  }
}

function isLeaving(key: Key) {
  if (key.name === "character") return key.text === "q";
  return key.name === "interrupt" || key.name === "end-of-input";
}

/** Answers as a person does, with a command in its own process. */
async function answer(stage: DemoStage, { run }: QuestionSnapshot, text: string) {
  const { stdout, style, program } = stage.context;
  stdout.write(`${style.dim("$")} ${program} answer ${run.number} ${quoted(text)}\n`);
  const done = await stage.type(["answer", String(run.number), "--", text], (line) => stdout.write(`${line}\n`));
  stdout.write(`${done.stdout}\n`);
  return done.exitCode === 0 ? undefined : done.exitCode;
}

function keysOf({ content }: QuestionSnapshot) {
  return content.items[0]?.options.map((_, index) => String(index + 1)) ?? [];
}

/** A time after the question's own deadline has been handled. */
async function endOf({ engine }: DemoStage, { patienceMs }: DemoQuestion) {
  return later(await engine.now(), 2 * patienceMs + 60_000);
}

/** The text before the agent starts. */
function renderDemoStart(at: { url: string; dir: string; inbox: DemoInbox | undefined }, style: Style) {
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
function renderDemoQuestion(
  { content }: QuestionSnapshot,
  ways: { keys: readonly string[]; elsewhere: string },
  style: Style,
) {
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
function renderDemoEnd({ run, trail, tookMs, thoughtMs, kept, program }: Ended, style: Style) {
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

function nextSteps(program: string) {
  return [
    ...(commandNames().includes("init") ? [["Set up your agents", `${program} init`] as const] : []),
    ["Run your agent", `${program} run -- claude -p "Add caching. Ask me before you pick a store."`],
    ["Ask from a script", `${program} ask "Redis or Memcached?" -o Redis -o Memcached --wait 10m`],
    ["See what is waiting", `${program} status`],
  ];
}

function wholeSeconds(ms: number) {
  return Math.max(1, Math.round(ms / 1000)) * 1000;
}
