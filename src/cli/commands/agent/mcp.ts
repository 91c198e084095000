import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { platform } from "node:os";
import { LISTED_END } from "../../../agents/mcp-config.ts";
import { processHolder } from "../../../agents/process/process-holder.ts";
import { knownClients } from "../../../agents/registry.ts";
import { parseDuration } from "../../../core/text/duration.ts";
import type { RunId } from "../../../core/id.ts";
import type { Question } from "../../../core/question/question.ts";
import { Refusal } from "../../../core/refusal.ts";
import { CONNECTION_PREFIX } from "../../../core/run/run.ts";
import { measurements } from "../../../doctor/probe/probe-file.ts";
import type { Engine } from "../../../engine/engine.ts";
import { findKnownRun, findLiveRun } from "../../../engine/live-run.ts";
import { serveRefusal, serveStdio } from "../../../server/mcp/stdio.ts";
import { DEFAULT_TOOLS, parseTools } from "../../../server/mcp/tool.ts";
import { findHiddenAgent, findProvenRun } from "../../actor.ts";
import { wrongUsage } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import type { Flags } from "../../flags.ts";
import { VERSION } from "../../version.ts";
import { readOwnSecrets } from "../ask/own-secrets.ts";
import { ensureDeliveryAfter } from "../reach/ensure-delivery.ts";

const flags = {
  tools: { type: "string", value: "names", about: "Which tools to offer (ask_human,check_answer,cancel_question)" },
  hold: { type: "string", value: "duration", about: "How long to hold a call if the client allows it (3m)" },
  "run-file": {
    type: "string",
    value: "file",
    about: "Read ASKD_RUN and ASKD_TOKEN from a file that only you can read",
  },
  attended: {
    type: "boolean",
    about: "A person sits at the client: show questions there too, except approvals and high risk",
  },
} as const satisfies Flags;

const OTHERS = 0o077;

export const command: Command<typeof flags> = {
  usage: "mcp [--tools names] [--hold 3m]",
  flags,
  examples: ["claude mcp add askd -- askd mcp", "askd mcp --tools ask_human,post_question,check_answer"],
  async run(args, context) {
    if (args.positionals.length > 0) throw wrongUsage(`"${args.positionals[0]}" is too much`, command.usage);
    const tools = args.flags.tools === undefined ? DEFAULT_TOOLS : parseTools(args.flags.tools);
    const liveWindowMs = args.flags.hold === undefined ? context.rules.liveWindowMs : parseDuration(args.flags.hold);
    const runFile = args.flags["run-file"];
    const told = runFile === undefined ? {} : await readRunFile(runFile);
    const env = { ...context.env, ...told };
    const interrupt = context.interrupt();
    const streams = context.streams();
    const opened = await open(context, { env, until: interrupt }).catch(async (error: unknown) => {
      // A client that has its first replies waits for a call of a tool to tell it more.
      if (error instanceof Refusal && streams.answered && streams.answered.size > 0)
        await serveRefusal(error, { ...streams, signal: interrupt, version: VERSION });
      throw error;
    });
    const { engine, runId, isAgent } = opened;
    // The parent of this process may end before it: the runs above it at its start count for as long as it serves.
    const above = context.runsAbove();
    const stop = new AbortController();
    // No server may be running: what falls due while the client is here is done here.
    engine.work().catch((error: unknown) => stop.abort(error));
    const signal = AbortSignal.any([interrupt, stop.signal]);
    const holders = await processHolder();
    const deps = {
      engine,
      holders,
      rules: { ...context.rules, liveWindowMs },
      holdMs: args.flags.hold === undefined ? undefined : liveWindowMs,
      version: VERSION,
      clients: knownClients(await context.agents()),
      onBug: reportTo(context),
    };
    const measured = measurements(context.place.stateDir);
    const startedAt = context.startOf(context.pid);
    const caller = {
      host: await context.keepHost(),
      dir: context.cwd,
      env,
      secrets: await readOwnSecrets(context, env),
      principal: context.user,
      ...(runId && { runId }),
      ...(runFile !== undefined && { onListed: () => noteListed(runFile) }),
      ...(!isAgent && { person: personOf(context) }),
      findRunAbove: async () =>
        (await findLiveRun(engine, [...context.runsAbove(), ...above])) ??
        findKnownRun(engine, await context.runsOfSession(context.place.stateDir)),
      findHiddenRun: async () => (await findHiddenAgent(engine, context))?.id,
      ...(args.flags.attended && { isAttended: true }),
      // The client may end this process at any time, and people still have to be told.
      onAsked: (question: Question) => void ensureDeliveryAfter(question, context),
      session: `${CONNECTION_PREFIX}${randomUUID()}`,
      // The client ends this process with its session.
      ...(startedAt !== undefined && { seen: { pid: context.pid, startedAt } }),
    };
    await serveStdio({ ...deps, measured }, { ...streams, caller, tools, signal });
    if (stop.signal.aborted) throw stop.signal.reason;
    return 0;
  },
};

