import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { replaceFile } from "../../agents/process/private-file.ts";
import { Measured } from "../../core/door/measured-limits.ts";

/** Where what was measured of an agent is kept. */
export function measuredFile(stateDir: string, agent: string): string {
  return join(stateDir, "clients", `${agent}.json`);
}

export async function keepMeasured(stateDir: string, measured: Measured): Promise<string> {
  const file = measuredFile(stateDir, measured.agent);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await replaceFile(file, `${JSON.stringify(Measured.parse(measured), undefined, 2)}\n`);
  return file;
}

/** What was measured of an agent here, if anything was; read when first asked for. */
export function measurements(stateDir: string): (agent: string) => Measured | undefined {
  const known = new Map<string, Measured | undefined>();
  return (agent) => {
    if (!known.has(agent)) known.set(agent, read(measuredFile(stateDir, agent)));
    return known.get(agent);
  };
}

function read(file: string): Measured | undefined {
  try {
    return Measured.safeParse(JSON.parse(readFileSync(file, "utf8"))).data;
  } catch {
    return undefined; // nothing was measured, or what is there cannot be read: then what is known counts
  }
}
