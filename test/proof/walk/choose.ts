import type { Item } from "../../../src/core/question/content.ts";
import type { QuestionId } from "../../../src/core/id.ts";
import { hasEnded } from "../../../src/core/run/run.ts";
import type { Chance } from "./chance.ts";
import type { QuestionDeed, Said } from "./deed.ts";
import { PEOPLE } from "./plan.ts";
import { type Sight, isForceable } from "./predict.ts";
import type { Way } from "./stage.ts";

const WAYS = { rest: 30, cli: 1, remote: 1 } as const satisfies Record<Way, number>;
/** An answer without anything special about it. */
export const PLAIN = {
  outcome: "answer",
  values: [],
  text: undefined,
  note: undefined,
  force: false,
  confirmed: true,
  resume: true,
  undoMs: 0,
} as const satisfies { [Name in keyof Said]: Said[Name] | readonly [] };
const UNDO_MS = [300, 700, 1_500];

let marks = 0;

/** Words that were said once only. */
function mark(): string {
  return `word-${(marks += 1)}-${process.pid}`;
}

/** Makes up something to do to this question that makes sense more often than not. */
export function chooseDeed({ question, run, content }: Sight, chance: Chance): QuestionDeed {
  const { id } = question;
  const base = { id, by: chance.pick(PEOPLE), way: chance.weighted(WAYS) };
  const item = content.items[0];
  if (!item) throw new Error(`${id} asks nothing`);
  if (question.status !== "pending") return afterwards({ question, run, content }, item, base, chance);
  if (question.settling && chance.is(0.5)) return { ...base, do: "undo" };
  const verb = chance.weighted({ answer: 60, cancel: 3, words: 4, care: 14, undo: 1, amend: 2 });
  if (verb === "answer") return { ...base, ...answerBy(base, { question, run, content }, item, chance) };
  if (verb === "cancel") return { ...base, do: "cancel", words: undefined, confirmed: false };
  if (verb === "words") return { ...base, do: "cancel", words: `never mind, ${mark()}`, confirmed: chance.is(0.8) };
  if (verb === "undo") return { ...base, do: "undo" };
  if (verb === "amend")
    return { ...base, do: "amend", text: `rather ${mark()}`, resume: chance.is(0.5), confirmed: chance.is(0.8) };
  return care(base, chance);
}

type Base = Pick<QuestionDeed, "id" | "by" | "way">;

/** What can be done when a question is closed: correct it, answer it after all, or come too late. */
function afterwards({ question, run }: Sight, item: Item, base: Base, chance: Chance): QuestionDeed {
  const isForced = isForceable(run, question) && chance.is(0.7);
  if (isForced) {
    const said = { ...PLAIN, ...saying(item, chance), force: true };
    return { ...base, way: wayFor(base.way, said, item), do: "answer", said };
  }
  const verb = chance.weighted({ amend: 10, answer: 3, undo: 1, claim: 1, cancel: 1, comment: 1, extend: 1 });
  if (verb === "amend")
    return {
      ...base,
      do: "amend",
      text: `rather ${mark()}`,
      resume: chance.is(hasEnded(run) ? 0.6 : 0.3),
      confirmed: chance.is(0.8),
    };
  if (verb === "answer") {
    const said = { ...say(item, chance), force: chance.is(0.5) };
    return { ...base, way: wayFor(base.way, said, item), do: "answer", said };
  }
  if (verb === "cancel") return { ...base, do: "cancel", words: undefined, confirmed: false };
  if (verb === "comment") return { ...base, do: "comment", text: mark() };
  if (verb === "extend") return { ...base, do: "extend", ms: 1_000 };
  return { ...base, do: verb };
}

function care(base: Base, chance: Chance): QuestionDeed {
  const verb = chance.weighted({ claim: 3, release: 2, snooze: 2, extend: 3, comment: 2, assign: 1, escalate: 3 });
  if (verb === "snooze") return { ...base, do: verb, ms: chance.pick([20_000, 60_000]) }; // never over before it is sent
  if (verb === "extend") return { ...base, do: verb, ms: chance.pick([300, 1_000, 60_000]) };
  if (verb === "comment") return { ...base, do: verb, text: mark() };
  return verb === "assign" ? { ...base, do: verb, to: chance.pick(PEOPLE) } : { ...base, do: verb };
}

/** An answer by one who may give it more often than not. */
function answerBy(
  base: Base,
  { question, run }: Sight,
  item: Item,
  chance: Chance,
): Pick<QuestionDeed, "by" | "way"> & { do: "answer"; said: Said } {
  const said = say(item, chance);
  const isRestricted = question.status === "pending" && question.approvals.from.length > 0;
  const way = isRestricted && base.way === "cli" ? "rest" : wayFor(base.way, said, item);
  const isKept = run.giveBack === "worker" && chance.is(0.12);
  return {
    by: base.by,
    way,
    do: "answer",
    said: { ...said, ...(isKept && { resume: false }), confirmed: chance.is(0.8) },
  };
}

/** Both choices and words, or too many choices, can only be said to the server. */
function wayFor(way: Way, { values, text }: Said, { multiple }: Item): Way {
  const isBoth = values.length > 0 && text !== undefined;
  return isBoth || (values.length > 1 && !multiple) ? "rest" : way;
}

/** What somebody says: choices, words, both, neither, a question back, or something that does not fit. */
function say(item: Item, chance: Chance): Said {
  const outcome = chance.weighted({ answer: 10, decide: 1, clarify: 1.5 });
  const undoMs = chance.is(0.15) ? chance.pick(UNDO_MS) : 0;
  const none = { values: [], text: undefined, note: chance.is(0.25) ? `note ${mark()}` : undefined };
  const plain = { ...none, outcome, undoMs, force: false, confirmed: true, resume: true };
  if (outcome === "clarify") return { ...plain, note: `which one? ${mark()}` };
  if (outcome === "decide") return plain;
  return { ...plain, ...saying(item, chance) };
}

function saying(item: Item, chance: Chance): Pick<Said, "values" | "text"> {
  const values = item.options.map(({ value }) => value);
  const words = `as it was, ${mark()}`;
  if (values.length === 0) return { values: [], text: words };
  const several = values.slice(0, chance.between(1, values.length));
  const kind = chance.weighted({ one: 8, several: 3, both: 3, words: 2, label: 1, none: 0.3, unknown: 0.5 });
  const one = chance.pick(values);
  if (kind === "several") return { values: several, text: undefined };
  if (kind === "both" && item.allowText) return { values: item.multiple ? several : [one], text: words };
  if (kind === "words") return { values: [], text: words };
  if (kind === "label") return { values: [], text: one };
  if (kind === "none") return { values: [], text: "" };
  if (kind === "unknown") return { values: [`no-${mark()}`], text: undefined };
  return { values: [one], text: undefined };
}

/** Two people who answer the same question at the same moment. */
export function chooseRivals(id: QuestionId, item: Item, chance: Chance): QuestionDeed[] {
  return (["ada", "lena"] as const).map((by) => ({
    id,
    by,
    way: chance.is(0.8) ? "rest" : "remote",
    do: "answer",
    said: { ...PLAIN, ...saying({ ...item, allowText: false }, chance) },
  }));
}
