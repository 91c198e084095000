import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import { agents } from "../../../agents/agents.ts";
import { getProgram } from "../../../agents/runner/launch.ts";
import { type Launch, keepLaunch, makeRunDir, removeRunDir } from "../../../agents/runner/run-files.ts";
import { addWorktree, excludeAskd, removeWorktree } from "../../../agents/workspace/worktree.ts";
import { parseDuration } from "../../../core/text/duration.ts";
import { idsFrom } from "../../../core/id.ts";
import { Refusal } from "../../../core/refusal.ts";
import type { Run } from "../../../core/run/run.ts";
import { TimeoutDo } from "../../../core/question/timeout-policy.ts";
import { RUN_FIELDS, viewRun } from "../../../core/api/view.ts";
import type { Engine, RunInput } from "../../../engine/engine.ts";
import { nameFrom } from "../../../engine/new-run.ts";
import { whoTypes } from "../../actor.ts";
import { mirrorHere } from "../../after-change.ts";
import { wrongUsage } from "../../arguments.ts";
import { readPriority } from "../ask/ask-flags.ts";
import { isServiceOff, startService } from "../service/background-worker.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import { readCount } from "../../count.ts";
import type { Flags, Values } from "../../flags.ts";
import { launchEnv } from "./launch-env.ts";
import { printResult } from "../../output.ts";
import { findRepository } from "./repository.ts";
import { type AgentSection, findAgent, getAgent } from "./configured-agent.ts";
import { followRun } from "./run-follow.ts";
import { oneLine } from "../../view/sanitise.ts";
import { getTarget } from "../../target.ts";
import { whileWorking } from "../../terminal/while-working.ts";

const LEAST_WINDOW_MS = 1_000;

const flags = {
  agent: { type: "string", value: "agent", about: `Which agent: ${Object.keys(agents).join(", ")} (claude)` },
  name: { type: "string", value: "name", about: "What to call the run" },
  wait: { type: "boolean", about: "Follow it until it ends" },
  worktree: { type: "boolean", about: "Let it work in a git worktree of its own" },
  parent: { type: "string", value: "run", about: "The run that this one is part of" },
  priority: { type: "string", value: "0-4", about: "Priority of the work" },
  label: { type: "string", multiple: true, value: "label", about: "A label; can be repeated" },
  budget: { type: "string", value: "dollars", about: "What it may cost" },
  "max-turns": { type: "string", value: "count", about: "How many turns it may take" },
  "max-questions": { type: "string", value: "count", about: "How many questions it may ask" },
  "live-window": { type: "string", value: "duration", about: "How long a question waits with the agent alive (3m)" },
  "on-timeout": { type: "string", value: "policy", about: "What happens to its questions that nobody answers" },
  "external-id": { type: "string", value: "id", about: "The id of this work in another system" },
  size: { type: "string", value: "size", about: "Size of the work" },
  "resume-with": {
    type: "string",
    value: "command",
    about: "How a command is started again; {session} and {message} are filled in",
  },
} as const satisfies Flags;

type Given = Values<typeof flags>;

export const command: Command<typeof flags> = {
  usage: 'run [--agent <agent>] "<prompt>"  |  run -- <command …>',
  flags,
  fields: RUN_FIELDS,
  examples: [
    'askd run "Add caching to the API"',
    'askd run --wait -- claude -p "Fix the login bug" --model opus',
    "askd run --wait -- ./nightly.sh",
  ],
  async run(args, context) {
    const isHere = args.flags.wait === true && isServiceOff(context.env);
    const engine = await context.engine({ runs: isHere });
    const launch = await readLaunch(args.positionals, args.flags, context);
    const run = await queue(engine, launch, args.flags, context);
    await mirrorHere(run.id, engine, context);
    const started = isHere ? "here" : await startService(context);
    say(context, run, started);
    if (!args.flags.wait) {
      printResult(context, RUN_FIELDS, { page: () => `${run.number}\n`, json: () => viewRun(run) });
      return 0;
    }
    const follow = (): Promise<number> => followRun(run, launch, engine, context);
    return isHere ? whileWorking(engine, follow) : follow();
  },
};

/** What is to be started: a prompt for an agent, or a whole command line. */
async function readLaunch(words: readonly string[], given: Given, context: Context): Promise<Launch> {
  const [first, ...rest] = words;
  if (first === undefined) throw wrongUsage("There is nothing to run", command.usage);
  const isPrompt = given.agent !== undefined || (rest.length === 0 && /\s/.test(first));
  const { agent, section } = isPrompt ? getAgent(given.agent ?? "claude", context) : findAgent(first, context);
  const [name = "", ...before] = isPrompt ? (section.argv ?? [agent.program]) : [first];
  if (name === "") throw wrongUsage("A command is named after --", command.usage);
  const program = await getProgram(name, context.env, context.cwd);
  const parsed = agent.parseArgs(isPrompt ? before : rest);
  const prompt = isPrompt ? words.join(" ") : parsed.prompt;
  return {
    agent: agent.name,
    program,
    args: [...parsed.args],
    ...(prompt !== undefined && { prompt }),
    dir: context.cwd,
    env: environment(given, context),
    options: options(given, section, context),
  };
}

