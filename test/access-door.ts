import { ACCESS, type AccessVerb } from "../src/core/people/access.ts";
import type { Who } from "./access-case.ts";

/** Through what somebody comes. `remote` is a command that a server does, in the name of an agent. */
export type Door = "rest" | "remote" | "cli" | "mcp" | "web" | "link" | "hook" | "webhook" | "channel";

interface DoorCases {
  verbs: readonly AccessVerb[];
  who: readonly Who[];
  /** Who comes, for the verbs where those are others. */
  whoFor?: Partial<Record<AccessVerb, readonly Who[]>>;
  /** The verbs that this door does not have, with the reason. */
  lacks: ReadonlyArray<readonly [reason: string, verbs: readonly AccessVerb[]]>;
}

const CHANGES_OF_QUESTIONS: readonly AccessVerb[] = [
  ...(["answer", "force", "amend", "cancel", "undo", "extend", "snooze", "claim", "release", "assign"] as const),
  ...(["escalate", "comment"] as const),
];
const SETTINGS: readonly AccessVerb[] = [
  ...(["change_template", "make_token", "manage_tokens", "manage_people", "set_away", "set_preferences"] as const),
];
const AGENTS = ["own_agent", "run_agent"] as const;
const AGENTS_AND_ADMIN = [...AGENTS, "admin"] as const;

/** Which verbs there are at a door, who comes through it, and why it has no others. */
export const DOORS: Readonly<Record<Door, DoorCases>> = {
  rest: {
    verbs: [
      ...(["look", "take_outcome", ...CHANGES_OF_QUESTIONS, "cancel_with_words", "link", "ask", "report_run"] as const),
      ...(["cancel_run", "resume_run", "take_over_run", "start_run", "see_all", ...SETTINGS, "maintain"] as const),
    ],
    who: [...AGENTS, "runless_agent", "named", "unnamed", "admin"],
    lacks: [
      ["An agent's token makes no runs; a command of the agent does, through the door `remote`", ["start_child_run"]],
      ["A workflow is approved where its file is, by a command", ["approve_workflow"]],
    ],
  },
  remote: {
    verbs: [
      ...(["ask", ...CHANGES_OF_QUESTIONS, "cancel_with_words", "link", "cancel_run", "resume_run"] as const),
      ...(["take_over_run", "start_child_run", ...SETTINGS] as const),
    ],
    who: AGENTS,
    whoFor: { start_child_run: ["own_agent"] }, // an agent names no other run than its own
    lacks: [
      ["The name of an agent lowers what is written; what is read goes by the token", ["look", "see_all", "maintain"]],
      ["A worker reports, and takes outcomes, in the name of its agents", ["report_run", "take_outcome"]],
      ["A run that is started in the name of an agent is its child", ["start_run"]],
      ["A workflow is approved where its file is, on the store itself", ["approve_workflow"]],
    ],
  },
  cli: {
    verbs: [
      ...(["ask", ...CHANGES_OF_QUESTIONS, "cancel_with_words", "link", "cancel_run", "resume_run"] as const),
      ...(["take_over_run", "start_run", "start_child_run", "approve_workflow", ...SETTINGS, "maintain"] as const),
    ],
    who: [...AGENTS, "named", "unnamed"],
    whoFor: {
      // The user of the machine manages as an admin.
      manage_tokens: AGENTS_AND_ADMIN,
      manage_people: AGENTS_AND_ADMIN,
      maintain: AGENTS_AND_ADMIN,
      // What an agent starts is a child of its run.
      start_run: ["named", "unnamed"],
      start_child_run: ["own_agent"],
    },
    lacks: [
      ["A command on the store can look: it can read the file", ["look", "see_all", "take_outcome"]],
      ["The worker reports; to be one is to maintain the store", ["report_run"]],
    ],
  },
  mcp: {
    verbs: ["ask", "look", "cancel", "answer"],
    who: [...AGENTS, "runless_agent"],
    whoFor: { answer: [...AGENTS, "runless_agent", "named", "unnamed"] },
    lacks: [
      ["The outcome comes with the look", ["take_outcome"]],
      ["A run begins with the ask", ["start_run", "start_child_run"]],
      [
        "An agent has no tool for it",
        [
          ...(["force", "amend", "cancel_with_words", "undo", "extend", "snooze", "claim", "release"] as const),
          ...(["assign", "escalate", "comment", "link", "report_run", "cancel_run", "resume_run"] as const),
          ...(["take_over_run", "approve_workflow", "see_all", ...SETTINGS, "maintain"] as const),
        ],
      ],
    ],
  },
  web: {
    verbs: ["ask", "look", "see_all", ...CHANGES_OF_QUESTIONS, "cancel_run", "resume_run", ...SETTINGS],
    who: ["own_agent", "named", "unnamed", "admin"],
    lacks: [
      ["The page withdraws without words; words are an answer there", ["cancel_with_words"]],
      ["Answer links are made by a command or over REST", ["link"]],
      ["Outcomes are for agents, and an agent has no pages", ["take_outcome", "start_child_run"]],
      ["A run is started, moved and reported on a machine that has the agent", ["start_run", "take_over_run"]],
      ["A worker reports", ["report_run"]],
      ["A page shows workflows; they are approved by a command", ["approve_workflow"]],
      ["No page maintains the store; verifying the trail there reads it, as the command does", ["maintain"]],
    ],
  },
  link: {
    verbs: ["look", "answer", "undo"],
    who: ["link"],
    lacks: [["A link shows one question, takes an answer and takes it back", without("look", "answer", "undo")]],
  },
  hook: {
    verbs: ["ask"],
    who: ["own_agent"],
    lacks: [["A hook asks, and waits for what comes of it", without("ask")]],
  },
  webhook: {
    verbs: ["answer"],
    who: ["named", "unnamed", "stranger"],
    lacks: [["A program posts answers, and nothing else", without("answer")]],
  },
  channel: {
    verbs: ["answer", "undo", "snooze", "claim"],
    who: ["named", "unnamed", "stranger"],
    lacks: [["A reply answers, takes that back, snoozes or claims", without("answer", "undo", "snooze", "claim")]],
  },
};

function without(...verbs: readonly AccessVerb[]): AccessVerb[] {
  const all = Object.keys(ACCESS) as AccessVerb[]; // the keys of the table
  return all.filter((verb) => !verbs.includes(verb));
}
