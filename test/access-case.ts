import { readFileSync } from "node:fs";
import type { AccessVerb, Role } from "../src/core/people/access.ts";
import { DOORS, type Door } from "./access-door.ts";

export type Who = "own_agent" | "run_agent" | "runless_agent" | "named" | "unnamed" | "admin" | "link" | "stranger";
/**
 * What the question is: for everybody, for named people, for two of them, of high risk, an approval, one that somebody
 * answers in words of their own, or in the other state.
 */
export type Kind = "plain" | "named" | "voted" | "risky" | "confirmed" | "approval" | "worded_approval" | "other_state";
export type Came = "yes" | "no" | "closed" | "unconfirmed" | "unmatched" | `unexpected ${string}`;

export interface Case {
  verb: AccessVerb;
  door: Door;
  who: Who;
  kind: Kind;
}

/** A row of the table as docs/security.md shows it. */
interface Row {
  may: ReadonlySet<Role>;
  on: string;
  guard: string;
}

const ROLES: Readonly<Record<Who, Role | undefined>> = {
  own_agent: "own_agent",
  run_agent: "other_agent",
  runless_agent: "other_agent",
  named: "person",
  unnamed: "person",
  admin: "admin",
  link: "link",
  stranger: undefined, // an account that is nobody's on the list
};
const COLUMNS: readonly Role[] = ["own_agent", "other_agent", "person", "admin", "link"];
const PAGE = readFileSync(new URL("../docs/security.md", import.meta.url), "utf8");

/** The table as people read it: what the doors do is held against this, and not against the code that decides it. */
export const TABLE_TEXT = /<!-- who may do what -->\n\n([^]*?)\n<!-- end -->/.exec(PAGE)?.[1] ?? "";
export const DOCUMENTED: ReadonlyMap<string, Row> = new Map(
  TABLE_TEXT.split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) => {
      const [name = "", ...cells] = line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim());
      const may = COLUMNS.filter((_, column) => cells[column] === "yes");
      return [name.replaceAll("`", ""), { may: new Set(may), on: cells[5] ?? "", guard: cells[6] ?? "" }];
    }),
);

/** All combinations of a verb with a door, somebody who comes through it, and a question. */
export function casesOf(verb: AccessVerb): Case[] {
  const doors = Object.keys(DOORS) as Door[]; // the keys of the table above
  return doors.flatMap((door) => {
    const { verbs, who, whoFor } = DOORS[door];
    if (!verbs.includes(verb)) return [];
    const comers = whoFor?.[verb] ?? who;
    return comers.flatMap((each) => {
      // An agent does not get as far as a question at the pages.
      const kinds = door === "web" && each === "own_agent" ? (["plain"] as const) : kindsFor(verb, door);
      return kinds.map((kind) => ({ verb, door, who: each, kind }));
    });
  });
}

function kindsFor(verb: AccessVerb, door: Door): Kind[] {
  const { on = "", guard = "" } = DOCUMENTED.get(verb) ?? {};
  if (guard === "checked again")
    return verb === "resume_run" ? ["plain", "named", "voted", "risky", "approval"] : ["plain"];
  if (on === "") return ["plain"];
  const other: Kind[] = on === "any" || (door === "link" && verb === "undo") ? [] : ["other_state"];
  if (guard === "") return ["plain", "named", ...other];
  const isRisky = door !== "link"; // what closes high risk by a link is said with the strength of links
  const risky: Kind[] = isRisky ? ["risky", "confirmed"] : [];
  // The words of a correction or of a withdrawal are no answer.
  const approvals: Kind[] = verb === "answer" || verb === "force" ? ["approval", "worded_approval"] : ["approval"];
  return ["plain", "named", "voted", ...risky, ...approvals, ...other];
}

const FORM_CLOSES_NOT: ReadonlySet<Kind> = new Set<Kind>([
  "risky",
  "confirmed",
  "approval",
  "worded_approval",
  "other_state",
]);
const RISKY: ReadonlySet<Kind> = new Set(["risky", "confirmed"]);

/** What has to come of it, by what the docs say. */
export function expected(one: Case): Came {
  const { verb, door, who, kind } = one;
  const { may, on, guard } = DOCUMENTED.get(verb) ?? { may: new Set(), on: "", guard: "" };
  const role = ROLES[who];
  if (role === undefined || !may.has(role)) return "no";
  if (isLacking(one)) return "no";
  if (kind === "other_state") return "closed";
  // An approval is given by a choice only.
  if (kind === "worded_approval") return "unmatched";
  // People make links for themselves, and only for who may answer.
  if (verb === "link") return kind === "named" && who === "unnamed" ? "no" : "yes";
  if (guard === "" || on === "any") return "yes";
  if (kind === "named" && who !== "named" && who !== "link") return "no";
  if (guard === "checked again") return "yes";
  if (kind === "voted") return verb === "answer" ? "yes" : "no";
  // A page says itself that a high risk is answered by typing a word, and then that it was not. A channel proves people.
  return kind === "risky" && door !== "remote" && door !== "channel" ? "unconfirmed" : "yes";
}

/** Says whether the door itself lacks what the case takes. */
function isLacking({ verb, door, who, kind }: Case): boolean {
  // No agent signs in to the pages.
  if (door === "web" && who === "own_agent") return true;
  // A form of an MCP client closes neither high risk nor an approval, and leaves a question that is closed as it is.
  if (door === "mcp" && verb === "answer" && FORM_CLOSES_NOT.has(kind)) return true;
  // A program that posts answers proves nobody.
  return door === "webhook" && RISKY.has(kind);
}
