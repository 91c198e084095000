import { promptOf, untilTold } from "../../e2e/stage.ts";
import type { Chance } from "../walk/chance.ts";

/** When a question is answered: while its call waits, while its agent comes to its end, or after that. */
export type Moment = "live" | "parking" | "parked";
export const MOMENTS: readonly Moment[] = ["live", "parking", "parked"];

export interface PlannedQuestion {
  text: string;
  /** What only this answer says. */
  answer: string;
  by: "tool" | "own tool" | "marker";
  when: Moment;
  /** How long after that moment is there. */
  delayMs: number;
}

export interface PlannedRun {
  /** In every conversation of this run, and of no other. */
  name: string;
  program: "claude" | "codex";
  questions: PlannedQuestion[];
}

const CLAUDE_RUNS = 10;
const CODEX_RUNS = 5;
const WAYS = { claude: ["tool", "own tool", "marker"], codex: ["tool", "marker"] } as const;
const LIVE_SECONDS = 120;
/** How long a question of an agent's own tool is held; it cannot say so itself. */
export const WINDOW_SECONDS = 4;
/** How long an agent takes to stop, so that there is a moment in which it is told to and has not yet. */
const STOP_MS = 3_000;
/** So that an agent whose tools are not there yet does not try a hundred times. */
const TURN_MS = 400;

/** Ten runs of Claude Code and five of Codex, each with two or three questions. */
export function planRuns(chance: Chance): PlannedRun[] {
  const programs = [
    ...Array.from({ length: CLAUDE_RUNS }, () => "claude" as const),
    ...Array.from({ length: CODEX_RUNS }, () => "codex" as const),
  ];
  return programs.map((program, index) => {
    const name = `run-${String(index + 1).padStart(2, "0")}`;
    const count = chance.between(2, 3);
    const questions = Array.from({ length: count }, (_, nth): PlannedQuestion => {
      const by = chance.pick(WAYS[program]);
      return {
        text: `${name} question ${nth + 1}?`,
        answer: `${name}-answer-${nth + 1}`,
        by,
        when: by === "marker" ? chance.pick(MOMENTS.slice(1)) : chance.pick(MOMENTS),
        delayMs: chance.is(0.5) ? 0 : chance.between(0, 2_000),
      };
    });
    return { name, program, questions };
  });
}

/** The prompt that has the scripted model ask all of it, one after another, whatever happens to its agent. */
export function promptFor({ questions }: PlannedRun): string {
  const asks = questions.map((question) => untilTold(question.answer, { ...askFor(question), delayMs: TURN_MS }));
  return promptOf([...asks, { say: "I stop here.", stop: true, delayMs: STOP_MS }, { say: "Done." }]);
}

function askFor({ text: question, by, when }: PlannedQuestion): object {
  if (by === "marker") return { say: `<<ASK_HUMAN>> ${JSON.stringify({ question })} <</ASK_HUMAN>>` };
  if (by === "tool")
    return { call: "ask_human", input: { question, timeout_seconds: when === "live" ? LIVE_SECONDS : 1 } };
  const options = ["Redis", "Memcached"].map((label) => ({ label, description: label }));
  return {
    call: "AskUserQuestion",
    input: { questions: [{ question, header: "Cache", multiSelect: false, options }] },
  };
}
