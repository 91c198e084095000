import { getProgram, readVersion } from "../../../agents/runner/launch.ts";
import { Refusal } from "../../../core/refusal.ts";
import { PROBED } from "../../../doctor/probe-agent.ts";
import { keepMeasured } from "../../../doctor/probe/probe-file.ts";
import { type Measurement, type Probed, probe } from "../../../doctor/probe/probe.ts";
import { findClient } from "../../../setup/clients.ts";
import type { Context } from "../../context.ts";
import { printResult } from "../../output.ts";
import { oneLine } from "../../view/sanitise.ts";
import { setupAround } from "../init/setup-around.ts";
import { type Style, textWidth, wrap } from "../../terminal/terminal.ts";

const EXIT_UNUSABLE = 1;
const MARK = { measured: "✓", not: "–" } as const;

/** What `doctor --probe` tells programs. */
export const PROBE_FIELDS: readonly string[] = ["agent", "measurements", "profile", "file", "not_measured"];

/** What no trial of this kind can show. */
const BEYOND = [
  "calls over HTTP, hooks, and sessions at which a person sits",
  "limits longer than the longest call that was held",
];

/** Measures what an agent's own program bears, and keeps it for the live window. */
export async function probeAgent(name: string, maxMs: number, context: Context): Promise<number> {
  const client = findClient(name);
  const agent = client && PROBED[client.name];
  if (!client || !agent) {
    throw new Refusal("bad_input", `"${oneLine(name)}" cannot be measured`, {
      hint: `Choose from: ${Object.keys(PROBED).join(", ")}`,
    });
  }
  const around = await setupAround(context);
  const program = await getProgram(client.programs[0] ?? name, context.env, context.cwd);
  const version = (await readVersion(program, { env: context.env, dir: context.cwd })) ?? "unknown";
  const probed = await probe({
    ...{ client, agent, program, version, maxMs, now: context.now(), stateDir: context.place.stateDir },
    around: { ...around, askd: { own: context.self, shared: context.self } },
    onStep: (text) => {
      if (!context.isQuiet) context.stderr.write(`${client.name}: ${text} …\n`);
    },
  });
  const file = await keepMeasured(context.place.stateDir, probed.measured);
  printResult(context, PROBE_FIELDS, {
    page: () => renderProbe(probed, file, { style: context.style, columns: context.stdout.columns }),
    json: () => ({
      ...{ agent: client.name, measurements: probed.lines.map(viewLine) },
      ...{ profile: probed.measured, file, notMeasured: BEYOND },
    }),
  });
  return probed.measured.isOffered ? 0 : EXIT_UNUSABLE;
}

function viewLine({ what, result, why }: Measurement): object {
  return { what, result: result ?? null, why: why ?? null };
}

/** What was measured, what was not, and where it is kept. */
export function renderProbe(
  { measured, lines }: Probed,
  file: string,
  { style, columns }: { style: Style; columns: number | undefined },
): string {
  const cells = textWidth(columns) - 4;
  const show = (mark: string, text: string): string =>
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
    `Kept in ${file}; calls of this version are held by it.`,
    "",
  ].join("\n");
}
