import { readFileSync } from "node:fs";
import type { AccessVerb, Role } from "../src/core/people/access.ts";

/** Through what somebody comes. `remote` is a command that a server does, in the name of an agent. */
export type Door = "rest" | "remote" | "cli" | "mcp" | "web" | "link" | "hook";
export type Who = "own_agent" | "run_agent" | "runless_agent" | "named" | "unnamed" | "admin" | "link";
/** What the question is: for everybody, for named people, for two of them, of high risk, or in the other state. */
export type Kind = "plain" | "named" | "voted" | "risky" | "confirmed" | "other_state";
export type Came = "yes" | "no" | "closed" | "unconfirmed" | `unexpected ${string}`;

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

const ROLES: Readonly<Record<Who, Role>> = {
  own_agent: "own_agent",
  run_agent: "other_agent",
  runless_agent: "other_agent",
  named: "person",
  unnamed: "person",
  admin: "admin",
  link: "link",
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

const ON_QUESTION: readonly AccessVerb[] = [
  ...(["look", "take_outcome", "answer", "force", "amend", "cancel", "cancel_with_words", "undo", "extend"] as const),
  ...(["snooze", "claim", "release", "assign", "escalate", "comment", "link"] as const),
];
const ON_RUN: readonly AccessVerb[] = ["ask", "report_run", "cancel_run", "resume_run"];
const ELSEWHERE: readonly AccessVerb[] = [
  ...(["start_run", "see_all", "change_template", "make_token", "manage_tokens", "manage_people", "maintain"] as const),
  "set_away",
];

/** Which verbs there are at a door, and who comes through it. */
const DOORS: Readonly<Record<Door, { verbs: readonly AccessVerb[]; who: readonly Who[] }>> = {
  rest: {
    verbs: [...ON_QUESTION, ...ON_RUN, ...ELSEWHERE, "take_over_run"],
    who: ["own_agent", "run_agent", "runless_agent", "named", "unnamed", "admin"],
  },
  remote: {
    verbs: ["cancel", "cancel_with_words", "answer", "cancel_run", "resume_run", "take_over_run", "start_child_run"],
    who: ["own_agent", "run_agent"],
  },
  cli: {
    verbs: [
      ...(["answer", "force", "amend", "cancel", "cancel_with_words", "undo", "extend", "snooze", "claim"] as const),
      ...(["release", "assign", "escalate", "comment", "cancel_run", "resume_run", "make_token"] as const),
      ...(["change_template"] as const),
    ],
    who: ["own_agent", "run_agent", "named", "unnamed"],
  },
  mcp: { verbs: ["ask", "look", "cancel"], who: ["own_agent", "run_agent", "runless_agent"] },
  web: {
    verbs: [
      ...(["look", "answer", "force", "amend", "cancel", "undo", "extend", "snooze", "claim", "release"] as const),
      ...(["assign", "escalate", "comment", "cancel_run", "resume_run", "manage_people"] as const),
    ],
    who: ["named", "unnamed", "admin"],
  },
  link: { verbs: ["look", "answer", "undo"], who: ["link"] },
  hook: { verbs: ["ask"], who: ["own_agent"] },
};

/** All combinations of a verb with a door, somebody who comes through it, and a question. */
export function casesOf(verb: AccessVerb): Case[] {
  const doors = Object.keys(DOORS) as Door[]; // the keys of the table above
  return doors.flatMap((door) => {
    const { verbs, who } = DOORS[door];
    if (!verbs.includes(verb)) return [];
    // An agent starts runs from its own only: it names no other.
    const comers = who.filter((each) => verb !== "start_child_run" || each === "own_agent");
    return comers.flatMap((each) => kindsFor(verb, door).map((kind) => ({ verb, door, who: each, kind })));
  });
}

function kindsFor(verb: AccessVerb, door: Door): Kind[] {
  const { on = "", guard = "" } = DOCUMENTED.get(verb) ?? {};
  if (guard === "checked again") return verb === "resume_run" ? ["plain", "named", "voted", "risky"] : ["plain"];
  if (on === "") return ["plain"];
  const other: Kind[] = on === "any" || (door === "link" && verb === "undo") ? [] : ["other_state"];
  if (guard === "") return ["plain", "named", ...other];
  const isRisky = door !== "link"; // what closes high risk by a link is said with the strength of links
  return ["plain", "named", "voted", ...(isRisky ? (["risky", "confirmed"] as const) : []), ...other];
}

/** What has to come of it, by what the docs say. */
export function expected({ verb, door, who, kind }: Case): Came {
  const { may, on, guard } = DOCUMENTED.get(verb) ?? { may: new Set(), on: "", guard: "" };
  const isNamed = who === "named" || who === "link";
  if (!may.has(ROLES[who])) return "no";
  if (kind === "other_state") return "closed";
  // People make links for themselves, and only for who may answer.
  if (verb === "link") return kind === "named" && who === "unnamed" ? "no" : "yes";
  if (guard === "" || on === "any") return "yes";
  if (kind === "named" && !isNamed) return "no";
  if (guard === "checked again") return "yes";
  if (kind === "voted") return verb === "answer" ? "yes" : "no";
  // A page says itself that a high risk is answered by typing a word, and then that it was not.
  return kind === "risky" && door !== "remote" ? "unconfirmed" : "yes";
}
