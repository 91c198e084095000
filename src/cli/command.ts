import type { CHANGES } from "./commands/question/change-question.ts";
import type { Context } from "./context.ts";
import type { Args, Flags } from "./flags.ts";

/** A command, as its file exports it. */
export interface Command<F extends Flags = Flags> {
  /** How it is typed, after the program's name: `answer <id> [answer]`. */
  usage: string;
  flags: F;
  examples?: readonly string[];
  /** Says whether the output may be longer than a screen and goes to a pager on a terminal. */
  isLong?(args: Args<F>): boolean;
  /** The fields that `--json` can show. */
  fields?: readonly string[];
  /** Ignores the project's config file: the command concerns every project. */
  isForAllProjects?: true;
  /** Reads the config files themselves, valid or not, and opens no store. */
  isAboutConfig?: true;
  /** Reports config errors itself and uses the valid settings. */
  isAboutWrongConfig?: true;
  /**
   * Says whether it only looks: a store that is not the configured one, such as a backup, is then opened read-only, and
   * with --read-only every other command is refused.
   */
  isLooking?(args: Args<F>): boolean;
  /** Runs the command and returns the exit code. */
  run(args: Args<F>, context: Context): Promise<number>;
}

interface Entry {
  about: string;
  /** Runs for a long time, so compiled schemas pay off. */
  isLasting?: true;
  aliases?: readonly string[];
  load(): Promise<{ command: Command }>;
}

type Entries = Readonly<Record<string, Entry>>;

/** The commands that change a question share one file. */
async function loadChange(name: keyof typeof CHANGES) {
  return { command: (await import("./commands/question/change-question.ts")).CHANGES[name] };
}

/** Everyday commands. */
const EVERYDAY: Entries = {
  status: {
    about: "Waiting questions, running agents, runs that ended today",
    load: () => import("./commands/inspect/status.ts"),
  },
  list: { about: "List questions, newest first", load: () => import("./commands/inspect/list.ts") },
  show: { about: "Show a run or a question in full", load: () => import("./commands/inspect/show.ts") },
  answer: { about: "Answer a question", aliases: ["respond"], load: () => import("./commands/answer/answer.ts") },
  next: {
    about: "Answer waiting questions one by one with single keys",
    load: () => import("./commands/next/next.ts"),
  },
  tree: { about: "Show runs with their subtasks and questions", load: () => import("./commands/inspect/tree.ts") },
  diff: { about: "Show what the agent has changed so far", load: () => import("./commands/run/diff.ts") },
  logs: { about: "Show what the agent of a run did; -f follows", load: () => import("./commands/run/logs.ts") },
  undo: { about: "Take back an answer during its undo window", load: () => loadChange("undo") },
  amend: { about: "Send a correction of an answer", load: () => loadChange("amend") },
  claim: {
    about: "Claim a question, so that others know you are on it",
    load: () => loadChange("claim"),
  },
  release: { about: "Release your claim", load: () => loadChange("release") },
  assign: { about: "Assign a question to a person or group", load: () => loadChange("assign") },
  snooze: {
    about: "Pause reminders; the deadline stays",
    load: () => loadChange("snooze"),
  },
  extend: { about: "Extend the deadline", load: () => loadChange("extend") },
  comment: {
    about: "Add a comment for people; the agent does not see it",
    load: () => loadChange("comment"),
  },
  escalate: {
    about: "Escalate a question to the next people now",
    load: () => loadChange("escalate"),
  },
  cancel: { about: "Cancel a question", load: () => import("./commands/question/cancel.ts") },
  link: {
    about: "Create a link with which one person answers one question",
    load: () => import("./commands/question/link.ts"),
  },
  open: { about: "Open a question or run in the browser", load: () => import("./commands/service/open.ts") },
  takeover: {
    about: "Continue the agent's session yourself",
    load: () => import("./commands/run/takeover.ts"),
  },
  watch: {
    about: "Print events as they happen",
    isLasting: true,
    load: () => import("./commands/inspect/watch.ts"),
  },
};

/** Commands that run agents, and that agents and scripts ask with. */
const FOR_AGENTS: Entries = {
  run: {
    about: "Run an agent, keep its questions, and resume it with the answers",
    load: () => import("./commands/run/run.ts"),
  },
  runs: { about: "List, show, resume and cancel runs", load: () => import("./commands/run/runs.ts") },
  workflow: {
    about: "Workflows: from a trigger through agents and questions to a result",
    load: () => import("./commands/workflow/workflow.ts"),
  },
  ask: { about: "Ask a person; with --wait print the answer on stdout", load: () => import("./commands/ask/ask.ts") },
  check: { about: "Show the status of a question without waiting", load: () => import("./commands/ask/check.ts") },
  worker: {
    about: "Start and resume agents on this machine",
    isLasting: true,
    load: () => import("./commands/service/worker.ts"),
  },
  mcp: {
    about: "Serve an agent's questions over MCP on stdio",
    isLasting: true,
    load: () => import("./commands/agent/mcp.ts"),
  },
  hook: {
    about: "Handle questions and permissions from an agent's hooks",
    load: () => import("./commands/agent/hook.ts"),
  },
};

