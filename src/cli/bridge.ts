import { parseDuration } from "../core/text/duration.ts";
import { Refusal } from "../core/refusal.ts";
import { requireOne } from "./arguments.ts";
import type { Command } from "./command.ts";
import type { Context } from "./context.ts";
import type { Flags } from "./flags.ts";
import { oneLine } from "./view/sanitise.ts";

/** How an agent's server is to be started and how long its questions are held. */
export interface BridgeInput {
  plan: string;
  holdMs: number;
}

/** Is the client of an agent's server until its turn ends, and returns the exit code. */
export type Bridge = (input: BridgeInput, context: Context) => Promise<number>;

const BRIDGES: Readonly<Record<string, () => Promise<{ bridge: Bridge }>>> = {
  codex: () => import("../agents/codex/bridge.ts"),
  opencode: () => import("../agents/opencode/bridge.ts"),
};

const flags = {
  hold: { type: "string", value: "duration", about: "How long a question waits with the agent alive (3m)" },
  plan: { type: "string", value: "file", about: "What to start, as the worker wrote it" },
} as const satisfies Flags;

export const command: Command<typeof flags> = {
  usage: "bridge <agent> --plan <file> [--hold 3m]",
  flags,
  async run(args, context) {
    const name = requireOne(args.positionals, command.usage);
    const load = Object.hasOwn(BRIDGES, name) ? BRIDGES[name] : undefined;
    if (!load) throw new Refusal("bad_input", `There is no bridge to "${oneLine(name)}"`);
    if (args.flags.plan === undefined) throw new Refusal("bad_input", "A bridge needs --plan <file>");
    const holdMs = args.flags.hold === undefined ? context.rules.liveWindowMs : parseDuration(args.flags.hold);
    const { bridge } = await load();
    return bridge({ plan: await context.readFile(args.flags.plan), holdMs }, context);
  },
};
