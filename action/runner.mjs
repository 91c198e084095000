// What is told to the runner of a job: outputs, a card on the page of the run, and lines in its log.
import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";
import process from "node:process";

const JOINER = "\u2060";

/** Writes outputs so that no value can end itself and begin another: the delimiter is made fresh and occurs in none. */
export function tellOutputs({ GITHUB_OUTPUT: file }, outputs) {
  if (!file) return;
  for (const [name, value] of Object.entries(outputs)) {
    const delimiter = unusedIn(value);
    appendFileSync(file, `${name}<<${delimiter}\n${value}\n${delimiter}\n`);
  }
}

export function tellSummary({ GITHUB_STEP_SUMMARY: file }, text) {
  if (file) appendFileSync(file, text);
}

/** The question as a card; nothing that an agent or a person wrote becomes markup. */
export function renderSummary(question, url) {
  const [item] = question.items;
  const options = (item?.options ?? []).map(
    ({ key, label, description, recommended }) =>
      `- **${escaped(key)}** ${escaped(label)}${recommended ? " (recommended)" : ""}` +
      (description ? `: ${escaped(description)}` : ""),
  );
  const lines = [
    `### ${escaped(question.title)}`,
    "",
    ...options,
    ...(options.length > 0 ? [""] : []),
    sayState(question),
    "",
    `[Open](${encodeURI(url)}) · \`askd answer ${question.short_id} …\``,
    "",
  ];
  return `${lines.join("\n")}\n`;
}

export function writeNotice(text) {
  process.stdout.write(`::notice title=askd::${commandValue(text)}\n`);
}

export function writeError(text) {
  process.stdout.write(`::error title=askd::${commandValue(text)}\n`);
}

function sayState({ status, answer, answered_by: by, due_at: dueAt, on_timeout: onTimeout, policy, reason }) {
  if (status === "pending") {
    const due = dueAt ? ` until ${dueAt}, then: ${escaped(onTimeout.do)}` : "";
    return `Waiting for an answer${due}.`;
  }
  if (status === "cancelled") return `Cancelled: ${escaped(reason ?? "")}`;
  if (answer === null) return `Nobody answered in time: ${escaped(policy ?? "")}.`;
  if (policy) return `Nobody answered in time, so **${escaped(answer)}** applies.`;
  return `**${escaped(answer)}**, answered by ${escaped(by ?? "")}.`;
}

function unusedIn(value) {
  const delimiter = `askd_${randomUUID()}`;
  return value.includes(delimiter) ? unusedIn(value) : delimiter;
}

/**
 * Every character that Markdown or HTML could take for markup, taken for itself, on one line. GitHub reads mentions and
 * references after it has rendered the text, where an escape is gone: a word joiner, which nobody sees, ends them.
 */
export function escaped(text) {
  return text
    .replace(/[&<>]/g, (character) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[character])
    .replace(/[\\`*_{}[\]()#+\-.!|~:]/g, "\\$&")
    .replace(/@|#(?=\d)|\bGH\\-(?=\d)|:(?=\/\/)/gi, `$&${JOINER}`)
    .replace(/\s*[\r\n\u2028\u2029]+\s*/g, "<br>")
    .replace(/\p{Cc}/gu, " ");
}

/** As the runner wants the value of a command: line ends would begin another one. */
function commandValue(text) {
  return text.replace(/%/g, "%25").replace(/\r/g, "%0D").replace(/\n/g, "%0A");
}
