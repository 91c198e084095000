import type { Run } from "../../src/core/run/run.ts";
import type { StepCase } from "./steps.ts";

/** A workflow that is killed at each of its stations, and everything that has to be there in the end. */
interface StepFlow {
  /** Writes the definition; `script` is a shell step that writes the name into the journal. */
  yaml(script: (name: string) => string): string;
  /** The label that starts it; otherwise a person does. */
  label?: string;
  /** A person answers its question. */
  isAnswered: boolean;
  ends: Pick<Run, "status" | "reason">;
  stations: readonly string[];
  /** Requests to GitHub during which it is killed. */
  requests?: Readonly<Record<string, RegExp>>;
  /** Steps whose program is killed in the middle, with the reason for which the run fails then, if it does. */
  programs?: Readonly<Record<string, string | undefined>>;
  /** Comments that are there once. */
  comments: readonly string[];
  /** Lines of the journal: steps that may be repeated are there at least once, the others exactly once. */
  repeated: readonly string[];
  once: readonly string[];
  /** How many runs there are, with branches and agents. */
  runs: number;
}

const called = (...steps: string[]) =>
  steps.flatMap((step) => ["committing", "committed", "calling", "called"].map((word) => `${word} ${step}`));
const committed = (...names: string[]) => names.flatMap((name) => [`committing ${name}`, `committed ${name}`]);

export const FLOWS = {
  /** A tool of an MCP server, branches, items and an agent. */
  wide: {
    yaml: (script) => `
name: crash
inputs: { items: { type: list, default: [one, two, three] } }
steps:
  - { id: tool, tool: note, idempotent: true, input: { text: tool } }
  - id: both
    parallel:
      - { id: left, tool: shell, idempotent: true, input: { argv: [sh, -c, ${script("left")}] } }
      - id: right
        steps:
          - { id: first, tool: shell, idempotent: true, input: { argv: [sh, -c, ${script("first")}] } }
          - { id: second, tool: github_comment, input: { body: From the branch } }
  - id: each
    tool: github_comment
    for_each: { in: "{{ inputs.items }}", at_once: 2 }
    input: { body: "Item {{ item }}" }
  - { id: work, tool: agent, input: { agent: scripted, prompt: Work } }
  - { id: last, tool: github_comment, input: { body: All is done } }
`,
    isAnswered: false,
    ends: { status: "completed" },
    stations: [
      ...called("tool", "left", "first", "second", "each", "each#2", "each#3", "work", "last"),
      ...committed("running", "running#2", "running#3", "completed", "completed#2", "completed#3"),
    ],
    requests: { "inside second": /^POST .*\/comments$/ },
    programs: { left: undefined, tool: undefined },
    comments: ["From the branch", "Item one", "Item two", "Item three", "All is done"],
    repeated: ["tool", "left", "first"],
    once: ["work"],
    runs: 7,
  },
  /** A tool of an MCP server that must not be repeated. */
  outside: {
    yaml: () => `
name: crash
steps:
  - { id: tool, tool: note, input: { text: tool } }
`,
    isAnswered: false,
    ends: { status: "completed" },
    stations: [],
    programs: { tool: "step_unknown" },
    comments: [],
    repeated: [],
    once: ["tool"],
    runs: 1,
  },
  /** Nobody answers in time. */
  late: {
    yaml: (script) => `
name: crash
steps:
  - { id: ask, tool: post_question, input: { question: Which?, timeoutHours: 0.0005, timeoutAction: skip }, suspend: true }
  - { id: never, tool: github_comment, input: { body: Answered } }
on_timeout:
  steps:
    - { id: late, tool: github_comment, input: { body: Nobody answered } }
    - { id: after, tool: shell, idempotent: true, input: { argv: [sh, -c, ${script("after")}] } }
`,
    isAnswered: false,
    ends: { status: "skipped", reason: "input_timeout" },
    stations: [...committed("awaiting_input", "skipped"), ...called("late", "after")],
    requests: { "inside late": /^POST .*\/comments$/ },
    programs: { after: undefined },
    comments: ["Nobody answered"],
    repeated: ["after"],
    once: [],
    runs: 1,
  },
  /** A step fails. */
  broken: {
    yaml: (script) => `
name: crash
steps:
  - { id: bad, tool: shell, idempotent: true, input: { argv: [sh, -c, exit 3] } }
on_failure:
  steps:
    - { id: sorry, tool: github_comment, input: { body: "It failed: {{ error.code }}" } }
    - { id: after, tool: shell, idempotent: true, input: { argv: [sh, -c, ${script("after")}] } }
`,
    isAnswered: false,
    ends: { status: "failed", reason: "exit_code" },
    stations: [...called("bad", "sorry", "after"), ...committed("failed")],
    requests: { "inside sorry": /^POST .*\/comments$/ },
    programs: { after: undefined },
    comments: ["It failed: exit_code"],
    repeated: ["after"],
    once: [],
    runs: 1,
  },
  /** A label on an issue starts it. */
  labelled: {
    yaml: () => `
name: crash
triggers: [{ label_added: auto-fix }]
steps:
  - { id: comment, tool: github_comment, input: { body: Looking at it } }
`,
    label: "auto-fix",
    isAnswered: false,
    ends: { status: "completed" },
    stations: ["claimed", ...called("comment")],
    requests: {
      "at the list of issues": /^GET .*\/issues\?/,
      "at the events of the label": /^GET .*\/events\?/,
      "at the rights of the person": /^GET .*\/permission$/,
      "at the text of the issue": /^GET .*\/issues\/123$/,
    },
    comments: ["Looking at it"],
    repeated: [],
    once: [],
    runs: 1,
  },
} satisfies Record<string, StepFlow>;

export type FlowName = keyof typeof FLOWS;

export function flowOf(name: FlowName): StepFlow {
  return FLOWS[name];
}

/** One case for each place of each workflow. */
export function listFlowCases(): StepCase[] {
  return (Object.keys(FLOWS) as FlowName[]).flatMap((flow) => {
    const { ends, stations, requests = {}, programs = {} } = flowOf(flow);
    const shared = { flow, status: ends.status, reason: ends.reason } as const;
    return [
      ...stations.map((kill): StepCase => ({ ...shared, name: `${flow}: ${kill}`, kill })),
      ...Object.entries(requests).map(([name, taken]): StepCase => ({ ...shared, name: `${flow}: ${name}`, taken })),
      ...Object.entries(programs).map(([name, reason]): StepCase => ({
        ...shared,
        name: `${flow}: inside ${name}`,
        kill: `program ${name}`,
        ...(reason !== undefined && { status: "failed", reason }),
      })),
    ];
  });
}
