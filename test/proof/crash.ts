import { once } from "node:events";
import type { ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { openDatabase } from "../../src/sqlite.ts";
import { Acknowledged, findLost } from "./acknowledged.ts";
import { liveEngine } from "./live-engine.ts";
import { type Database, openStore, type Place, withPlace } from "./place.ts";
import { buildProgram, killHard, type Program } from "./program.ts";
import { findBroken, readAll } from "./promise.ts";

const SOON_MS = 15;
const LATE_MS = 150;
const CHECK_EVERY = 50;
const STANDBY = 2;
/** A run in which hardly anything was acknowledged would show nothing. */
const LEAST_PER_KILL = 1;

export interface Crashed {
  kills: number;
  /** How often something was acknowledged, by what it was. */
  acknowledged: Record<string, number>;
  runs: number;
  events: number;
  /** One line for each promise that was broken. */
  problems: string[];
}

/** Kills processes at work on one store, again and again, and looks whether anything acknowledged is lost. */
export async function crash(database: Database, kills: number): Promise<Crashed> {
  const program = await buildProgram("test/proof/busy.ts");
  try {
    return await withPlace(database, (place) => crashAt(program, place, kills));
  } finally {
    program.remove();
  }
}

async function crashAt(program: Program, place: Place, kills: number): Promise<Crashed> {
  const acknowledged: Acknowledged[] = [];
  let checked = await check(place, acknowledged);
  const standby: Busy[] = [];
  // Starting a program takes longer than killing it: the next ones start while one works.
  const next = (): Busy => {
    while (standby.length <= STANDBY) standby.push(start(program, place));
    return standby.shift()!;
  };
  try {
    for (let kill = 1; kill <= kills; kill += 1) {
      const busy = kill % 10 === 0 ? [next(), next()] : [next()];
      await Promise.all(busy.map((each) => each.go()));
      // How much is done in some time depends on the machine; every third has done something, however slow it is.
      if (kill % 3 === 0) await Promise.all(busy.map((each) => each.acknowledges(LEAST_PER_KILL * 3)));
      await sleep(Math.random() * (kill % 3 === 0 ? LATE_MS : SOON_MS));
      await Promise.all(busy.map((each) => killHard(each.child)));
      for (const each of busy) acknowledged.push(...each.acknowledged());
      if (kill % CHECK_EVERY === 0 || kill === kills) checked = await check(place, acknowledged);
      if (checked.problems.length > 0) break;
    }
  } finally {
    await Promise.all(standby.map((each) => killHard(each.child)));
  }
  const counts: Record<string, number> = {};
  for (const { what } of acknowledged) counts[what] = (counts[what] ?? 0) + 1;
  if (acknowledged.length < kills * LEAST_PER_KILL)
    checked.problems.push(`only ${acknowledged.length} operations were acknowledged`);
  return { kills, acknowledged: counts, ...checked };
}

interface Busy {
  child: ChildProcess;
  /** Lets it open the store, and comes back when it has. */
  go(): Promise<void>;
  /** Comes back when it has acknowledged so many operations. */
  acknowledges(count: number): Promise<void>;
  /** What it wrote in whole lines, after it is gone. */
  acknowledged(): Acknowledged[];
}

function start(program: Program, place: Place): Busy {
  const child = program.start([JSON.stringify(place)], ["pipe", "pipe", "inherit"]);
  const { stdin, stdout } = child;
  if (!stdin || !stdout) throw new Error("A process was started without its pipes.");
  let text = "";
  stdout.setEncoding("utf8").on("data", (some: string) => (text += some));
  const ended = once(child, "exit").then(() => Promise.reject(new Error("A process ended early.")));
  ended.catch(() => undefined); // it is killed in the end
  const lines = (): string[] =>
    text
      .split("\n")
      .slice(0, -1)
      .filter((line) => line !== "READY");
  return {
    child,
    go: async () => {
      const spoke = once(stdout, "data");
      stdin.write("go\n");
      await Promise.race([spoke, ended]);
    },
    acknowledges: async (count) => {
      while (lines().length < count) await Promise.race([once(stdout, "data"), ended]);
    },
    acknowledged: () => lines().map((line) => Acknowledged.parse(JSON.parse(line))),
  };
}

/** What a fresh engine finds in the store. */
async function check(
  place: Place,
  acknowledged: readonly Acknowledged[],
): Promise<Pick<Crashed, "runs" | "events" | "problems">> {
  const store = await openStore(place);
  const engine = liveEngine(store);
  try {
    const lost = await findLost(store, acknowledged);
    const broken = findBroken(await readAll(store));
    const { runs, events, problems } = await engine.verify();
    const damage = place.database === "sqlite" ? checkFile(place.address) : [];
    return { runs, events, problems: [...lost, ...broken, ...problems, ...damage] };
  } finally {
    await engine.stop();
  }
}

function checkFile(path: string): string[] {
  const file = openDatabase(path, { readOnly: true });
  try {
    const found = file.prepare<{ integrity_check: string }>("pragma integrity_check").all();
    return found.map((row) => row.integrity_check).filter((line) => line !== "ok");
  } finally {
    file.close();
  }
}
