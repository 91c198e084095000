// The question of a step that asks or looks in an issue.
import { createHash, randomBytes } from "node:crypto";
import { findDefault, letterOptions, readInputs } from "./input.mjs";
import { requireNoSecret } from "./secret.mjs";

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const USUAL_MS = UNIT_MS.d;
const POLICIES = ["fail", "skip", "proceed", "default", "wait", "defer", "escalate"];

/** The question that a step without one looks for: a program may have asked it, in its own words. */
export function lookedForState({ INPUT_KEY: name = "", GITHUB_REPOSITORY: repo }, issue) {
  if (name.trim() === "") throw new Error("Set the input question to ask, or key to look for a question of this issue");
  return { key: keyOf(issue, name.trim()), repo, issue };
}

/** The question that the inputs describe, as its comment keeps it: without secrets. */
export function wantedState(env, { issue, nowMs, clean }) {
  const { body } = readInputs({ GITHUB_RUN_ID: "issue", ...env });
  const [item] = body.items;
  const options = letterOptions(item.options).map((option) => ({ ...option, description: clean(option.description) }));
  if (options.length > 26) throw new Error("There are more than 26 options");
  const timeoutMs = readTimeout(body.timeout);
  const effects = effectsOf(body.timeout_params);
  for (const { key, value, label } of options) {
    for (const text of [value, label]) requireNoSecret(`Option ${key}`, text, clean);
  }
  requireNoSecret("The input default", body.default_answer ?? "", clean);
  requireNoSecret("The input timeout-label", effects.label ?? "", clean);
  requireNoSecret("The input timeout-assign", effects.assign ?? "", clean);
  const text = clean(item.text);
  const name = (env.INPUT_KEY ?? "").trim() || text;
  return {
    id: `q-${randomBytes(5).toString("hex")}`,
    key: keyOf(issue, name),
    repo: env.GITHUB_REPOSITORY,
    issue,
    text,
    context: clean(body.context),
    options,
    ...readSilence(body, { options, effects }),
    effects: { ...effects, comment: clean(effects.comment) },
    askedAt: new Date(nowMs).toISOString(),
    dueAt: timeoutMs === undefined ? undefined : new Date(nowMs + timeoutMs).toISOString(),
    status: "pending",
  };
}

function keyOf(issue, name) {
  return createHash("sha256").update(`${issue}\n${name}`).digest("hex").slice(0, 32);
}

/** The consequence of silence; one that could not be carried out is refused before anybody is asked. */
function readSilence({ on_timeout: onTimeout = "fail", default_answer: given }, { options, effects }) {
  if (!POLICIES.includes(onTimeout))
    throw new Error(`The input on-timeout is ${JSON.stringify(onTimeout)}; it takes ${POLICIES.join(", ")}`);
  if (onTimeout === "escalate" && !effects.assign)
    throw new Error("on-timeout escalate needs the input timeout-assign: who gets the issue");
  if (onTimeout !== "default") return { onTimeout };
  const option = given === undefined ? options.find(({ isRecommended }) => isRecommended) : findDefault(options, given);
  if (given === undefined && !option)
    throw new Error("on-timeout default needs the input default or a recommended option");
  return { onTimeout, default: option?.value ?? given };
}

function effectsOf({ add_label: label, comment, assign_to: assign } = {}) {
  return { label, comment, assign: assign?.replace(/^@/, "") };
}

function readTimeout(text) {
  if (text === undefined) return USUAL_MS;
  if (text === "never") return undefined;
  const [, count, unit] = /^(\d+)\s*([smhd])$/.exec(text) ?? [];
  if (count === undefined)
    throw new Error(`The input timeout is no duration such as 30m, 24h or 7d: ${JSON.stringify(text)}`);
  return Number(count) * UNIT_MS[unit];
}
