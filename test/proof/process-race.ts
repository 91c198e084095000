import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { z } from "zod";
import { type Answerer, type Raced, race } from "./answer-race.ts";
import { liveEngine } from "./live-engine.ts";
import { type Database, openStore, type Place, withPlace } from "./place.ts";
import { buildProgram, type Program } from "./program.ts";

const PROCESSES = 8;

const Refused = z.object({ code: z.string(), message: z.string() });
const Reply = z.union([
  z.object({ ready: z.literal(true) }),
  z.object({ failed: z.string() }),
  z.object({ told: z.array(z.object({ name: z.string(), won: z.string().optional(), refused: Refused.optional() })) }),
]);
type Reply = z.infer<typeof Reply>;

/** Races people over several processes that share a store of that kind. */
export async function raceProcesses(database: Database, rounds: number): Promise<Raced> {
  const program = await buildProgram("test/proof/answerer.ts");
  try {
    return await withPlace(database, (place) => raceAt(program, place, rounds));
  } finally {
    program.remove();
  }
}

async function raceAt(program: Program, place: Place, rounds: number): Promise<Raced> {
  const engine = liveEngine(await openStore(place));
  const children: ChildProcess[] = [];
  try {
    for (let index = 0; index < PROCESSES; index += 1) children.push(start(program, place));
    await Promise.all(children.map((child) => nextReply(child)));
    return await race(engine, children.map(answererIn), rounds);
  } finally {
    await Promise.all(children.map(letGo));
    await engine.stop();
  }
}

function start(program: Program, place: Place): ChildProcess {
  return program.start([JSON.stringify(place)], ["ignore", "ignore", "inherit", "ipc"]);
}

function answererIn(child: ChildProcess): Answerer {
  return async (id, names) => {
    const reply = nextReply(child);
    child.send({ id, names });
    const got = await reply;
    if ("told" in got) return got.told;
    throw new Error(`A process of the race failed: ${"failed" in got ? got.failed : "it started again"}`);
  };
}

async function nextReply(child: ChildProcess): Promise<Reply> {
  const gone = new AbortController();
  const { signal } = gone;
  try {
    const message: unknown[] = await Promise.race([
      once(child, "message", { signal }),
      once(child, "exit", { signal }).then(() => [{ failed: "it ended" }]),
    ]);
    return Reply.parse(message[0]);
  } finally {
    gone.abort();
  }
}

async function letGo(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.disconnect();
  await ended;
}
