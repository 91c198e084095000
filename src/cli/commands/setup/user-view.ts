import { shortId } from "../../../core/id.ts";
import { Instant } from "../../../core/instant.ts";
import type { Removal } from "../../../core/people/removal.ts";
import { SHOWN_ID_CHARS } from "../../../core/people/token.ts";
import { type Ahead, sayMoment } from "../../view/relative-time.ts";
import type { Person } from "../../../core/people/person.ts";
import { oneLine } from "../../view/sanitise.ts";
import { cellsOf, padCells } from "../../terminal/terminal.ts";

/** The output of `askd user list`: a line per person, with their addresses on channels. */
export function renderPeople(people: readonly Person[]): string {
  const rows = people.map((person) => [
    oneLine(person.id),
    oneLine(person.name ?? ""),
    person.groups.map(oneLine).join(", "),
    reachOf(person),
  ]);
  const columns = [0, 1, 2].map((column) => Math.max(...rows.map((row) => cellsOf(row[column] ?? ""))));
  const lines = rows.map((row) => {
    const left = columns.flatMap((cells, column) => (cells === 0 ? [] : [padCells(row[column] ?? "", cells)]));
    return [...left, row[3] ?? ""].join("  ").trimEnd();
  });
  return `${lines.join("\n")}\n`;
}

function reachOf({ email, slack, github }: Person): string {
  const ways = [
    ...(email === undefined ? [] : [email]),
    ...(slack === undefined ? [] : [`Slack ${slack}`]),
    ...(github === undefined ? [] : [`GitHub ${github}`]),
  ];
  return ways.map(oneLine).join(", ");
}

/** Everything that a removed person holds, one line each with what happens to it. */
export function renderRemoval(removal: Removal, ahead: Ahead): string {
  const { claims, assignments, votes, approvals, tokens } = removal;
  const is = removal.isRemoved ? "is" : "would be";
  const about = ({ id, title }: { id: string; title: string }): string => `${shortId(id)} ${oneLine(title)}`;
  const lines = [
    ...claims.map((held) => `claim on ${about(held)}: ${is} released`),
    ...assignments.map(
      (held) => `assigned ${about(held)}: ${is} for ${held.to.map(oneLine).join(", ") || "everybody"}`,
    ),
    ...votes.map(
      (held) => `vote on ${about(held)}: ${removal.isRemoved ? "no longer counts" : "would no longer count"}`,
    ),
    ...approvals.map(
      (held) =>
        `approval ${about(held)}: needs ${held.need}, ${held.left} left; waits for its deadline${sayDue(held.dueAt, ahead)}`,
    ),
    ...tokens.map((token) => {
      const name = token.name === undefined ? "" : ` "${oneLine(token.name)}"`;
      const then = token.handedTo === undefined ? "revoked" : `handed over to ${oneLine(token.handedTo)}`;
      return `${token.scope} token ${token.id.slice(0, SHOWN_ID_CHARS)}${name} of ${oneLine(token.subject)}: ${is} ${then}`;
    }),
  ];
  const head = removal.isRemoved ? `✓ ${oneLine(removal.person)} is removed` : `${oneLine(removal.person)} holds:`;
  return `${[head, ...lines.map((line) => `  ${line}`)].join("\n")}\n`;
}

function sayDue(dueAt: string | undefined, ahead: Ahead): string {
  const due = Instant.safeParse(dueAt);
  return due.success ? ` (${sayMoment(due.data, ahead)})` : "; it has no deadline: cancel it";
}
