import { randomBytes } from "node:crypto";
import { resolve, basename } from "node:path";
import type { Agent, Limits } from "../../../agents/agent.ts";
import { AGENTS } from "../../../agents/agents.ts";
import {
  type AgentRegistry,
  agentsByName,
  chooseWay,
  findAgent,
  findAgentOf,
  limitedAgentTitles,
  projectFilesOf,
} from "../../../agents/registry.ts";
import { findProgram, getProgram, lowerLimits } from "../../../agents/runner/launch.ts";
import {
  type Launch,
  saveLaunch,
  makeRunDir,
  removeRunDir,
  withoutVariables,
} from "../../../agents/runner/run-files.ts";
import { addWorktree, excludeAskd, removeWorktree } from "../../../agents/workspace/worktree.ts";
import { parseDuration } from "../../../core/text/duration.ts";
import { howToAskByMarker } from "../../../core/run/how-to-ask.ts";
import { idsFrom } from "../../../core/id.ts";
import { parseIssue } from "../../../core/run/issue.ts";
import { Refusal } from "../../../core/refusal.ts";
import { MASK, redactor } from "../../../core/secret/redact.ts";
import { quoteShellWord } from "../../../core/text/shell-word.ts";
import type { Run } from "../../../core/run/run.ts";
import { TimeoutPolicy } from "../../../core/question/timeout-policy.ts";
import { RUN_FIELDS, viewRun } from "../../../core/api/view.ts";
import type { Engine, RunInput } from "../../../engine/engine.ts";
import { nameFrom } from "../../../engine/new-run.ts";
import { command as commandAgent } from "../../../agents/command/command.ts";
import { whoTypes } from "../../actor.ts";
import { mirrorHere } from "../../after-change.ts";
import { wrongUsage, readPositiveInteger } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import type { Args, Flags, Values } from "../../flags.ts";
import { printResult } from "../../output.ts";
import { oneLine } from "../../view/sanitise.ts";
import { getTarget } from "../../find-target.ts";
import { whileWorking } from "../../terminal/pause.ts";
import { readOwnSecrets } from "../ask/own-secrets.ts";
import { readPriority } from "../ask/ask-flags.ts";
import { isServiceOff, startService } from "../service/worker.ts";
import { secretVariables } from "../../../config/secret-variable.ts";
import { launchEnv } from "./launch-env.ts";
import { findRepository } from "./repository.ts";
import { followRun } from "./run-follow.ts";

const LEAST_WINDOW_MS = 1_000;
/** The longest prompt on stdin. */
const PROMPT_BYTES = 4 * 1024 * 1024;

const flags = {
  agent: {
    type: "string",
    value: "agent",
    about: `Which agent: ${Object.keys(agentsByName(AGENTS)).join(", ")} (claude)`,
  },
  name: { type: "string", value: "name", about: "Name the run" },
  wait: { type: "boolean", about: "Follow the run until it ends" },
  worktree: { type: "boolean", about: "Run it in a Git worktree of its own" },
  parent: { type: "string", value: "run", about: "The run that this one is part of" },
  priority: { type: "string", value: "0-4", about: "Priority of the work" },
  label: { type: "string", multiple: true, value: "label", about: "A label; can be repeated" },
  budget: { type: "string", value: "dollars", about: "The most it may cost, in dollars" },
  "max-turns": { type: "string", value: "count", about: "The most turns it may take" },
  "max-questions": { type: "string", value: "count", about: "The most questions it may ask" },
  "live-window": { type: "string", value: "duration", about: "How long a question is held with the agent alive (3m)" },
  "on-timeout": { type: "string", value: "policy", about: "The timeout policy of its questions" },
  "external-id": { type: "string", value: "id", about: "The id of this work in another system" },
  issue: {
    type: "string",
    value: "repo#12",
    about: "The issue or pull request it belongs to; questions are asked there",
  },
  size: { type: "string", value: "size", about: "Size of the work" },
  "resume-with": {
    type: "string",
    value: "command",
    about: "The command that resumes it, with {session} and {message}",
  },
} as const satisfies Flags;

type FlagValues = Values<typeof flags>;

/** The settings of an agent. */
type AgentSection = NonNullable<Context["config"]["values"]["agents"]>[string];

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
    const launch = await readLaunch(args, context);
    const run = await queue(engine, launch, args.flags, context);
    await mirrorHere(run.id, engine, context);
    const started = isHere ? "here" : await startService(context);
    say(context, run, started);
    if (!args.flags.wait) {
      printResult(context, RUN_FIELDS, { page: () => `${run.number}\n`, json: () => viewRun(run) });
      return 0;
    }
    const follow = () => followRun(run, launch, engine, context);
    return isHere ? whileWorking(engine, follow) : follow();
  },
};

