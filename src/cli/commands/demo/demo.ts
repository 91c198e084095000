import { dirname, join } from "node:path";
import { parseDuration } from "../../../core/text/duration.ts";
import { type Run, hasEnded } from "../../../core/run/run.ts";
import { whoManages } from "../../actor.ts";
import { wrongUsage } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import { type Waiting, bringAnswer } from "./demo-answer.ts";
import { DemoStage } from "./demo-stage.ts";
import { Story } from "./demo-story.ts";
import { type Inbox, renderBeginning, renderEnd } from "./demo-view.ts";
import type { Flags, Values } from "../../flags.ts";

/** How long the question waits before what its agent declared applies: with a person here, and with nobody. */
const PATIENCE = { person: "10m", nobody: "30s" };
/** How much longer than that the whole story takes at most. */
const WORK_MS = 60_000;
/** Its terminal was closed, or whoever read what it says has seen enough. */
const LEFT = ["SIGHUP", "SIGPIPE"] as const;
const EXIT_ERROR = 1;
const EXIT_INTERRUPTED = 130;

const flags = {
  answer: { type: "string", value: "answer", about: "Answer with this, for scripts" },
  keep: { type: "boolean", about: "Leave the store and the work where they are" },
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
    // Who presses Ctrl-C twice still leaves nothing behind.
    interrupt.addEventListener("abort", () => void context.interrupt(), { once: true });
    const stage = await DemoStage.open(context);
    try {
      const signal = AbortSignal.any([interrupt, AbortSignal.timeout(patienceMs + WORK_MS)]);
      const exitCode = await show(stage, args.flags, { patienceMs, signal });
      if (exitCode === undefined && !interrupt.aborted) throw new Error(`It did not end: ${stage.logged.join("")}`);
      return exitCode ?? EXIT_INTERRUPTED;
    } finally {
      await stage.close({ isKept: keep });
    }
  },
};

/** Shows the whole story; gives nothing when it was interrupted. */
async function show(stage: DemoStage, given: Given, waiting: Waiting): Promise<number | undefined> {
  const { stdout, style, program } = stage.context;
  const { url } = stage.serving;
  const startedAt = performance.now();
  stdout.write(renderBeginning({ url, dir: stage.dir, inbox: await findInbox(stage) }, style));
  const run = await startRun(stage, waiting);
  if (!run) return waiting.signal.aborted ? undefined : EXIT_ERROR;
  const story = new Story(stage, run);
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
    renderEnd({ run: ended, trail, tookMs, thoughtMs, kept: given.keep ? stage.dir : undefined, program }, style),
  );
  return ended.status === "completed" && trail.problems.length === 0 ? 0 : EXIT_ERROR;
}

/** Starts the agent the way that people start theirs: by a command, from a process of its own. */
async function startRun(stage: DemoStage, { patienceMs }: Waiting): Promise<Run | undefined> {
  const { stdout, style, self, program } = stage.context;
  const [node = "node", bin = ""] = self;
  stdout.write(`${style.dim("$")} ${program} run --name add-caching -- node demo-agent.cjs\n`);
  const agent = join(dirname(bin), "demo-agent.cjs");
  const argv = ["run", "--name", "add-caching", "--", node, agent, `${patienceMs}ms`];
  await stage.type(argv, (line) => stdout.write(`${line}\n`));
  const [run] = await stage.engine.listRuns({ order: "newest", limit: 1 });
  return run;
}

/** The web inbox with a code for this person, where the server has one. */
async function findInbox({ context, engine, serving }: DemoStage): Promise<Inbox | undefined> {
  const page = await fetch(`${serving.url}/`, { redirect: "manual", headers: { accept: "text/html" } });
  await page.body?.cancel();
  if (page.status >= 400) return undefined;
  const by = await whoManages(engine, context);
  const { text } = await engine.issueToken({ scope: "login", subject: by.id }, by);
  return { url: serving.url, code: text };
}