/** Commands for setup and maintenance. */
const SETTING_UP: Entries = {
  init: {
    about: "Set up your agents and send yourself a test question",
    load: () => import("./commands/init/init.ts"),
  },
  doctor: {
    about: "Check the installation; --fix repairs it",
    load: () => import("./commands/doctor/doctor.ts"),
  },
  demo: { about: "Watch a scripted agent ask you a question", load: () => import("./commands/demo/demo.ts") },
  serve: {
    about: "Serve the API and the web inbox over HTTP",
    isLasting: true,
    load: () => import("./commands/service/serve.ts"),
  },
  service: {
    about: "Run askd in the background, now or at login",
    load: () => import("./commands/service/service.ts"),
  },
  channels: {
    about: "List the channels that people are told through, and what they last did",
    load: () => import("./commands/reach/channels.ts"),
  },
  setup: {
    about: "Set up a channel, from nothing to a delivered and answered test question",
    load: () => import("./commands/reach/setup.ts"),
  },
  test: { about: "Send a test question through a channel", load: () => import("./commands/reach/test.ts") },
  config: { about: "Show and change settings", load: () => import("./commands/setup/config.ts") },
  login: { about: "Print a one-time code to sign in on the web", load: () => import("./commands/setup/login.ts") },
  auth: { about: "Show who you are signed in as", load: () => import("./commands/setup/auth.ts") },
  user: { about: "Manage the people who answer, and their addresses", load: () => import("./commands/setup/user.ts") },
  away: {
    about: "Say that you are away, and who gets your questions too",
    load: () => import("./commands/setup/away.ts"),
  },
  invite: { about: "Print a link by which a colleague signs in", load: () => import("./commands/setup/invite.ts") },
  token: { about: "Create, list and revoke tokens", load: () => import("./commands/setup/token.ts") },
  template: { about: "Manage shared answer templates", load: () => import("./commands/setup/template.ts") },
  stats: {
    about: "Statistics: how many questions, how fast, by whom",
    load: () => import("./commands/inspect/stats.ts"),
  },
  audit: { about: "Show the audit trail, or verify it", load: () => import("./commands/store/audit.ts") },
  export: { about: "Export the store to a file", load: () => import("./commands/store/export.ts") },
  import: { about: "Import an exported file", load: () => import("./commands/store/import.ts") },
  backup: { about: "Back up the store while it is in use", load: () => import("./commands/store/backup.ts") },
  restore: { about: "Restore a backup; nothing may use the store", load: () => import("./commands/store/restore.ts") },
  migrate: { about: "Migrate the store to this version of askd", load: () => import("./commands/store/migrate.ts") },
  completion: {
    about: "Print the completion script for your shell",
    load: () => import("./commands/setup/completion.ts"),
  },
  version: { about: "Show the version", load: () => import("./commands/setup/version-command.ts") },
};

/** Internal commands; help does not list them. */
const FOR_PROGRAMS: Entries = {
  bridge: { about: "Act as the client of an agent's own server", load: () => import("./commands/agent/hook-call.ts") },
  complete: { about: "List completions", load: () => import("./commands/setup/complete.ts") },
  "probe-server": { about: "Serve MCP for doctor --probe", load: () => import("./commands/doctor/doctor-probe.ts") },
  "test-agent": { about: "Ask once, for init", load: () => import("./commands/init/init-test.ts") },
};

/** The commands that help lists, by group. */
export const GROUPS: ReadonlyArray<readonly [title: string, commands: Entries]> = [
  ["Everyday", EVERYDAY],
  ["Agents and scripts", FOR_AGENTS],
  ["Setup and maintenance", SETTING_UP],
];

/** Every command by its name. A command's file is loaded on use. */
export const COMMANDS: Entries = { ...EVERYDAY, ...FOR_AGENTS, ...SETTING_UP, ...FOR_PROGRAMS };

/** The command with this name or alias. */
export function findCommand(name: string): { name: string; entry: Entry } | undefined {
  const found = Object.entries(COMMANDS).find(([known, { aliases }]) => known === name || aliases?.includes(name));
  return found && { name: found[0], entry: found[1] };
}

/** Names and aliases of the commands that help lists. */
export function commandNames(): string[] {
  return shownCommands().flatMap(([name, { aliases }]) => [name, ...(aliases ?? [])]);
}

/** The commands that help lists, in its order. */
export function shownCommands(): Array<[string, Entry]> {
  return GROUPS.flatMap(([, commands]) => Object.entries(commands));
}

/** Says of a command with verbs whether it only lists or shows. */
export function isListOrShow({ positionals: [verb = "list"] }: Pick<Args, "positionals">): boolean {
  return verb === "list" || verb === "show";
}
