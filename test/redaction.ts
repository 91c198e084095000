import { readFileSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { z } from "zod";
import { redact } from "../src/core/secret/redact.ts";
import { secretSamples } from "./secret-samples.ts";
import { OWN_FORMS } from "./secret-texts.ts";

const MASK = "[redacted]";
/** Values as a run has them in its environment: made up by a program, by a person, and with everything to escape. */
export const OWN_SECRETS = [
  "kX9$fQ2!vLp7&wZ4/tR+8=mB",
  "correct horse battery staple 42",
  "p@ss w0rd\"with'quotes\\and\nlines-9",
  "0f1e2d3c".repeat(3) + "4b5a6978",
  "Tr0ub4dor&3",
];
/** Files that hold made-up secrets on purpose. */
const NOT_CLEAN = /secret-samples|secret-texts|redact|-secret|secret-|\.map$|\.test\.ts$|(^|\/)test\//;
const LONGEST_FILE = 3_000_000;

export interface Recall {
  group: string;
  samples: number;
  missed: string[];
}

/** How many of the samples are taken out, by how they are found. */
export function measureRecall(seeds: readonly number[]): Recall[] {
  const samples = seeds.flatMap((seed) => secretSamples(seed));
  const groups = [...new Set(samples.map(({ group }) => group))].map((group) => {
    const mine = samples.filter((sample) => sample.group === group);
    const missed = mine.filter(({ text, secret }) => redact(text, []).includes(secret));
    return { group, samples: mine.length, missed: missed.map(({ name, text }) => `${name}: ${text}`) };
  });
  const own = OWN_SECRETS.flatMap((secret) =>
    OWN_FORMS.map(([name, write]) => ({ name, secret, text: write(secret) })),
  );
  const missed = own.filter(({ text, secret }) => !isTakenOut(redact(`before ${text} after`, [secret])));
  return [...groups, { group: "own", samples: own.length, missed: missed.map(({ name, text }) => `${name}: ${text}`) }];
}

const OutsideSample = z.object({ name: z.string(), text: z.string(), secret: z.string().min(1) });

/**
 * The same for a file of samples from elsewhere, such as the positives of a scanner: one JSON object a line, with `name`
 * (the rule or provider), `text` and the `secret` in it. A sample counts only if no half of its secret is left.
 */
export function measureOutside(file: string): Recall {
  const samples = readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => OutsideSample.parse(JSON.parse(line)));
  const missed = samples.filter(({ text, secret }) => isHalfLeft(redact(text, []), secret));
  return {
    group: basename(file),
    samples: samples.length,
    missed: missed.map(({ name, text }) => `${name}: ${text}`),
  };
}

/** Says whether half of a secret in a row is still in a text. */
export function isHalfLeft(text: string, secret: string): boolean {
  const length = Math.max(1, Math.ceil(secret.length / 2));
  for (let at = 0; at + length <= secret.length; at += 1) {
    if (text.includes(secret.slice(at, at + length))) return true;
  }
  return false;
}

/** What is left around a mask is punctuation: quotes, padding, and the words that stood there before. */
function isTakenOut(text: string): boolean {
  // The start of `user:` in base64, which is no part of the secret behind it.
  const left = text
    .replace("before ", "")
    .replace(" after", "")
    .replace(/^dXNlc/, "")
    .replaceAll(MASK, "");
  return text.includes(MASK) && left.replace(/[^A-Za-z0-9]/g, "").length <= 4;
}

export interface Clean {
  lines: number;
  redacted: string[];
  chars: number;
  seconds: number;
}

/** How many lines of text without secrets are changed all the same. */
export function measureClean(files: readonly string[]): Clean {
  const total: Clean = { lines: 0, redacted: [], chars: 0, seconds: 0 };
  for (const file of files) {
    const text = readFileSync(file, "utf8");
    if (text.length > LONGEST_FILE) continue;
    const before = process.cpuUsage();
    const isSame = redact(text, []) === text;
    const { user, system } = process.cpuUsage(before);
    const lines = text.split("\n");
    total.lines += lines.length;
    total.chars += text.length;
    total.seconds += (user + system) / 1_000_000;
    if (isSame) continue;
    for (const line of lines) {
      const clean = redact(line, []);
      if (clean !== line) total.redacted.push(`${file}: ${clean.trim()}`);
    }
  }
  return total;
}

/** Text files below a folder, at most so many of them, spread evenly. */
export function cleanFiles(folder: string, most: number): string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:md|tsx?|[mc]?js|json|ya?ml|txt|css)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !NOT_CLEAN.test(file.slice(folder.length)))
    .sort();
  const step = Math.max(1, Math.ceil(files.length / most));
  return files.filter((_, index) => index % step === 0);
}
