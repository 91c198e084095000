import { getProgram, readVersion } from "../../../agents/runner/launch.ts";
import { Refusal } from "../../../core/refusal.ts";
import { EXIT_CODE } from "../../../core/exit-code.ts";
import { keepMeasured } from "../../../doctor/probe/probe-file.ts";
import { type Measurement, type ProbeResult, probe } from "../../../doctor/probe/probe.ts";
import { parseDuration } from "../../../core/text/duration.ts";
import { serveProbe } from "../../../doctor/probe/probe-server.ts";
import type { Context } from "../../context.ts";
import { printResult } from "../../output.ts";
import { oneLine } from "../../view/sanitise.ts";
import { type Style, textWidth, wrap } from "../../terminal/terminal.ts";
import type { Command } from "../../command.ts";
import type { Flags } from "../../flags.ts";
import { setupAround } from "../init/find-surroundings.ts";

const MARK = { measured: "✓", not: "–" } as const;

/** The JSON fields of `doctor --probe`. */
export const PROBE_FIELDS: readonly string[] = ["agent", "measurements", "profile", "file", "not_measured"];

/** Limits that a probe cannot measure. */
const BEYOND = ["calls over HTTP, hooks, and interactive sessions", "limits longer than the longest held call"];

const flags = {
  hold: { type: "string", value: "duration", about: "How long to hold a call" },
  progress: { type: "string", value: "duration", about: "How often to send progress" },
  writes: { type: "boolean", about: "Do not declare the tool read-only" },
} as const satisfies Flags;

/** Measures how long an agent's program waits for a tool call, and saves it for the live window. */
export async function probeAgent(name: string, maxMs: number, context: Context): Promise<number> {
  const registry = await context.agents();
  const { client, probe: agent } = registry.find((one) => one.client?.name === name) ?? {};
  if (!client || !agent) {
    throw new Refusal("bad_input", `"${oneLine(name)}" cannot be measured`, {
      hint: `Choose from: ${registry.flatMap((one) => (one.probe ? [one.agent.name] : [])).join(", ")}`,
    });
  }
  const around = await setupAround(context);
  const program = await getProgram(client.programs[0] ?? name, context.env, context.cwd);
  const version = (await readVersion(program, { env: context.env, dir: context.cwd })) ?? "unknown";
  const probed = await probe({
    client,
    agent,
    program,
    version,
    maxMs,
    now: context.now(),
    stateDir: context.place.stateDir,
    around: { ...around, askd: { own: context.self, shared: context.self } },
    onStep: (text) => {
      if (!context.isQuiet) context.stderr.write(`${client.name}: ${text} …\n`);
    },
  });
  const file = await keepMeasured(context.place.stateDir, probed.measured);
  printResult(context, PROBE_FIELDS, {
    page: () => renderProbe(probed, file, { style: context.style, columns: context.stdout.columns }),
    json: () => ({
      agent: client.name,
      measurements: probed.lines.map(viewLine),
      profile: probed.measured,
      file,
      notMeasured: BEYOND,
    }),
  });
  return probed.measured.isOffered ? 0 : EXIT_CODE.error;
}

function viewLine({ what, result, why }: Measurement) {
  return { what, result: result ?? null, why: why ?? null };
}

/** The measured values, the rest, and the file they are saved in. */
function renderProbe(
  { measured, lines }: ProbeResult,
  file: string,
  { style, columns }: { style: Style; columns: number | undefined },
) {
  const cells = textWidth(columns) - 4;
  const show = (mark: string, text: string) =>
    wrap(oneLine(text), cells)
      .map((line, index) => `  ${index === 0 ? mark : " "} ${line}`)
      .join("\n");
  const done = lines.filter(({ result }) => result !== undefined);
  const left = lines.filter(({ result }) => result === undefined);
  return [
    style.bold(`${measured.agent} ${oneLine(measured.version)}`),
    "",
    style.bold("Measured"),
    ...done.map(({ what, result }) => show(style.green(MARK.measured), `${what}: ${result}`)),
    "",
    style.bold("Not measured"),
    ...left.map(({ what, why }) => show(style.dim(MARK.not), `${what}: ${why}`)),
    ...BEYOND.map((text) => show(style.dim(MARK.not), text)),
    "",
    `Saved in ${file}; it sets the live window of this version.`,
    "",
  ].join("\n");
}

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
