import type { QuestionSnapshot } from "../../../core/changes.ts";
import { shortId } from "../../../core/id.ts";
import type { Instant } from "../../../core/instant.ts";
import { oneLine } from "../../view/sanitise.ts";
import { type Style, cellsOf, cutCells, padCells } from "../../terminal/terminal.ts";
import { sayDue } from "../../view/question-text.ts";
import { refOf, sayHeld } from "../../view/run-text.ts";
import { sayAgo, spellAgo } from "../../view/relative-time.ts";

/** The data of `askd list`. */
export interface ListView {
  now: Instant;
  width: number;
  questions: readonly QuestionSnapshot[];
}

/** The output of `askd list --awaiting`, in the layout of task managers. */
export function renderAwaiting({ now, width, questions }: ListView, style: Style): string {
  if (questions.length === 0) return "Nothing is waiting for you.\n";
  const idCells = Math.max(...questions.map(({ run }) => cellsOf(refOf(run)))) + 3;
  const sizeCells = Math.max(...questions.map(({ run }) => cellsOf(oneLine(run.size ?? ""))));
  const indent = " ".repeat(idCells);
  const blocks = questions.map((read) => {
    const { run, question, content } = read;
    const size = sizeCells > 0 ? `${padCells(oneLine(run.size ?? ""), sizeCells)}  ` : "";
    return [
      `${padCells(refOf(run), idCells)}P${run.priority}  ${size}${style.bold(oneLine(run.name))}`,
      ...content.items.map((item) => `${indent}❓ ${oneLine(item.text)}`),
      ...(content.context ? [`${indent}Context: ${cutContext(content.context, width - idCells)}`] : []),
      `${indent}Asked: ${[spellAgo(question.askedAt, now), ...clauses(read, now)].join(" · ")}`,
    ].join("\n");
  });
  return `Awaiting Human Input:\n\n${blocks.join("\n\n")}\n`;
}

/** The output of `askd list`: one line per question. */
export function renderList({ now, width, questions }: ListView, style: Style): string {
  if (questions.length === 0) return "No questions.\n";
  const ids = questions.map(({ question }) => question.id);
  const rows = questions.map(({ run, question }) => [
    shortId(question.id, ids),
    question.status,
    refOf(run),
    sayAgo(question.askedAt, now),
    oneLine(question.title),
  ]);
  const columns = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => cellsOf(row[column] ?? ""))));
  const lines = rows.map((row) => {
    const left = columns.map((cells, column) => padCells(row[column] ?? "", cells)).join("  ");
    const line = `${left}  ${cutCells(row[4] ?? "", Math.max(20, width - cellsOf(left) - 2))}`;
    return row[1] === "pending" ? style.yellow(line) : line;
  });
  return `${lines.join("\n")}\n`;
}

function clauses(read: QuestionSnapshot, now: Instant): string[] {
  const { question } = read;
  const due = sayDue(read, now);
  return [
    ...(question.status === "pending" && question.hold
      ? [`running (waiting for input, held ${sayHeld(question.hold, now)})`]
      : []),
    ...(due ? [due] : []),
    ...(question.claim ? [`claimed by ${oneLine(question.claim.by.id)}`] : []),
    ...(question.to.length > 0 ? [`for ${question.to.map(oneLine).join(", ")}`] : []),
  ];
}

function cutContext(context: string, cells: number): string {
  const line = oneLine(context);
  const room = Math.max(20, cells - "Context: ".length);
  return cellsOf(line) <= room ? line : cutCells(line, room - 2).replace(/[.,;\s]*…$/, "...");
}
