import { writeSync } from "node:fs";
import { once } from "node:events";
import { instant } from "../../src/core/instant.ts";
import { MemoryStore } from "../memory-store/memory.ts";
import { liveEngine } from "./live-engine.ts";
import { openStore, Place } from "./place.ts";
import { workload } from "./workload.ts";

const STDOUT = 1;
const TURNS = 10_000;
const WARM_UP_TURNS = 4;

// Started with a place; works on the store there from the moment that it is told to, until it is killed.
// What it has written counts as acknowledged, so it writes at once and not through a buffer.
const say = (line: string): void => void writeSync(STDOUT, `${line}\n`);
const place = Place.parse(JSON.parse(process.argv[2] ?? ""));
const told = once(process.stdin, "data");
// Code that runs for the first time is slow: without this most would be killed before they wrote anything.
await workload(liveEngine(new MemoryStore(() => instant(Date.now()))), () => undefined, WARM_UP_TURNS);
await told;
const engine = liveEngine(await openStore(place, { poolSize: 4 }));
say("READY");
await workload(engine, (done) => say(JSON.stringify(done)), TURNS);
