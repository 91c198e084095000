// What the workflow says: inputs come as variables, INPUT_ and the name in capitals.
import { findOption } from "./reply.mjs";

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000 };
/** A hosted job ends after six hours; a step that waits leaves some of it for what comes after. */
const LONGEST_WAIT_MS = 5.5 * UNIT_MS.h;
const RECOMMENDED = /\s*\(recommended\)\s*$/i;

/** The question as the server takes it, the key that finds it again, and how long to wait here. */
export function readInputs(env) {
  const input = (name) => (env[`INPUT_${name.toUpperCase()}`] ?? "").trim();
  const question = input("question");
  if (question === "") throw new Error("The input question is empty");
  const onTimeout = input("on-timeout") || (input("default") === "" ? "" : "default");
  const options = readOptions(input("options"));
  requireDefault(input("default"), { onTimeout, options });
  const effects = {
    ...given("add_label", input("timeout-label")),
    ...given("comment", input("timeout-comment")),
    ...given("assign_to", input("timeout-assign")),
  };
  const body = {
    items: [{ text: question, options }],
    ...given("context", input("context")),
    ...given("timeout", input("timeout")),
    ...given("on_timeout", onTimeout),
    ...given("default_answer", input("default")),
    ...(Object.keys(effects).length > 0 && { timeout_params: effects }),
    run: {
      ...given("repo", env.GITHUB_REPOSITORY),
      ...given("branch", env.GITHUB_REF_NAME),
      labels: ["github-action"],
    },
  };
  return { body, key: keyOf(env, input("key")), waitMs: readWait(input("wait")) };
}

/** A default that could not apply is refused: the server would take it for an answer in own words, or drop it. */
function requireDefault(given, { onTimeout, options }) {
  if (given === "") return;
  if (onTimeout !== "default")
    throw new Error(`The input default is for on-timeout default, and on-timeout is ${JSON.stringify(onTimeout)}`);
  if (options.length > 0 && !findDefault(letterOptions(options), given))
    throw new Error(`The input default is ${JSON.stringify(given)}, which is none of the options`);
}

/** The option that the input default names; exactly, if one is written so. */
export function findDefault(options, given) {
  const exact = options.find(({ key, value, label }) => [key, value, label].includes(given));
  return exact ?? findOption(options, given);
}

/** The options as people see them: with letters, and without the mark of the recommended one. */
export function letterOptions(options) {
  return options.map(({ value, label, description }, index) => ({
    key: String.fromCharCode(65 + index),
    value: value.replace(RECOMMENDED, ""),
    label: label.replace(RECOMMENDED, ""),
    description,
    isRecommended: RECOMMENDED.test(label),
  }));
}

/** The same for every attempt of a workflow run, so that running it again finds the question and its answer. */
function keyOf(env, more) {
  const { GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: run, GITHUB_JOB: job, GITHUB_ACTION: step } = env;
  if (!run) throw new Error("GITHUB_RUN_ID is not set; this action belongs into a workflow");
  return ["github", repository, run, job, step, more].filter(Boolean).join("/").slice(0, 255);
}

/** Splits a line as `askd ask -o` does: addresses, times and titles like "feat: add x" stay whole. */
function readOptions(text) {
  const options = [];
  for (const line of text.split(/\r?\n/).filter((each) => each.trim() !== "")) {
    const last = options.at(-1);
    if (last && /^\s/.test(line)) last.description = [last.description, line.trim()].filter(Boolean).join(" ");
    else options.push(readOption(line.trim()));
  }
  return options;
}

function readOption(line) {
  const [, value = line, label = line] = /^([A-Za-z][\w-]*):(?![\s/])(.+)$/.exec(line) ?? [];
  return { value, label };
}

/** How long a step waits; 0 if it ends at once. */
export function readWait(text) {
  if (text === "" || text === "false") return 0;
  if (text === "true") return LONGEST_WAIT_MS;
  const [, count, unit] = /^(\d+)\s*([smh])$/.exec(text) ?? [];
  if (count === undefined)
    throw new Error(`The input wait is no duration such as 90s, 30m or 2h: ${JSON.stringify(text)}`);
  return Math.min(Number(count) * UNIT_MS[unit], LONGEST_WAIT_MS);
}

function given(name, value) {
  return value ? { [name]: value } : {};
}
