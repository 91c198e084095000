import type { Context } from "./context.ts";
import type { Args, Flags } from "./flags.ts";

/** What the file of a command holds. */
export interface Command<F extends Flags = Flags> {
  /** How it is typed, after the program's name: `answer <id> [answer]`. */
  usage: string;
  flags: F;
  examples?: readonly string[];
  /** Its page can be longer than a screen: on a terminal it is shown in a pager. */
  isLong?(args: Args<F>): boolean;
  /** The fields that `--json` can show. */
  fields?: readonly string[];
  /** Works for every project alike: what the project of this folder wants does not count. */
  isForAllProjects?: true;
  /** Looks at the settings themselves: works with wrong ones, and on no store that they name. */
  isAboutConfig?: true;
  /** Tells itself what is wrong in the settings, and works with the rest of them. */
  isAboutWrongConfig?: true;
  /** Does it and returns the exit code. */
  run(args: Args<F>, context: Context): Promise<number>;
}

interface Entry {
  about: string;
  /** It goes on for long, so that it is worth compiling what it does often. */
  isLasting?: true;
  aliases?: readonly string[];
  load(): Promise<{ command: Command }>;
}

type Entries = Readonly<Record<string, Entry>>;

/** What people do day by day. */
const EVERYDAY: Entries = {
  status: { about: "What waits for you, what runs, what ended today", load: () => import("./commands/inspect/status.ts") },
  list: { about: "Questions, newest first", load: () => import("./commands/inspect/list.ts") },
  show: { about: "One run or question in full", load: () => import("./commands/inspect/show.ts") },
  answer: { about: "Answer a question", aliases: ["respond"], load: () => import("./commands/answer/answer.ts") },
  next: { about: "Answer one question after another, by single keys", load: () => import("./commands/next/next.ts") },
  tree: { about: "Runs with their subtasks and questions", load: () => import("./commands/inspect/tree.ts") },
  diff: { about: "What the agent of a run has changed so far", load: () => import("./commands/run/diff.ts") },
  logs: { about: "What the agent of a run did; -f follows it", load: () => import("./commands/run/logs.ts") },
  undo: { about: "Take an answer back while it can be", load: () => import("./commands/answer/undo.ts") },
  amend: { about: "Correct an answer that was given", load: () => import("./commands/answer/amend.ts") },
  claim: { about: "Say that you are on it", load: () => import("./commands/question/claim.ts") },
  release: { about: "Give a claim back", load: () => import("./commands/question/release.ts") },
  assign: { about: "Say whom a question is for", load: () => import("./commands/question/assign.ts") },
  snooze: { about: "No reminders for a while; the deadline stays", load: () => import("./commands/question/snooze.ts") },
  extend: { about: "Give people more time", load: () => import("./commands/question/extend.ts") },
  comment: { about: "Tell other people something; the agent does not see it", load: () => import("./commands/question/comment.ts") },
  escalate: { about: "Send a question to the next people now", load: () => import("./commands/question/escalate.ts") },
  cancel: { about: "Withdraw a question", load: () => import("./commands/question/cancel.ts") },
  link: { about: "An address where one person answers one question", load: () => import("./commands/question/link.ts") },
  open: { about: "Show a question or run in the browser", load: () => import("./commands/service/open.ts") },
  takeover: { about: "Go on yourself in the session of a run's agent", load: () => import("./commands/run/takeover.ts") },
  watch: { about: "What happens, line by line, as it happens", isLasting: true, load: () => import("./commands/inspect/watch.ts") },
};

/** What agents and scripts are run with, and ask with. */
const FOR_AGENTS: Entries = {
  run: { about: "Run an agent; its questions are kept, and it is resumed", load: () => import("./commands/run/run.ts") },
  runs: { about: "List, show, resume and cancel runs", load: () => import("./commands/run/runs.ts") },
  ask: { about: "Ask a person; with --wait the answer comes on stdout", load: () => import("./commands/ask/ask.ts") },
  check: { about: "The state of a question, without waiting", load: () => import("./commands/ask/check.ts") },
  worker: { about: "Start and resume agents on this machine", isLasting: true, load: () => import("./commands/run/worker.ts") },
  mcp: { about: "Serve an agent's questions over MCP on stdio", isLasting: true, load: () => import("./commands/agent/mcp.ts") },
  hook: { about: "Take the questions of an agent's own hooks", load: () => import("./commands/agent/hook.ts") },
};

