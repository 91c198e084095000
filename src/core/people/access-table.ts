import { ACCESS, type AccessVerb, type Role } from "./access.ts";

/** The role columns of the table; askd itself may do what people may. */
const COLUMNS: ReadonlyArray<readonly [Role, string]> = [
  ["own_agent", "agent of the run"],
  ["other_agent", "another agent"],
  ["person", "person"],
  ["admin", "admin"],
  ["link", "by a link"],
];
const VERBS = Object.keys(ACCESS) as AccessVerb[]; // the keys of the table

/** The access table as Markdown, for docs/security.md. */
export function accessTable(): string {
  const head = ["what", ...COLUMNS.map(([, name]) => name), "question", "who may answer"];
  const rows = VERBS.map((verb) => {
    const rule = ACCESS[verb];
    const may: readonly Role[] = rule.may;
    const cells = COLUMNS.map(([role]) => (may.includes(role) ? "yes" : "no"));
    const guard = "isGuarded" in rule ? (rule.isGuarded === "said" ? "checked again" : "checked") : "";
    return [`\`${verb}\``, ...cells, rule.on === "none" ? "" : rule.on, guard];
  });
  const widths = head.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |\n`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("");
}