/** Reads what to start: a prompt for an agent, or after `--` a command line. */
async function readLaunch(args: Args<typeof flags>, context: Context): Promise<Launch> {
  const { positionals: words, flags: given } = args;
  const [first, ...rest] = words;
  if (first === undefined) throw wrongUsage("There is nothing to run", command.usage);
  const isPrompt = given.agent !== undefined || !args.isAfterDashes;
  if (isPrompt && given.agent === undefined) await requirePrompt(words, context);
  const { agent, section } = await (isPrompt
    ? getAgent(given.agent ?? "claude", context)
    : findAgentSection(first, context));
  const [name = "", ...before] = isPrompt ? (section.argv ?? [agent.program]) : [first];
  if (name === "") throw wrongUsage("A command is missing after --", command.usage);
  requireLimits(agent, { given, section }, await context.agents());
  const program = await getProgram(name, context.env, context.cwd);
  const parsed = agent.parseArgs(isPrompt ? before : rest);
  const piped = isPrompt ? undefined : await context.stdin.readPiped?.(PROMPT_BYTES);
  const said = isPrompt ? words.join(" ") : joinPrompt(parsed.prompt, piped);
  // A command of the settings has no tools of ours; its own command line is left alone.
  const isTold = isPrompt && agent.program === "";
  const prompt = isTold ? `${said ?? ""}\n\n${howToAskByMarker()}` : said;
  return {
    agent: agent.name,
    program,
    args: [...parsed.args],
    prompt,
    dir: context.cwd,
    env: environment(given, context),
    options: options(given, { section, limits: parsed.limits }, context),
  };
}

/** Refuses words without `--` that may be a command: several of them, or one that names a program. */
async function requirePrompt(words: readonly string[], { env, cwd }: Context) {
  const [first = ""] = words;
  const isProgram = words.length > 1 || (!/\s/.test(first) && (await findProgram(first, env, cwd)) !== undefined);
  if (!isProgram) return;
  const line = words.map(quoteShellWord).join(" ");
  throw new Refusal("bad_input", `${line} can be a command or a prompt`, {
    hint: `A command goes after two dashes: askd run -- ${line}; a prompt into quotes: askd run --agent claude ${quoteShellWord(words.join(" "))}`,
  });
}

/** Refuses limits that nothing would keep, given as flags or in the settings. */
function requireLimits(
  agent: Agent,
  { given, section }: { given: FlagValues; section: AgentSection },
  registry: AgentRegistry,
) {
  if (agent.limitsKeptBy !== undefined) return;
  const limits: Array<readonly [string, unknown]> = [
    ["--budget", given.budget],
    ["--max-turns", given["max-turns"]],
    ["The setting budget", section.budget],
    ["The setting max_turns", section.max_turns],
  ];
  const limit = limits.find(([, value]) => value !== undefined)?.[0];
  if (limit === undefined) return;
  throw new Refusal("bad_input", `${limit} cannot be kept: the agent "${agent.name}" has no such limit`, {
    hint: `Leave it out; these can be limited: ${limitedAgentTitles(registry).join(", ")}`,
  });
}

/** A prompt on the command line and one on stdin, as the agents themselves put them together. */
function joinPrompt(said: string | undefined, piped: string | undefined) {
  if (!piped) return said;
  return said === undefined ? piped : `${said}\n\n${piped}`;
}