/** What is done once, or now and then. */
const SETTING_UP: Entries = {
  init: { about: "Wire your agents, and send yourself a test question", load: () => import("./commands/init/init.ts") },
  doctor: {
    about: "Check everything, say what to do about it, and do it with --fix",
    load: () => import("./commands/doctor/doctor.ts"),
  },
  demo: { about: "Watch a scripted agent ask you", load: () => import("./commands/demo/demo.ts") },
  serve: { about: "Serve questions over HTTP, on this machine", isLasting: true, load: () => import("./commands/service/serve.ts") },
  service: { about: "Start and stop askd in the background, or when you sign in", load: () => import("./commands/service/service.ts") },
  config: { about: "See and change what is set, and where", load: () => import("./commands/setup/config.ts") },
  login: { about: "A code that signs you in on the web, once", load: () => import("./commands/setup/login.ts") },
  auth: { about: "Who you are here", load: () => import("./commands/setup/auth.ts") },
  user: { about: "The people who answer, and how they are reached", load: () => import("./commands/setup/user.ts") },
  token: { about: "Make, list and revoke tokens", load: () => import("./commands/setup/token.ts") },
  template: { about: "Canned answers that everybody shares", load: () => import("./commands/setup/template.ts") },
  stats: { about: "How many, how fast, by whom; what agents waited", load: () => import("./commands/inspect/stats.ts") },
  audit: { about: "Who did what and when; verifies the trail", load: () => import("./commands/store/audit.ts") },
  export: { about: "Write everything into one file", load: () => import("./commands/store/export.ts") },
  import: { about: "Read such a file into this store", load: () => import("./commands/store/import.ts") },
  backup: { about: "Copy the store while it is used", load: () => import("./commands/store/backup.ts") },
  migrate: { about: "Bring the store up to this version of askd", load: () => import("./commands/store/migrate.ts") },
  completion: { about: "Complete commands, flags and ids in your shell", load: () => import("./commands/setup/completion.ts") },
  version: { about: "Show the version", load: () => import("./commands/setup/version-command.ts") },
};

/** What only programs type; help does not list it. */
const FOR_PROGRAMS: Entries = {
  bridge: { about: "Be the client of an agent's own server", load: () => import("./bridge.ts") },
  complete: { about: "What could be typed next", load: () => import("./commands/setup/complete.ts") },
  "probe-server": { about: "Keep a caller waiting", load: () => import("./commands/doctor/probe-server.ts") },
  "test-agent": { about: "Ask once, for init", load: () => import("./commands/init/test-agent.ts") },
};

/** The commands that people type, as help shows them. */
export const GROUPS: ReadonlyArray<readonly [title: string, commands: Entries]> = [
  ["Everyday", EVERYDAY],
  ["Agents and scripts", FOR_AGENTS],
  ["Setting up and looking after", SETTING_UP],
];

/** Every command by its name. A file is loaded when its command is used. */
export const COMMANDS: Entries = { ...EVERYDAY, ...FOR_AGENTS, ...SETTING_UP, ...FOR_PROGRAMS };

/** The command that goes by this name or alias. */
export function findCommand(name: string): { name: string; entry: Entry } | undefined {
  const found = Object.entries(COMMANDS).find(([known, { aliases }]) => known === name || aliases?.includes(name));
  return found && { name: found[0], entry: found[1] };
}

/** Every word that names a command for people. */
export function commandNames(): string[] {
  return shownCommands().flatMap(([name, { aliases }]) => [name, ...(aliases ?? [])]);
}

/** The commands that people type, in the order of help. */
export function shownCommands(): Array<[string, Entry]> {
  return GROUPS.flatMap(([, commands]) => Object.entries(commands));
}
