import { Refusal } from "../../../core/refusal.ts";
import { RunId } from "../../../core/id.ts";
import { parseIssue } from "../../../core/run/issue.ts";
import { plainName } from "../../../core/people/person.ts";
import { TimeoutPolicy } from "../../../core/question/timeout-policy.ts";
import type { AskOptions, Engine, RunInput } from "../../../engine/engine.ts";
import { findProvenRun } from "../../actor.ts";
import type { Context } from "../../context.ts";
import type { Flags, Values } from "../../flags.ts";
import { getTarget } from "../../find-target.ts";
import { findRepository } from "../run/repository.ts";
import { readOwnSecrets } from "./own-secrets.ts";

export const ASK_FLAGS = {
  option: {
    type: "string",
    short: "o",
    multiple: true,
    value: "value:label",
    about: "An option; can be repeated",
  },
  recommend: { type: "string", value: "value", about: "The option that the asker recommends" },
  multiple: { type: "boolean", about: "Allow several options" },
  "only-options": { type: "boolean", about: "Accept only the options, no free text" },
  context: { type: "string", value: "text", about: "What a person needs to know to decide" },
  header: { type: "string", value: "word", about: "A short title" },
  kind: { type: "string", value: "kind", about: "question, or approval: approve or deny, exit code 12 if denied" },
  risk: { type: "string", value: "risk", about: "low, medium or high" },
  confidence: { type: "string", value: "percent", about: "How sure the asker is of its recommendation" },
  timeout: { type: "string", value: "duration", about: "How long people have to answer (24h)" },
  "on-timeout": { type: "string", value: "policy", about: "wait, proceed, skip, default, escalate, fail or defer" },
  escalate: {
    type: "string",
    multiple: true,
    value: "people[:30m]",
    about: "Who gets it at the deadline, and for how long; repeated for the next step; --on-timeout applies last",
  },
  default: { type: "string", value: "answer", about: "The answer for --on-timeout default" },
  wait: {
    type: "string",
    optional: /^\d[\d.smhdw]*$/,
    value: "duration",
    about: "Wait for the answer, at most this long",
  },
  key: { type: "string", value: "key", about: "Idempotency key: the same key is the same question" },
  to: { type: "string", multiple: true, value: "person", about: "Assign it to this person or group; can be repeated" },
  run: { type: "string", value: "run", about: "Ask in this run" },
  name: { type: "string", value: "name", about: "Name the run that is created for this question" },
  "external-id": { type: "string", value: "id", about: "The id of this work in another system" },
  issue: { type: "string", value: "repo#12", about: "The issue or pull request it belongs to; it is asked there too" },
  priority: { type: "string", value: "0-4", about: "The priority of the work" },
  size: { type: "string", value: "size", about: "The size of the work" },
  accept: {
    type: "string",
    value: "outcomes",
    about: "Outcomes the asker accepts: answer,decide,clarify (answer,decide)",
  },
  callback: { type: "string", value: "url", about: "Where to send the outcome; ASKD_CALLBACK_SECRET signs it" },
  "dry-run": { type: "boolean", about: "Show what each channel would be sent, and ask nothing" },
  via: { type: "string", value: "channel", about: "With --dry-run: only this channel" },
  input: {
    type: "string",
    value: "file",
    about: "Read the question as JSON from a file, or - for stdin; its fields: docs/ask.md",
  },
} as const satisfies Flags;

/** The same rule as for the options of the action, in `action/input.mjs`. */
const VALUE_AND_LABEL = /^([A-Za-z][\w-]*):(?![\s/])(.+)$/s;

type AskValues = Values<typeof ASK_FLAGS>;

/** The flags that describe the question; the others say how to ask it. */
const DESCRIBING = [
  ...(["option", "recommend", "multiple", "only-options", "context", "header", "kind", "risk", "confidence"] as const),
  ...(["timeout", "on-timeout", "escalate", "default", "key", "to", "accept", "issue"] as const),
];

/** The ask that the flags describe, in the shape that every entry point sends. */
export function rawAsk(question: string, flags: AskValues): Record<string, unknown> {
  requireSense(flags);
  const raw = {
    question,
    options: readOptions(flags),
    multiple: flags.multiple,
    allow_text: flags["only-options"] ? false : undefined,
    context: flags.context,
    header: flags.header,
    kind: flags.kind,
    risk: flags.risk,
    confidence: flags.confidence === undefined ? undefined : readConfidence(flags.confidence),
    timeout: flags.timeout,
    on_timeout: readOnTimeout(flags),
    default_answer: flags.default,
    key: flags.key,
    issue: flags.issue === undefined ? undefined : parseIssue(flags.issue),
    to: flags.to?.map(plainName),
    accepts: flags.accept?.split(",").map((outcome) => outcome.trim()),
  };
  return Object.fromEntries(Object.entries(raw).filter(([, value]) => value !== undefined));
}

/** Refuses flags that describe the question beside `--input`. */
export function requireAlone(text: string | undefined, flags: AskValues): void {
  const described = DESCRIBING.find((name) => flags[name] !== undefined);
  if (text === undefined && described === undefined) return;
  const what = text === undefined ? `--${described}` : "a question";
  throw new Refusal("bad_input", `--input holds the whole question; ${what} beside it would be ignored`, {
    hint: "Put it into the file",
  });
}

