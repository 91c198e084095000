import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { replacePrivateFile } from "../../agents/process/private-file.ts";
import { MeasuredLimits } from "../../core/door/measured-limits.ts";

/** Where what was measured of an agent is kept. */
export function measuredFile(stateDir: string, agent: string): string {
  return join(stateDir, "clients", `${agent}.json`);
}

export async function keepMeasured(stateDir: string, measured: MeasuredLimits): Promise<string> {
  const file = measuredFile(stateDir, measured.agent);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await replacePrivateFile(file, `${JSON.stringify(MeasuredLimits.parse(measured), undefined, 2)}\n`);
  return file;
}

/** The measured limits of an agent here, if there are any; read on first use. */
export function measurements(stateDir: string): (agent: string) => MeasuredLimits | undefined {
  const known = new Map<string, MeasuredLimits | undefined>();
  return (agent) => {
    if (!known.has(agent)) known.set(agent, read(measuredFile(stateDir, agent)));
    return known.get(agent);
  };
}

function read(file: string): MeasuredLimits | undefined {
  try {
    return MeasuredLimits.safeParse(JSON.parse(readFileSync(file, "utf8"))).data;
  } catch {
    return undefined; // nothing was measured, or what is there cannot be read: then what is known counts
  }
}
