import { readFlags } from "../proof/flags.ts";
import { model, SharedClock } from "../proof/model.ts";
import { withPlace } from "../proof/place.ts";
import { memoryTwin, postgresTwin, sqliteTwin } from "../proof/twin.ts";

// npm run model -- --sequences 2000 --store sqlite|postgres|both
const { count, databases } = readFlags("sequences", 2000);
const startedMs = performance.now();
const clock = new SharedClock();
await withPlace(databases.includes("postgres") ? "postgres" : "sqlite", async (place) => {
  const twins = [await memoryTwin(clock.now)];
  if (databases.includes("sqlite")) twins.push(await sqliteTwin(clock.now));
  if (databases.includes("postgres")) twins.push(await postgresTwin(place.address));
  try {
    const { sequences, steps, ends } = await model(twins, clock, count);
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    const names = twins.map((twin) => twin.name).join(", ");
    console.log(`${names}: ${sequences} sequences, ${steps} steps, ${seconds} s, all agree`);
    for (const end of Object.keys(ends).sort()) console.log(`  ${end} ${ends[end]}`);
  } finally {
    await Promise.all(twins.map((twin) => twin.close()));
  }
});
