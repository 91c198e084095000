import { bringForged } from "../channels/forged-mail.ts";

/** Brings many forged mails: npm run forged:mail [count] [seed] */
const [count = "100000", seed = String(Date.now() % 100_000)] = process.argv.slice(2);
const startedAt = Date.now();
const { brought, read, accepted, control } = await bringForged(Number(count), Number(seed));
const seconds = ((Date.now() - startedAt) / 1000).toFixed(0);
process.stdout.write(
  `${brought} forged mails (seed ${seed}) in ${seconds} s: ${read} were read as replies, ${accepted} accepted; genuine: ${control}\n`,
);
process.exitCode = accepted === 0 && control === "answered" ? 0 : 1;
