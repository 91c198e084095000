import type { BridgeHost } from "../../../agents/bridge.ts";
import { parseDuration } from "../../../core/text/duration.ts";
import { Refusal } from "../../../core/refusal.ts";
import { requireOneArgument } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import type { Flags } from "../../flags.ts";
import { oneLine } from "../../view/sanitise.ts";
import { VERSION } from "../../version.ts";
import { decideCall } from "./hook-call.ts";

const flags = {
  hold: { type: "string", value: "duration", about: "How long a question waits with the agent alive (3m)" },
  plan: { type: "string", value: "file", about: "What to start, as the worker wrote it" },
} as const satisfies Flags;

export const command: Command<typeof flags> = {
  usage: "bridge <agent> --plan <file> [--hold 3m]",
  flags,
  async run(args, context) {
    const name = requireOneArgument(args.positionals, command.usage);
    const definition = (await context.agents()).find(({ agent }) => agent.name === name);
    if (!definition?.bridge) throw new Refusal("bad_input", `There is no bridge to "${oneLine(name)}"`);
    if (args.flags.plan === undefined) throw new Refusal("bad_input", "A bridge needs --plan <file>");
    const windowMs = args.flags.hold === undefined ? context.rules.liveWindowMs : parseDuration(args.flags.hold);
    const { bridge } = await definition.bridge();
    return bridge(await context.readFile(args.flags.plan), hostFor(context, windowMs));
  },
};

/** This process, as far as a bridge may touch it. */
function hostFor(context: Context, windowMs: number): BridgeHost {
  return {
    cwd: context.cwd,
    env: context.env,
    version: VERSION,
    stdout: context.stdout,
    readPrompt: (limitBytes) => context.stdin.readAll(limitBytes),
    now: () => context.now(),
    interrupt: () => context.interrupt(),
    decide: async ({ client, call, calledAt, signal }) => {
      const engine = await context.engine();
      const inTurn = { ...context, interrupt: () => signal };
      return decideCall({ engine, client, call, context: inTurn, windowMs, calledAt });
    },
    given: async (id) => void (await (await context.engine()).given(id, "reply")),
    complain: (message) => {
      const line = oneLine(message);
      context.stderr.write(`askd: ${line}\n`);
      return line;
    },
  };
}
