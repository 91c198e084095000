import { parseArgs } from "node:util";
import { fanOut } from "../proof/fan-out.ts";

// npm run sse -- --readers 900 --stalled 100 --events 10000
const { values } = parseArgs({
  options: {
    readers: { type: "string", default: "900" },
    stalled: { type: "string", default: "100" },
    events: { type: "string", default: "10000" },
  },
});
const [readers, stalled, events] = [Number(values.readers), Number(values.stalled), Number(values.events)];
const { delivered, seconds, p99Ms, dropped, grownMb, problems } = await fanOut({ readers, stalled, events });
console.log(`${readers} readers, ${stalled} stalled, ${events} events, in one process with the server`);
console.log(`  ${delivered} delivered of ${readers * events}, ${(delivered / seconds).toFixed(0)}/s, p99 ${p99Ms} ms`);
console.log(`  ${dropped} of ${stalled} stalled ones cut off; memory grew by at most ${grownMb.toFixed(0)} MB`);
for (const problem of problems) console.log(`  ${problem}`);
if (problems.length > 0 || dropped !== stalled || delivered !== readers * events) process.exitCode = 1;
