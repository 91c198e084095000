import type { Edit } from "../variant.ts";

/** Faults that were put into the program on purpose: a walk that finds none of them proves nothing. */
export const PLANTS = {
  "an agent that was killed counts as one that has taken its answer": {
    file: "src/agents/runner/follower.ts",
    find: /how\.exitCode === undefined \|\| KILLED\.has\(how\.exitCode\)/,
    put: "how.exitCode === undefined",
  },
  "chosen options are left out of a message that has words": {
    file: "src/core/run/agent-message.ts",
    find: /function answerLines\([^)]*\)(?:: string)? \{\n/,
    put: '$&  return Object.values(answer.items)[0]?.text ?? "";\n',
  },
  "a repeated answer does not say so": {
    file: "src/core/run/agent-message.ts",
    find: /const TOLD_BEFORE =[^;]*;/,
    put: 'const TOLD_BEFORE = "This is what became of your question.";',
  },
  "an agent that asks again has taken nothing": {
    file: "src/core/run/handover.ts",
    find: /(const isTaken = [^\n]*=>)\n[^;]*;/,
    put: "$1 false;",
  },
} as const satisfies Record<string, Edit>;