/** Refuses flags without effect, or certain to fail, before anything is asked. */
function requireSense(flags: AskValues) {
  const { option = [], recommend, multiple, default: given } = flags;
  const policy = flags["on-timeout"];
  const idle = option.length > 0 ? undefined : flags["only-options"] ? "--only-options" : multiple && "--multiple";
  if (idle) throw new Refusal("bad_input", `${idle} needs options to choose from`, { hint: "Give them: -o yes -o no" });
  if (policy !== undefined && !TimeoutPolicy.safeParse(policy).success) {
    throw new Refusal("bad_input", `--on-timeout takes ${TimeoutPolicy.options.join(", ")}`);
  }
  const isChosen = recommend !== undefined || option.some((text) => /\(recommended\)\s*$/i.test(text));
  if (policy === "default" && given === undefined && !isChosen) {
    throw new Refusal("bad_input", "--on-timeout default needs an answer to give", {
      hint: "Add --default <answer>, or --recommend one of the options",
    });
  }
}

/** With `--escalate`, `--on-timeout` says what happens after the last step. */
function readOnTimeout(flags: AskValues) {
  const policy = flags["on-timeout"];
  if (flags.escalate === undefined) return policy;
  const steps = flags.escalate.map((step) => ({
    to: peopleOf(step),
    after: durationOf(step) ?? flags.timeout ?? "24h",
  }));
  return { type: "escalate", steps, then: policy === "escalate" ? undefined : policy };
}

function peopleOf(step: string) {
  const [people = ""] = step.split(":");
  const names = people.split(",").map(plainName);
  if (names.every((name) => name !== "")) return names;
  throw new Refusal("bad_input", "--escalate takes people and how long they have", {
    hint: "Write it like: --escalate lena:30m --escalate ops:2h",
  });
}

function durationOf(step: string) {
  const at = step.indexOf(":");
  return at < 0 ? undefined : step.slice(at + 1);
}

function readConfidence(text: string) {
  const percent = Number(text.replace(/%$/, ""));
  if (text.trim() !== "" && percent >= 0 && percent <= 100) return percent;
  throw new Refusal("bad_input", "--confidence takes a percentage, like 62");
}

/** The run of the ask: the run of this process, a named run, or a new one. */
export async function askOptions(engine: Engine, flags: AskValues, context: Context): Promise<AskOptions> {
  const secrets = await readOwnSecrets(context, context.env);
  const runId = await findProvenRun(engine, context);
  if (runId) return { runId, secrets };
  if (flags.run !== undefined) {
    const target = await getTarget(engine, flags.run);
    return { runId: target.named === "run" ? target.run.id : RunId.parse(target.question.runId), secrets };
  }
  return {
    secrets,
    run: {
      // Absent, not undefined: a run without a name is named after its question.
      ...(flags.name !== undefined && { name: flags.name }),
      externalId: flags["external-id"],
      ...(flags.priority !== undefined && { priority: readPriority(flags.priority) }),
      size: flags.size,
      host: await context.keepHost(),
      dir: context.cwd,
      ...(await findRepository(context.cwd, context.readFile)),
      ...readCallback(flags.callback, context.env),
    },
  };
}

/**
 * Parses `redis:Redis 7` as value and label. Addresses (`https://…`), times (`10:30`) and titles (`feat: add x`) also
 * hold a colon, and stay whole.
 */
function readOptions({ option: given = [], recommend }: AskValues) {
  const options = given.map((text) => {
    const [, value, label] = VALUE_AND_LABEL.exec(text) ?? [];
    return { value: value ?? text, label: label ?? text };
  });
  if (recommend === undefined) return options.length > 0 ? options : undefined;
  const word = recommend.toLowerCase();
  const chosen = options.find(({ value, label }) => value.toLowerCase() === word || label.toLowerCase() === word);
  if (!chosen) {
    throw new Refusal("bad_input", `--recommend "${recommend}" is not one of the options`, {
      hint: `Use one of: ${options.map(({ value }) => value).join(", ") || "give some with --option"}`,
    });
  }
  return options.map((option) => (option === chosen ? { ...option, recommended: true } : option));
}

/** The secret comes from the environment, so that it stays out of process lists and shell histories. */
function readCallback(url: string | undefined, env: Context["env"]): Pick<RunInput, "callback" | "giveBack"> {
  if (url === undefined) return { giveBack: "poll" };
  const secret = env["ASKD_CALLBACK_SECRET"];
  if (secret) return { callback: { url, secret } };
  throw new Refusal("bad_input", "--callback needs a secret to sign with", {
    hint: 'Set one: export ASKD_CALLBACK_SECRET="whsec_$(openssl rand -base64 24)"',
  });
}

export function readPriority(text: string): number {
  const priority = Number(text.replace(/^p/i, ""));
  if (Number.isInteger(priority) && priority >= 0 && priority <= 4) return priority;
  throw new Refusal("bad_input", `--priority takes a number from 0 to 4`);
}