/** The caller's environment, with what says where this askd keeps its things and what is wanted of the questions. */
function environment(given: Given, context: Context): Record<string, string> {
  const kept = Object.fromEntries(
    Object.entries(context.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  return {
    ...kept,
    ...launchEnv(context),
    ...(given["on-timeout"] !== undefined && { ASKD_ON_TIMEOUT: readPolicy(given["on-timeout"]) }),
    ...(given["max-questions"] !== undefined && {
      ASKD_MAX_QUESTIONS: String(readCount(given["max-questions"], "max-questions")),
    }),
  };
}

/** What the flags say, else what is configured for this agent, else for all. */
function options(given: Given, section: AgentSection, { rules }: Context): Launch["options"] {
  const resumeWith = given["resume-with"]?.trim().split(/\s+/) ?? section.resume;
  const maxTurns = given["max-turns"] === undefined ? section.max_turns : readCount(given["max-turns"], "max-turns");
  const budgetUsd = given.budget === undefined ? section.budget : readDollars(given.budget);
  const window = given["live-window"] ?? section.live_window;
  const liveWindowMs = window === undefined ? rules.liveWindowMs : parseDuration(window);
  return {
    ...(maxTurns !== undefined && { maxTurns }),
    ...(budgetUsd !== undefined && { budgetUsd }),
    liveWindowMs: Math.max(LEAST_WINDOW_MS, liveWindowMs),
    ...(resumeWith && { resumeWith }),
    promptTool: "approve",
  };
}

async function queue(engine: Engine, launch: Launch, given: Given, context: Context): Promise<Run> {
  const { store } = context.place;
  if (store.kind === "server") {
    throw new Refusal("bad_input", `${store.source} names a server; agents are started where the store is`, {
      hint: "Run this on the server's machine, or name a store with --store",
    });
  }
  // Whatever can be refused is read before anything is written.
  const by = await whoTypes(engine, context);
  const priority = given.priority === undefined ? undefined : readPriority(given.priority);
  const parent = given.parent === undefined ? undefined : await getTarget(engine, given.parent);
  const host = await context.keepHost(); // before the first run is made: a directory with runs is an old one
  const id = idsFrom(Date.now, randomBytes).run();
  const name = given.name ?? nameFrom(launch.prompt ?? [launch.program.split("/").at(-1), ...launch.args].join(" "));
  const tree = given.worktree ? await addWorktree(launch.dir, `${oneLine(name)}-${id.slice(-4)}`) : undefined;
  const dir = tree?.path ?? launch.dir;
  const input: RunInput = {
    ...{ id, name, agent: launch.agent, host, dir, giveBack: "worker" },
    measured: ["agent", "repo"],
    ...(await findRepository(resolve(dir), context.readFile)),
    ...(tree && { branch: tree.branch }),
    ...(given.label && { labels: given.label }),
    ...(priority !== undefined && { priority }),
    ...(given.size !== undefined && { size: given.size }),
    ...(given["external-id"] !== undefined && { externalId: given["external-id"] }),
    ...(parent?.named === "run" && { parentId: parent.run.id }),
  };
  try {
    await excludeAskd(dir);
    const runDir = await makeRunDir(context.place.stateDir, id);
    await keepLaunch(runDir, { ...launch, dir });
    return await engine.createRun(input, by);
  } catch (error) {
    // The commit may have come through although its reply did not: only a run that is not there leaves nothing behind.
    const isMade = await engine.findRun(id).then(
      (run) => run !== undefined,
      () => true,
    );
    if (!isMade) {
      await removeRunDir(context.place.stateDir, id);
      if (tree) await removeWorktree(launch.dir, tree);
    }
    throw error;
  }
}

function say(context: Context, run: Run, started: "here" | "running" | "started"): void {
  if (context.isQuiet || context.json) return;
  const { program } = context;
  const service = started === "started" ? " (started the askd worker in the background)" : "";
  const waits = started === "running" && isServiceOff(context.env) ? ` Start it with: ${program} worker.` : "";
  context.stderr.write(
    `#${run.number} ${oneLine(run.name)} is queued${service}.${waits} Follow: ${program} logs ${run.number} -f\n`,
  );
}

function readPolicy(text: string): string {
  const parsed = TimeoutDo.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new Refusal("bad_input", `--on-timeout takes one of: ${TimeoutDo.options.join(", ")}`);
}

function readDollars(text: string): number {
  const dollars = Number(text.replace(/^\$/, ""));
  if (dollars > 0) return dollars;
  throw new Refusal("bad_input", "--budget takes an amount in dollars, such as 2.50");
}
