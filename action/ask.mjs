// The GitHub action: asks a server of askd, writes what became of the question to the job, and ends. No packages.
import process from "node:process";
import { readInputs } from "./input.mjs";
import { renderSummary, tellOutputs, tellSummary, writeError, writeNotice } from "./runner.mjs";
import { Server } from "./server.mjs";

const FAILING = new Set(["fail", "escalate"]);

try {
  process.exitCode = await ask(process.env);
} catch (error) {
  writeError(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

async function ask(env) {
  if ((env.INPUT_CHANNEL ?? "").trim() === "issue") return askHere(env);
  const { body, key, waitMs } = readInputs(env);
  const server = new Server(env);
  const asked = await server.ask(body, key);
  const question = waitMs > 0 && asked.status === "pending" ? await server.wait(asked.id, waitMs) : asked;
  const url = server.addressOf(question);
  tellOutputs(env, outputsOf(question, url));
  tellSummary(env, renderSummary(question, url));
  return conclude(question);
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
  tellSummary(env, renderSummary(question, url));
  return conclude(question);
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

/** Says in the log what became of it; a question that nobody answered fails the step where that was declared. */
function conclude({ status, title, short_id: id, policy, answer, answered_by: by, reason }) {
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
