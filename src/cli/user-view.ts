import type { Person } from "../core/person.ts";
import { oneLine } from "./sanitise.ts";
import { cellsOf, padCells } from "./terminal.ts";

/** The page of `askd user list`: a line for each person, with the names that channels know them by. */
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
