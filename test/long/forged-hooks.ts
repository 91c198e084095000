import { bringForgedHooks } from "../channels/forged-hook.ts";

/** Brings many forged requests to the address of Slack: npm run forged:hooks [count] [seed] */
const [count = "100000", seed = String(Date.now() % 100_000)] = process.argv.slice(2);
const startedAt = Date.now();
const { forged, accepted, genuine } = bringForgedHooks(Number(count), Number(seed));
const seconds = ((Date.now() - startedAt) / 1000).toFixed(0);
process.stdout.write(
  `${forged} forged requests (seed ${seed}) in ${seconds} s: ${accepted} accepted; genuine: ${genuine}\n`,
);
process.exitCode = accepted === 0 && genuine === 3 ? 0 : 1;
