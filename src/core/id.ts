import { z } from "zod";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"; // without i, l, o, u: ids are read aloud and typed
const TIME_CHARS = 10;
const RANDOM_CHARS = 16; // 80 bits
const RANDOM_START = 2 + TIME_CHARS;
/** The fewest characters of its random part by which an id is shown. */
export const LEAST_SHOWN = 4;
const TOKEN_BYTES = 16;
const POOL_BYTES = 4096;

function idOf<Brand extends string>(prefix: string) {
  return z
    .string()
    .regex(new RegExp(`^${prefix}_[0-9a-hjkmnp-tv-z]{26}$`))
    .brand<Brand>();
}

export const QuestionId = idOf<"QuestionId">("q");
export type QuestionId = z.infer<typeof QuestionId>;
export const RunId = idOf<"RunId">("r");
export type RunId = z.infer<typeof RunId>;
/** The id of the event chain of the store itself, its tokens and people; no run has it. */
export const STORE_CHAIN = `r_${"0".repeat(26)}` as RunId; // not parsed: commands that only look would load the schemas for it
/** Identifies one outcome, so that an agent's transcript can prove that it was given. */
export const OutcomeId = idOf<"OutcomeId">("a");
export type OutcomeId = z.infer<typeof OutcomeId>;
/** Identifies one start of a worker process. */
export const WorkerId = idOf<"WorkerId">("w");
export type WorkerId = z.infer<typeof WorkerId>;

export interface Ids {
  question(): QuestionId;
  run(): RunId;
  outcome(): OutcomeId;
  worker(): WorkerId;
  /** The unguessable text that one message carries: 128 random bits, in a form that mail addresses can have. */
  deliveryToken(): string;
}

/** Creates ids that sort by time and carry 80 random bits from the given source. */
export function idsFrom(nowMs: () => number, randomBytes: (count: number) => Uint8Array): Ids {
  const make = (prefix: string) => `${prefix}_${encodeTime(nowMs())}${encodeRandom(randomBytes(10))}`;
  return {
    question: () => make("q") as QuestionId, // brands are made here and in the schemas only
    run: () => make("r") as RunId,
    outcome: () => make("a") as OutcomeId,
    worker: () => make("w") as WorkerId,
    deliveryToken: () => Buffer.from(randomBytes(TOKEN_BYTES)).toString("hex"),
  };
}

/** The smallest question id of that time or later. */
export function firstQuestionId(epochMs: number): QuestionId {
  return `q_${encodeTime(epochMs)}${ALPHABET.charAt(0).repeat(RANDOM_CHARS)}` as QuestionId; // in the form of one
}

/** Buffers random bytes: each call to the system costs more than an id. */
export function pooledRandom(randomBytes: (count: number) => Uint8Array): (count: number) => Uint8Array {
  let pool: Uint8Array = new Uint8Array(0);
  return (count) => {
    if (pool.length < count) pool = randomBytes(POOL_BYTES);
    const taken = pool.subarray(0, count);
    pool = pool.subarray(count);
    return taken;
  };
}

/** The part of an id that sorts by time. */
export function timePart(id: string): string {
  return id.slice(2, RANDOM_START);
}

/** The part of an id that people see and type, unshortened. */
export function randomPart(id: string): string {
  return id.slice(RANDOM_START);
}

/** The shortest unambiguous form of an id, at least four characters. */
export function shortId(id: string, others: readonly string[] = []): string {
  const mine = randomPart(id);
  const theirs = others.filter((other) => other !== id).map(randomPart);
  let length = LEAST_SHOWN;
  while (length < RANDOM_CHARS && theirs.some((other) => other.startsWith(mine.slice(0, length)))) length += 1;
  return `${id[0]}-${mine.slice(0, length)}`;
}

function encodeTime(ms: number) {
  let rest = ms;
  let text = "";
  for (let index = 0; index < TIME_CHARS; index += 1) {
    text = ALPHABET.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

function encodeRandom(bytes: Uint8Array) {
  let text = "";
  for (let index = 0; index < bytes.length; index += 5) {
    const high = (bytes[index] ?? 0) * 16 + ((bytes[index + 1] ?? 0) >> 4);
    const low =
      ((bytes[index + 1] ?? 0) & 15) * 2 ** 24 +
      ((bytes[index + 2] ?? 0) << 16) +
      ((bytes[index + 3] ?? 0) << 8) +
      (bytes[index + 4] ?? 0);
    const value = high * 2 ** 28 + low;
    text += encodeChunk(value);
  }
  return text;
}

function encodeChunk(value: number) {
  let rest = value;
  let text = "";
  for (let index = 0; index < 8; index += 1) {
    text = ALPHABET.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}
