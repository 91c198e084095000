import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { cleanFiles, measureClean, measureOutside, measureRecall } from "../redaction.ts";

const RECALL = 0.98;
const FALSE_RATE = 0.005;
const MB_PER_SECOND = 20;

// npm run redaction -- --samples corpus.jsonl: also measures positives from elsewhere, see measureOutside.
const { values } = parseArgs({
  options: {
    files: { type: "string", default: "2000" },
    show: { type: "string", default: "20" },
    clean: { type: "string", multiple: true, default: [] },
    samples: { type: "string", multiple: true, default: [] },
  },
});
const shown = Number(values.show);
const root = process.cwd();
let isGood = true;

for (const { group, samples, missed } of [...measureRecall([1, 2, 3, 4, 5]), ...values.samples.map(measureOutside)]) {
  const part = (samples - missed.length) / samples;
  isGood &&= part >= RECALL;
  console.log(`${group.padEnd(10)} ${samples - missed.length} of ${samples} taken out, ${(100 * part).toFixed(1)} %`);
  for (const text of missed.slice(0, shown)) console.log(`  missed ${JSON.stringify(text)}`);
}

const folders =
  values.clean.length > 0 ? values.clean : ["src", "docs", "skills", "node_modules"].map((name) => join(root, name));
for (const folder of folders) {
  const { lines, redacted, chars, seconds } = measureClean(cleanFiles(folder, Number(values.files)));
  const part = redacted.length / Math.max(1, lines);
  isGood &&= part <= FALSE_RATE;
  const speed = `${(chars / 1e6 / seconds).toFixed(0)} MB/s of processor time, goal ${MB_PER_SECOND}`;
  console.log(`${folder}: ${redacted.length} of ${lines} clean lines changed, ${(100 * part).toFixed(3)} %; ${speed}`);
  const step = Math.max(1, Math.ceil(redacted.length / shown));
  for (let at = 0; at < redacted.length; at += step) console.log(`  ${redacted[at]?.slice(0, 200)}`);
}
process.exitCode = isGood ? 0 : 1;
