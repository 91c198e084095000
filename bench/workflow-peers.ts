import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { type Database, withPlace } from "../test/proof/place.ts";

const PROGRAM = join("bench", "workflow-peer.mjs");
/** Versions that were looked at; they are installed beside the project, not in it. */
const PACKAGES = ["openworkflow@0.10.1", "postgres@3", "@dbos-inc/dbos-sdk@5.3.0", "pg@8"];
const PEERS = [
  { name: "openworkflow", database: "sqlite" },
  { name: "openworkflow", database: "postgres" },
  { name: "dbos", database: "postgres" },
] as const satisfies ReadonlyArray<{ name: string; database: Database }>;
const MOST_MS = 30 * 60_000;
const QUOTED_CHARS = 300;

/** How long it took to suspend and to resume all runs, and how much memory that needed. */
export const FlowResult = z.object({
  name: z.string(),
  suspendMs: z.number(),
  resumeMs: z.number(),
  rssBefore: z.number(),
  rssAfter: z.number(),
});
export type FlowResult = z.infer<typeof FlowResult>;

/** Measures the same work with other engines, installed into a temporary folder; one that cannot be measured is named. */
export async function measurePeers(count: number, databases: readonly Database[]): Promise<FlowResult[]> {
  const dir = mkdtempSync(join(tmpdir(), "askd-peers-"));
  try {
    const npm = ["install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", dir, ...PACKAGES];
    const installed = spawnSync("npm", npm, { encoding: "utf8", timeout: MOST_MS });
    if (installed.status !== 0) {
      console.log(`the other engines cannot be installed: ${installed.stderr.slice(-QUOTED_CHARS)}`);
      return [];
    }
    const results: FlowResult[] = [];
    for (const { name, database } of PEERS.filter((peer) => databases.includes(peer.database))) {
      const found = await withPlace(database, ({ address }) =>
        Promise.resolve(measureOne(dir, { name, database, address }, count)),
      );
      if (found) results.push(found);
    }
    return results;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function measureOne(
  dir: string,
  { name, database, address }: { name: string; database: Database; address: string },
  count: number,
): FlowResult | undefined {
  const argv = [PROGRAM, dir, name, database, address, String(count)];
  const { status, stdout, stderr } = spawnSync(process.execPath, argv, { encoding: "utf8", timeout: MOST_MS });
  const title = `${name}, ${database}`;
  const line = stdout.split("\n").findLast((each) => each.startsWith("{"));
  if (status === 0 && line !== undefined) return FlowResult.parse({ ...(JSON.parse(line) as object), name: title });
  const why = /^.*\bError: .*$/m.exec(stderr)?.[0] ?? stderr.trim();
  console.log(`${title} is not measured: ${why.slice(0, QUOTED_CHARS)}`);
  return undefined;
}
