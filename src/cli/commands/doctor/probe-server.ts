import { parseDuration } from "../../../core/text/duration.ts";
import { serveProbe } from "../../../doctor/probe/probe-server.ts";
import type { Command } from "../../command.ts";
import type { Flags } from "../../flags.ts";

const flags = {
  hold: { type: "string", value: "duration", about: "How long to hold a call" },
  progress: { type: "string", value: "duration", about: "How often to send progress" },
  writes: { type: "boolean", about: "Do not declare the tool read-only" },
} as const satisfies Flags;

/** The MCP server that agents start for `askd doctor --probe`; it opens no store. */
export const command: Command<typeof flags> = {
  usage: "probe-server [--hold 5s] [--progress 1s] [--writes]",
  flags,
  isForAllProjects: true,
  isAboutWrongConfig: true,
  async run(args, context) {
    const { hold = "0s", progress, writes = false } = args.flags;
    await serveProbe({
      ...context.streams(),
      holdMs: parseDuration(hold),
      progressMs: progress === undefined ? undefined : parseDuration(progress),
      isReadOnly: !writes,
    });
    return 0;
  },
};
