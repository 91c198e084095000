import { dirname, join } from "node:path";
import { parseDuration } from "../../../core/text/duration.ts";
import { type Run, hasEnded } from "../../../core/run/run.ts";
import { EXIT_CODE } from "../../../core/exit-code.ts";
import { whoManages } from "../../actor.ts";
import { wrongUsage } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import { type DemoQuestion, bringAnswer } from "./demo-answer.ts";
import { DemoStage } from "./demo-stage.ts";
import { DemoStory } from "./demo-story.ts";
import { type DemoInbox, renderDemoStart, renderDemoEnd } from "./demo-view.ts";
import type { Flags, Values } from "../../flags.ts";

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
type Given = Values<typeof flags>;

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
async function show(stage: DemoStage, given: Given, waiting: DemoQuestion): Promise<number | undefined> {
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
async function startRun(stage: DemoStage, { patienceMs }: DemoQuestion): Promise<Run | undefined> {
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
async function findInbox({ context, engine, serving }: DemoStage): Promise<DemoInbox | undefined> {
  const page = await fetch(`${serving.url}/`, { redirect: "manual", headers: { accept: "text/html" } });
  await page.body?.cancel();
  if (page.status >= 400) return undefined;
  const by = await whoManages(engine, context);
  const { text } = await engine.issueToken({ scope: "login", subject: by.id }, by);
  return { url: serving.url, code: text };
}
