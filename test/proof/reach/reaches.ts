import { stopSharedMailServer } from "../../channels/mail-counterpart.ts";
import { startPostgres } from "../../postgres.ts";
import { type Database, withPlace } from "../place.ts";
import { buildProgram } from "../program.ts";
import { type ReachOutcome, playReach } from "./reach-case.ts";
import type { ReachCase } from "./reach-list.ts";
import { ChannelName } from "./reach-task.ts";

/** Plays all cases so many times, several stores at a time. */
export async function playReaches(
  database: Database,
  cases: readonly ReachCase[],
  options: { times: number; atOnce: number; isBuilt?: boolean; onOutcome?: (outcome: ReachOutcome) => void },
): Promise<ReachOutcome[]> {
  const program = options.isBuilt ? "built" : await buildProgram("test/proof/reach/reach-worker.ts");
  // One server for all: every play has a database of its own.
  const server = database === "postgres" && !process.env["ASKD_TEST_POSTGRES"] ? await startPostgres() : undefined;
  if (server) process.env["ASKD_TEST_POSTGRES"] = server.url;
  const outcomes: ReachOutcome[] = [];
  const left = Array.from({ length: options.times }, () => ChannelName.options).flat();
  const playLeft = async (): Promise<void> => {
    for (let channel = left.shift(); channel; channel = left.shift()) {
      const name = channel;
      const own = cases.filter((play) => play.channel === name);
      if (own.length === 0) continue;
      outcomes.push(...(await withPlace(database, (place) => playReach(program, place, name, own, options.onOutcome))));
    }
  };
  try {
    await Promise.all(Array.from({ length: options.atOnce }, playLeft));
  } finally {
    if (server) delete process.env["ASKD_TEST_POSTGRES"];
    await server?.stop();
    if (program !== "built") program.remove();
    await stopSharedMailServer();
  }
  return outcomes;
}
