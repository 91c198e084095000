import { randomBytes } from "node:crypto";
import { AGENTS } from "../../../agents/agents.ts";
import { runDirOf } from "../../../agents/runner/run-files.ts";
import type { AgentRegistry } from "../../../agents/registry.ts";
import type { HookCall, HookClient, HookEvent, HookReply } from "../../../core/door/hook.ts";
import { parseDuration } from "../../../core/text/duration.ts";
import { DELIMITER_BYTES, delimiterFrom } from "../../../core/text/foreign-text.ts";
import { SECOND_MS } from "../../../core/instant.ts";
import { Refusal } from "../../../core/refusal.ts";
import { CLIENT_SETTLE_MS } from "../../../engine/hold-question.ts";
import { findOwnRun } from "../../actor.ts";
import { requireOneArgument } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import type { Flags, Values } from "../../flags.ts";
import { isServiceOff } from "../service/worker.ts";
import { decideCall, endCall } from "./hook-call.ts";
import { oneLine } from "../../view/sanitise.ts";

const INPUT_BYTES = 16 * 1024 * 1024;
/** Time between our reply and the moment when the program gives up on its hook. */
const MARGIN_MS = 15 * SECOND_MS;
const SHORTEST_WINDOW_MS = SECOND_MS;
/** The programs show this one to the model and do not run the tool. */
const EXIT_BLOCK = 2;
/** They show this one to whoever sits there and go on as if there were no hook. */
const EXIT_SHOWN = 1;

const flags = {
  hold: { type: "string", value: "duration", about: "How long to wait for a person with the agent alive (3m)" },
  timeout: {
    type: "string",
    value: "duration",
    about: "The hook's timeout in the agent's settings, if not its default",
  },
  standing: {
    type: "boolean",
    about: "For settings: ignore calls that need no hook, as where a person sits at the agent",
  },
} as const satisfies Flags;

export const command: Command<typeof flags> = {
  usage: `hook <${hooksOf(AGENTS)
    .map(({ agent }) => agent)
    .join("|")}> [--hold 3m] [--timeout 10m]`,
  flags,
  examples: ["askd hook claude --hold 5m    as a PreToolUse hook for AskUserQuestion"],
  async run(args, context) {
    const name = requireOneArgument(args.positionals, command.usage);
    const clients = hooksOf(await context.agents());
    const client = clients.find(({ agent }) => agent === name);
    if (!client) {
      throw new Refusal("bad_input", `There is no hook for "${oneLine(name)}"`, {
        hint: `Choose from: ${clients.map(({ agent }) => agent).join(", ")}`,
      });
    }
    if (args.flags.standing && !isNeeded(client, context)) return 0;
    return answerHook(client, windowFor(client, args.flags, context), context);
  },
};

/** The agents that can be hooked. */
function hooksOf(registry: AgentRegistry) {
  return registry.flatMap(({ hook }) => hook ?? []);
}

/**
 * Settings hold for every session of the program, also for one where a person sits, who would wait for nothing. Where
 * its runs bring a hook along, this one is for sessions without a person; elsewhere it is for runs, which it can park.
 */
function isNeeded(client: HookClient, context: Context) {
  const isRun = findOwnRun(context) !== undefined;
  return client.runsBringHook ? !isRun && client.seat(context.env).isAttended === false : isRun;
}

/** Always ends before the program gives up: what it would do then loses the question. */
function windowFor({ limitMs }: HookClient, given: Values<typeof flags>, { rules }: Context) {
  const wantedMs = given.hold === undefined ? rules.liveWindowMs : parseDuration(given.hold);
  const mostMs = (given.timeout === undefined ? limitMs : parseDuration(given.timeout)) - MARGIN_MS;
  return Math.max(SHORTEST_WINDOW_MS, Math.min(wantedMs, mostMs));
}

async function answerHook(client: HookClient, windowMs: number, context: Context) {
  let event: HookEvent | undefined;
  try {
    event = client.parse(readJson(await context.stdin.readAll(INPUT_BYTES)));
    if (event.is === "other") return 0;
    const signal = context.interrupt();
    const held = { ...context, interrupt: () => signal };
    // Without a worker in the background the hook brings the messages itself, as long as it waits.
    // The program gives up on its hook some time after the window, whether the server is back or not.
    const until = AbortSignal.any([signal, AbortSignal.timeout(windowMs + MARGIN_MS / 3)]);
    const engine = await context.engine({ isDelivering: isServiceOff(context.env), waits: { until, isAtOnce: true } });
    if (event.is === "over") await endCall({ engine, client, context }, event);
    else {
      const { call } = event;
      const { reply, afterwards } = await decideCall({
        engine,
        client,
        call,
        context: held,
        windowMs,
        settleMs: CLIENT_SETTLE_MS,
      });
      const told = await completeReply(reply, client, context);
      const output = client.say(call, told, delimiterFrom(randomBytes(DELIMITER_BYTES)));
      if (output) context.stdout.write(`${JSON.stringify(output)}\n`);
      await afterwards?.();
    }
    return 0;
  } catch (error) {
    return fail(error, event, { client, context });
  }
}

/** An agent that goes on from the call it stopped at gets no message: the answer says what changed meanwhile. */
async function completeReply(reply: HookReply, client: HookClient, context: Context): Promise<HookReply> {
  if (reply.do !== "give") return reply;
  const given = { ...reply, isResultLost: client.mayLoseResult?.(context.env) };
  const run = findOwnRun(context);
  if (run === undefined) return given;
  // Loaded when needed: most calls are not answered by a hook of a resumed run.
  const { takeTreeNote } = await import("../../../agents/runner/resume-message.ts");
  return { ...given, note: await takeTreeNote(runDirOf(context.place.stateDir, run)) };
}

/**
 * Blocks the tool and tells the model so: a question that cannot be stored must not vanish. Only a question at a
 * terminal is left to the agent itself, which then asks the person there.
 */
function fail(error: unknown, event: HookEvent | undefined, at: { client: HookClient; context: Context }) {
  const { client, context } = at;
  const message = oneLine(error instanceof Error ? error.message : String(error));
  const hint = error instanceof Refusal && error.hint ? ` ${oneLine(error.hint)}.` : "";
  if (event?.is === "over") {
    context.stderr.write(`askd: ${message}.${hint}\n`);
    return EXIT_SHOWN;
  }
  const isAsked = event?.is === "call" && event.call.is === "question";
  if (isAsked && client.seat(context.env).isAttended) {
    context.stderr.write(`askd: the question is asked here only: ${message}.${hint}\n`);
    return EXIT_SHOWN;
  }
  context.stderr.write(`askd: ${sayLost(event)}: ${message}.${hint} It is not answered; stop and report this.\n`);
  return EXIT_BLOCK;
}

function sayLost(event: HookEvent | undefined) {
  const call: HookCall | undefined = event?.is === "call" ? event.call : undefined;
  return call ? `this ${call.is} could not be kept` : "this call could not be read";
}

function readJson(text: string) {
  try {
    const raw: unknown = JSON.parse(text);
    return raw;
  } catch (cause) {
    throw new Refusal("bad_input", "The hook's input is not JSON", { cause });
  }
}
