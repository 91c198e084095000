// The GitHub action: asks a server of askd, writes what became of the question to the job, and ends. No packages.
import process from "node:process";
import { readInputs } from "./input.mjs";
import { renderSummary, tellOutputs, tellSummary, writeError, writeNotice } from "./runner.mjs";
import { readOwnSecrets, redactorOf } from "./secret.mjs";
import { Server } from "./server.mjs";

const FAILING = new Set(["fail", "escalate"]);

const clean = redactorOf(process.env);
try {
  process.exitCode = await ask(process.env);
} catch (error) {
  writeError(clean(error instanceof Error ? error.message : String(error)));
  process.exitCode = 1;
}

async function ask(env) {
  if ((env.INPUT_CHANNEL ?? "").trim() === "issue") return askHere(env);
  const { body, key, waitMs } = readInputs(env);
  const server = new Server(env);
  const asked = await server.ask({ ...body, secrets: readOwnSecrets(env) }, key);
  const question = waitMs > 0 && asked.status === "pending" ? await server.wait(asked.id, waitMs) : asked;
  const url = server.addressOf(question);
  tellOutputs(env, outputsOf(question, url));
  return conclude(env, question, url);
}

/** Asks or looks in the issue of the event, with no server; a look may find no question. */
async function askHere(env) {
  const { askInIssue } = await import("./issue.mjs");
  const { question, url, resume } = await askInIssue(env);
  if (!question) {
    const none = { answer: "", choice: "", "answered-by": "", state: "none", "question-id": "", url };
    tellOutputs(env, { ...none, session: "", message: "" });
    writeNotice(url === "" ? "No question waits in this repository." : "This question was not asked here.");
    return 0;
  }
  tellOutputs(env, {
    ...outputsOf(question, url),
    session: resume?.session ?? "",
    message: resume?.message ?? "",
  });
  return conclude(env, question, url);
}

function outputsOf(question, url) {
  const [item] = question.items;
  const values = question.answers?.[item?.id]?.values ?? [];
  return {
    answer: question.answer ?? "",
    choice: values.join(","),
    "answered-by": question.answered_by ?? "",
    state: question.status,
    "question-id": question.id,
    url,
  };
}

/** Shows on the page of the run and in the log what became of the question, without secrets. */
function conclude(env, question, url) {
  const shown = {
    ...question,
    title: clean(question.title),
    answer: clean(question.answer),
    reason: clean(question.reason),
    items: question.items.map((item) => ({ ...item, options: item.options?.map(redactOption) })),
  };
  tellSummary(env, renderSummary(shown, url));
  return tellOutcome(shown);
}

function redactOption(option) {
  return { ...option, label: clean(option.label), description: clean(option.description) };
}

/** Says in the log what became of it; a question that nobody answered fails the step where that was declared. */
function tellOutcome({ status, title, short_id: id, policy, answer, answered_by: by, reason }) {
  const named = `${id} ${JSON.stringify(title)}`;
  if (status === "pending") {
    writeNotice(`${named} waits for a person. Run this workflow again when it is answered.`);
    return 0;
  }
  if (status === "taken") {
    writeNotice(`${named} is closed; another workflow run goes on with it.`);
    return 0;
  }
  if (status === "cancelled") {
    writeError(`${named} was cancelled: ${reason}`);
    return 1;
  }
  if (status === "timeout" && answer === null) {
    const said = `Nobody answered ${named} in time; ${policy} was declared for that.`;
    if (!FAILING.has(policy)) writeNotice(said);
    else writeError(said);
    return FAILING.has(policy) ? 1 : 0;
  }
  if (policy) {
    writeNotice(`Nobody answered ${named} in time, so ${JSON.stringify(answer)} applies.`);
    return 0;
  }
  writeNotice(`${named} was answered by ${by}: ${JSON.stringify(answer)}`);
  return 0;
}
