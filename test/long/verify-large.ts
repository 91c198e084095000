import { once } from "node:events";
import { spawn } from "node:child_process";
import { z } from "zod";
import { engineOn } from "../../src/app.ts";
import { parseAsk } from "../../src/core/question/ask-input.ts";
import { verify } from "../../src/engine/trail/verify.ts";
import { ADA, AGENT } from "../builders.ts";
import { readFlags } from "../proof/flags.ts";
import { Place, openStore, withPlace } from "../proof/place.ts";
import { ROOMY, SCRIPT, said } from "../scene.ts";

// npm run verify:large -- --questions 100000 --store sqlite|postgres|both
const AT_ONCE = 256;
/** However many questions there are: 100,000 took 231 MB, most of it garbage that Node had no reason to collect. */
const MOST_PEAK_MB = 350;
const MEASURE = "--measure";

/** The result of one verification in a process of its own. */
const Measured = z.object({
  runs: z.number(),
  events: z.number(),
  seals: z.number(),
  problems: z.array(z.string()),
  seconds: z.number(),
  peakMb: z.number(),
});
type Measured = z.infer<typeof Measured>;

const [mode, given = ""] = process.argv.slice(2);
if (mode === MEASURE) await measureHere(Place.parse(JSON.parse(given)));
else await compareSizes();

/** Verifies a tenth of the questions and then all of them, so that one sees whether memory grows with their number. */
async function compareSizes(): Promise<void> {
  const { count, databases } = readFlags("questions", 100_000);
  for (const database of databases) {
    await withPlace(database, async (place) => {
      const tenth = Math.ceil(count / 10);
      await fill(place, tenth);
      const small = await measure(place);
      say(`${database}, ${tenth} questions`, small);
      const filledMs = await fill(place, count - tenth);
      const large = await measure(place);
      say(`${database}, ${count} questions`, large);
      console.log(`  filled with ${count - tenth} questions in ${(filledMs / 1000).toFixed(1)} s`);
      const isWhole = small.problems.length + large.problems.length === 0 && large.runs === count;
      if (large.peakMb > MOST_PEAK_MB) console.log(`  that is more than ${MOST_PEAK_MB} MB`);
      if (large.peakMb > MOST_PEAK_MB || !isWhole) process.exitCode = 1;
    });
  }
}

/** Asks and answers that many questions, each in a run of its own, and seals the trail; returns the time it took. */
async function fill(place: Place, count: number): Promise<number> {
  const startedMs = performance.now();
  const store = await openStore(place);
  const engine = engineOn(store, { rules: ROOMY });
  let left = count;
  const work = async (): Promise<void> => {
    for (; left > 0;) {
      left -= 1;
      const raw = { question: `Redis or Memcached for cache ${left}?`, options: ["Redis", "Memcached"] };
      const { question } = await engine.ask(parseAsk(raw, SCRIPT, ROOMY, await engine.now()), AGENT);
      await engine.answer(question.id, said("1"), ADA);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  await engine.seal();
  await engine.stop();
  return performance.now() - startedMs;
}

/** Verifies in a new process, so that the memory is that of the verification alone. */
async function measure(place: Place): Promise<Measured> {
  const [, script = ""] = process.argv;
  const child = spawn(process.execPath, [script, MEASURE, JSON.stringify(place)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  await once(child, "close");
  return Measured.parse(JSON.parse(output));
}

async function measureHere(place: Place): Promise<void> {
  const store = await openStore(place);
  const startedMs = performance.now();
  const { runs, events, seals, problems } = await verify(store);
  const seconds = (performance.now() - startedMs) / 1000;
  await store.close();
  const peakMb = process.resourceUsage().maxRSS / 1024;
  const measured: Measured = { runs, events, seals, problems: problems.slice(0, 10), seconds, peakMb };
  process.stdout.write(JSON.stringify(measured));
}

function say(what: string, { runs, events, seals, problems, seconds, peakMb }: Measured): void {
  console.log(`${what}: ${runs} runs, ${events} events, ${seals} seals`);
  console.log(`  verified in ${seconds.toFixed(1)} s, peak RSS ${peakMb.toFixed(0)} MB, ${problems.length} problems`);
  for (const problem of problems) console.log(`  ${problem}`);
}
