import { startPostgres } from "../postgres.ts";
import type { Database } from "./place.ts";
import { withPlace } from "./place.ts";
import { type Program, buildProgram } from "./program.ts";
import { type RunCase, type RunOutcome, playCase } from "./run-case.ts";

/** Plays all cases, several at a time: most of the time they wait. */
export async function playRuns(
  database: Database,
  cases: readonly RunCase[],
  options: { atOnce: number; onOutcome?: (outcome: RunOutcome) => void },
): Promise<RunOutcome[]> {
  const program = await buildProgram("test/proof/run-worker.ts");
  // One server for all: every case has a database of its own.
  const server = database === "postgres" && !process.env["ASKD_TEST_POSTGRES"] ? await startPostgres() : undefined;
  if (server) process.env["ASKD_TEST_POSTGRES"] = server.url;
  const outcomes: RunOutcome[] = [];
  const left = [...cases];
  const playLeft = async (): Promise<void> => {
    for (let play = left.shift(); play; play = left.shift()) {
      const outcome = await playOne(program, database, play);
      outcomes.push(outcome);
      options.onOutcome?.(outcome);
    }
  };
  try {
    await Promise.all(Array.from({ length: options.atOnce }, playLeft));
  } finally {
    if (server) delete process.env["ASKD_TEST_POSTGRES"];
    await server?.stop();
    program.remove();
  }
  return outcomes;
}

function playOne(program: Program, database: Database, play: RunCase): Promise<RunOutcome> {
  return withPlace(database, (place) => playCase(program, place, play));
}