/** Tells the worker that the agent has the tools, if it waits to know it: it made the file. */
function noteListed(runFile: string) {
  try {
    writeFileSync(`${runFile}${LISTED_END}`, "listed\n", { flag: "r+" });
  } catch {
    // nobody waits
  }
}

/** Opens the store and finds who asks. */
async function open(context: Context, { env, until }: { env: Context["env"]; until: AbortSignal }) {
  const engine = await context.engine({ isDelivering: true, waits: { until, isAtOnce: true } });
  return { engine, ...(await findAsker(engine, { ...context, env })) };
}

/**
 * The run that this agent was started for, and whether it is known to be an agent. A token that was given along has to
 * be good for the run.
 */
async function findAsker(engine: Engine, context: Context): Promise<{ runId: RunId | undefined; isAgent: boolean }> {
  const named = await findProvenRun(engine, context);
  const token = context.env["ASKD_TOKEN"];
  if (!token) return { runId: named, isAgent: named !== undefined };
  const found = await engine.authenticate(token, "mcp");
  if (!found) throw new Refusal("sign_in", "ASKD_TOKEN is not valid any more");
  if (found.token.runId !== undefined && named !== undefined && found.token.runId !== named) {
    throw new Refusal("not_permitted", "ASKD_TOKEN belongs to another run than ASKD_RUN");
  }
  const runId = found.token.runId ?? named;
  return { runId, isAgent: runId !== undefined || found.actor.scope === "agent" };
}

function personOf(context: Context) {
  return { scope: "human", id: context.user, channel: "mcp", strength: "bearer" } as const;
}

function reportTo(context: Context): (error: unknown) => void {
  return (error) => {
    const text = error instanceof Error ? (context.env["ASKD_DEBUG"] ? error.stack : error.message) : String(error);
    context.stderr.write(`error: ${text}\n`);
  };
}

/** Reads a file that replaces the environment: lines of `ASKD_RUN=r_…` and `ASKD_TOKEN=…`. */
export async function readRunFile(path: string): Promise<Record<string, string>> {
  const mode = await stat(path).catch((cause: unknown) => {
    throw new Refusal("bad_input", "The --run-file cannot be read", { cause });
  });
  if (platform() !== "win32" && (mode.mode & OTHERS) !== 0) {
    throw new Refusal("bad_input", "The --run-file can be read by others", {
      hint: "Protect it with: chmod 600",
    });
  }
  const lines = (await readFile(path, "utf8")).split("\n");
  return Object.fromEntries(
    lines.flatMap((line) => {
      const [, name, value] = /^\s*(ASKD_\w+)\s*=\s*(\S+)\s*$/.exec(line) ?? [];
      return name !== undefined && value !== undefined ? [[name, value]] : [];
    }),
  );
}
