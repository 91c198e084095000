import { parseArgs } from "node:util";
import { z } from "zod";
import install from "../e2e/install.ts";
import { type Round, playRound } from "../proof/fleet/fleet.ts";
import { Database, withPlace } from "../proof/place.ts";

// npm run fleet -- --rounds 3 --store sqlite|postgres|both --seed 7
// Ten runs of Claude Code and five of Codex at once, with workers that are killed, stopped and continued.
const text = { type: "string" } as const;
const { values } = parseArgs({ options: { rounds: text, store: text, seed: text } });
const rounds = z.coerce
  .number()
  .int()
  .positive()
  .parse(values.rounds ?? 1);
const seed = z.coerce
  .number()
  .int()
  .nonnegative()
  .parse(values.seed ?? Date.now() % 1_000_000);
const databases = (values.store ?? "both") === "both" ? Database.options : [Database.parse(values.store)];

install();
for (const database of databases) {
  for (let round = 0; round < rounds; round += 1) {
    const startedAtMs = performance.now();
    const played = await withPlace(database, (place) => playRound(place, seed + round));
    const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(0);
    for (const line of [...played.details, ...played.faults]) console.log(`  ${line}`);
    console.log(`${database}: ${sayRound(played)}, ${seconds} s`);
    if (played.faults.length > 0) process.exitCode = 1;
  }
}

function sayRound({ seed, runs, starts, answers, kills, stops, repeats, slowestTakeoverMs, faults }: Round): string {
  const { live, parking, parked } = answers;
  return [
    `seed ${seed}`,
    `${runs} runs with ${starts} starts`,
    `${live + parking + parked} answers (${live} live, ${parking} while parking, ${parked} parked)`,
    `${kills} workers killed and ${stops} stopped`,
    `${repeats} answers repeated and marked`,
    `slowest takeover ${(slowestTakeoverMs / 1000).toFixed(1)} s`,
    `${faults.length} faults`,
  ].join(", ");
}