/** The caller's environment without the secrets of askd, plus the variables that locate the store and set up questions. */
function environment(given: FlagValues, context: Context) {
  const kept = Object.fromEntries(
    Object.entries(context.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  return {
    ...withoutVariables(kept, secretVariables(context.config.values)),
    ...launchEnv(context),
    ...(given["on-timeout"] !== undefined && { ASKD_ON_TIMEOUT: readPolicy(given["on-timeout"]) }),
    ...(given["max-questions"] !== undefined && {
      ASKD_MAX_QUESTIONS: String(readPositiveInteger(given["max-questions"], "max-questions")),
    }),
  };
}

/** The flags and the agent's own limits, else the settings of this agent, else the general ones. */
function options(
  given: FlagValues,
  { section, limits }: { section: AgentSection; limits: Limits | undefined },
  { rules }: Context,
): Launch["options"] {
  const resumeWith = given["resume-with"]?.trim().split(/\s+/) ?? section.resume;
  const ofFlags = {
    maxTurns: given["max-turns"] === undefined ? undefined : readPositiveInteger(given["max-turns"], "max-turns"),
    budgetUsd: given.budget === undefined ? undefined : readDollars(given.budget),
  };
  const { maxTurns = section.max_turns, budgetUsd = section.budget } = lowerLimits(ofFlags, limits);
  const window = given["live-window"] ?? section.live_window;
  const liveWindowMs = window === undefined ? rules.liveWindowMs : parseDuration(window);
  return {
    maxTurns,
    budgetUsd,
    liveWindowMs: Math.max(LEAST_WINDOW_MS, liveWindowMs),
    resumeWith,
    promptTool: "approve",
  };
}

async function queue(engine: Engine, launch: Launch, given: FlagValues, context: Context) {
  const { store } = context.place;
  if (store.kind === "server") {
    throw new Refusal("bad_input", `${store.source} names a server; agents start on the machine with the store`, {
      hint: "Run this on the server's machine, or name a store with --store",
    });
  }
  // Everything that can be refused is read before anything is written.
  const by = await whoTypes(engine, context);
  const priority = given.priority === undefined ? undefined : readPriority(given.priority);
  const parent = given.parent === undefined ? undefined : await getTarget(engine, given.parent);
  const host = await context.keepHost(); // before the first run: a directory with runs is taken for an old one
  const id = idsFrom(Date.now, randomBytes).run();
  // The input of a command is not its name.
  const isCommand = launch.agent === commandAgent.name && given.agent === undefined;
  const said = isCommand ? undefined : launch.prompt;
  // A name is lower case and cut: nothing recognises a secret in it any more.
  const clean = redactor(await readOwnSecrets(context, { ...context.env, ...launch.env }), context.rules.redact);
  const words = clean(said ?? [launch.program.split("/").at(-1), ...launch.args].join(" "));
  const name = given.name ?? nameFrom(words.replaceAll(MASK, ""));
  const settings = projectFilesOf(await context.agents());
  const branchName = `${oneLine(name)}-${id.slice(-4)}`;
  const tree = given.worktree ? await addWorktree(launch.dir, branchName, settings) : undefined;
  const dir = tree?.path ?? launch.dir;
  const { repo, branch } = await findRepository(resolve(dir), context.readFile);
  const input: RunInput = {
    id,
    name,
    agent: launch.agent,
    host,
    dir,
    giveBack: "worker",
    measured: ["agent", "repo"],
    repo,
    branch: tree?.branch ?? branch,
    labels: given.label,
    priority,
    size: given.size,
    externalId: given["external-id"],
    issue: given.issue === undefined ? undefined : parseIssue(given.issue),
    parentId: parent?.named === "run" ? parent.run.id : undefined,
  };
  try {
    await excludeAskd(dir);
    const runDir = await makeRunDir(context.place.stateDir, id);
    await saveLaunch(runDir, { ...launch, dir });
    return await engine.createRun(input, by);
  } catch (error) {
    // The commit may have succeeded without its reply: clean up only if the run does not exist.
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

function say(context: Context, run: Run, started: "here" | "running" | "started") {
  if (context.isQuiet || context.json) return;
  const { program } = context;
  const service = started === "started" ? " (started the askd worker in the background)" : "";
  const waits = started === "running" && isServiceOff(context.env) ? ` Start it with: ${program} worker.` : "";
  context.stderr.write(
    `#${run.number} ${oneLine(run.name)} is queued${service}.${waits} Follow: ${program} logs ${run.number} -f\n`,
  );
}

function readPolicy(text: string) {
  const parsed = TimeoutPolicy.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new Refusal("bad_input", `--on-timeout takes one of: ${TimeoutPolicy.options.join(", ")}`);
}

function readDollars(text: string) {
  const dollars = Number(text.replace(/^\$/, ""));
  if (dollars > 0) return dollars;
  throw new Refusal("bad_input", "--budget takes an amount in dollars, such as 2.50");
}

/** The built-in or configured agent of this name, and its settings. */
async function getAgent(name: string, context: Context) {
  const { config, env } = context;
  const registry = await context.agents();
  const sections = config.values.agents ?? {};
  const section = (Object.hasOwn(sections, name) ? sections[name] : undefined) ?? {};
  const known = findAgent(registry, name);
  if (known) return { agent: chooseWay(registry, known, env), section };
  if (section.argv) return { agent: commandAgent, section };
  throw new Refusal("bad_input", `There is no agent "${oneLine(name)}"`, {
    hint: `Choose from: ${[...new Set([...Object.keys(agentsByName(registry)), ...Object.keys(sections)])].map(oneLine).join(", ")}`,
  });
}

/** The agent of a program, and the settings under the name of the agent or the program. */
async function findAgentSection(program: string, context: Context) {
  const { config, env } = context;
  const registry = await context.agents();
  const sections = config.values.agents ?? {};
  const agent = findAgentOf(registry, program) ?? commandAgent;
  const name = agent.program === "" ? basename(program) : agent.name;
  const section = (Object.hasOwn(sections, name) ? sections[name] : undefined) ?? {};
  return { agent: chooseWay(registry, agent, env), section };
}
