import { RUN_FIELDS } from "../../../core/api/view.ts";
import { STATE_FIELDS } from "../../../core/workflow/workflow-state.ts";
import { unknownVerb } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import type { Flags, Values } from "../../flags.ts";

const LONG: ReadonlySet<string> = new Set(["graph", "list", "show", "logs"]);
const LOOKS: ReadonlySet<string> = new Set([...LONG, "validate"]);

const FIELDS = [
  "name",
  "description",
  "path",
  "hash",
  "triggers",
  "steps",
  "problems",
  "nodes",
  "edges",
  "on_timeout",
  "on_failure",
  ...RUN_FIELDS,
  ...STATE_FIELDS,
] as const;

const flags = {
  force: { type: "boolean", about: "init: replace a file that is there" },
  input: { type: "string", multiple: true, value: "name=value", about: "run: an input; can be repeated" },
  issue: { type: "string", value: "repo#12", about: "run: the issue that it is about" },
  from: { type: "string", value: "step", about: "retry: the step to go back to; the one that failed if left out" },
  reason: { type: "string", short: "m", value: "text", about: "cancel: the reason, which people see" },
} as const satisfies Flags;

/** The flags of all verbs. */
export type WorkflowFlags = Values<typeof flags>;

/** One verb: its words after the verb, the flags, and what it may touch. */
type Verb = (words: readonly string[], given: WorkflowFlags, context: Context) => Promise<number>;

export const command: Command<typeof flags> = {
  usage: "workflow list|validate|graph|init|approve|run|show|logs|cancel|retry [<name>…]",
  isLong: (args) => LONG.has(args.positionals[0] ?? "list"),
  isLooking: (args) => LOOKS.has(args.positionals[0] ?? "list"),
  flags,
  fields: FIELDS,
  examples: [
    "askd workflow init autofix       write a starting point to .askd/workflows",
    "askd workflow validate           check every workflow of this project",
    "askd workflow graph autofix      show its steps as a picture",
    "askd workflow approve autofix    let it run, after you have read it",
    "askd workflow run autofix --issue acme/shop#12",
    "askd workflow show 42            where run #42 stands",
    "askd workflow retry 42 --from run_checks",
  ],
  async run(args, context) {
    const [what = "list", ...words] = args.positionals;
    const load = Object.hasOwn(VERBS, what) ? VERBS[what] : undefined;
    if (!load) throw unknownVerb(args.positionals, command.usage);
    const verb = await load();
    return verb(words, args.flags, context);
  },
};

const VERBS: Readonly<Record<string, () => Promise<Verb>>> = {
  list: async () => (await import("./workflow-list.ts")).list,
  validate: async () => (await import("./workflow-validate.ts")).validate,
  graph: async () => (await import("./workflow-graph.ts")).graph,
  init: async () => (await import("./workflow-init.ts")).init,
  approve: async () => (await import("./workflow-start.ts")).approve,
  run: async () => (await import("./workflow-start.ts")).start,
  show: async () => (await import("./workflow-show.ts")).show,
  logs: async () => (await import("./workflow-show.ts")).logs,
  cancel: async () => (await import("./workflow-change.ts")).cancel,
  retry: async () => (await import("./workflow-change.ts")).retry,
};
