import { parseDuration } from "../../../core/text/duration.ts";
import { serveProbe } from "../../../doctor/probe/probe-server.ts";
import type { Command } from "../../command.ts";
import type { Flags } from "../../flags.ts";

const flags = {
  hold: { type: "string", value: "duration", about: "How long a call is held" },
  progress: { type: "string", value: "duration", about: "How often progress is sent meanwhile" },
  writes: { type: "boolean", about: "Do not say that the tool changes nothing" },
} as const satisfies Flags;

/** What `askd doctor --probe` has agents start; it touches no store. */
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
