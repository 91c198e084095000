import type { QuestionSnapshot } from "../../../core/changes.ts";
import { QuestionId } from "../../../core/id.ts";
import { epochMs } from "../../../core/instant.ts";
import { runAfterAnswer, findAwayMachine } from "../../../core/run/machine.ts";
import { isPending } from "../../../core/question/question.ts";
import { Refusal } from "../../../core/refusal.ts";
import type { Rules } from "../../../core/rules.ts";
import { listMatchingTemplates } from "../../../core/answer/template.ts";
import type { Engine } from "../../../engine/engine.ts";
import { readMachines } from "../../../engine/machines.ts";
import { isShownOnCard } from "../../../web/words/event-words.ts";
import type { AtHand, CardView } from "../../../web/card/card-view.ts";
import type { FormDraft } from "../../../web/parts/form-draft.ts";
import type { PageReader } from "../../../web/parts/page-reader.ts";
import { draftFromVote } from "../form/answer-form.ts";
import type { Presence } from "./presence.ts";

const MOST_EVENTS = 30;
const MOST_HISTORY = 5;
const MOST_SIMILAR = 3;
const MOST_LIKE = 20;
const MOST_TEMPLATES = 8;

export interface CardDeps {
  engine: Engine;
  rules: Rules;
  presence: Presence;
  atHand?: AtHand | undefined;
  /** The machine whose agents this server starts, while it does. */
  here?: (() => string | undefined) | undefined;
}

/** Optional parts of a card's view. */
export type CardMore = Partial<Pick<CardView, "problem" | "wrong" | "lost" | "preview" | "same">> & {
  draft?: FormDraft;
};

/** Reads all data of a question's card. */
export async function readCard(
  deps: CardDeps,
  reader: PageReader,
  read: QuestionSnapshot,
  more: CardMore = {},
): Promise<CardView> {
  const { engine, presence, atHand } = deps;
  const { run, question } = read;
  const isSettling = isPending(question) && question.settling !== undefined && !question.settling.isHeldBack;
  const waiting = isSettling ? [runAfterAnswer(run)] : run.owes.includes(question.id) ? [run] : [];
  const [[usage], events, history, memory, deliveries, machines] = await Promise.all([
    engine.usageOf([run.id]),
    readEvents(engine, read),
    readHistory(engine, read),
    isPending(question) ? readMemory(deps, read) : { similar: [], templates: [] },
    (question.deliveries ?? []).length > 0 ? engine.listDeliveries(question.id) : [],
    readMachines(engine, waiting, deps.here?.()),
  ]);
  return {
    reader,
    read,
    usage,
    draft: draftFromVote(read, reader.id),
    same: [],
    ...more,
    events,
    history,
    deliveries,
    ...memory,
    away: waiting[0] && findAwayMachine(waiting[0], machines),
    viewers: presence.viewers(question.id, epochMs(reader.now)),
    takeover: await atHand?.takeover(run),
    hasWork: atHand !== undefined && run.dir !== undefined,
  };
}

/** The other questions of the run; their answers often explain this one. */
async function readHistory(engine: Engine, { run, question }: QuestionSnapshot) {
  const all = await engine.listQuestions({ runId: run.id, order: "newest", limit: MOST_HISTORY + 1 });
  const others = all.filter(({ id }) => id !== question.id).slice(0, MOST_HISTORY);
  return engine.readMany(others.map(({ id }) => id));
}

/** Similar answers and templates that fit. */
async function readMemory(
  { engine, rules }: CardDeps,
  read: QuestionSnapshot,
): Promise<Pick<CardView, "similar" | "templates">> {
  const [similar, all] = await Promise.all([engine.findSimilar(read.question.id, MOST_LIKE), engine.listTemplates()]);
  const templates = listMatchingTemplates(all, read, rules.limits);
  return {
    similar: onePerAnswer(similar).slice(0, MOST_SIMILAR),
    templates: templates.slice(0, MOST_TEMPLATES).map(({ name }) => name),
  };
}

/** Keeps one question per answer: the most similar. */
function onePerAnswer(similar: CardView["similar"]) {
  return similar.filter(({ answer }, at) => similar.findIndex((other) => other.answer === answer) === at);
}

/** Finds a question by its whole id, or by the short one that people type. */
export async function findQuestionId(engine: Engine, name: string): Promise<QuestionId> {
  const whole = QuestionId.safeParse(name);
  if (whole.success) return whole.data;
  const short = name.replace(/^q[-_]/, "");
  const found = /^[0-9a-z]{4,26}$/.test(short) ? (await engine.lookUp({ by: "short", text: short }, 2)).questions : [];
  if (found.length === 1 && found[0]) return found[0].id;
  throw new Refusal("not_found", "There is no such question");
}

/** Events of a question, and of its run until the next question. */
async function readEvents(engine: Engine, { run, question }: QuestionSnapshot) {
  const chain = (await engine.readChain(run.id)).map(({ event }) => event);
  const start = chain.findIndex((event) => event.questionId === question.id);
  const next = chain.findIndex(
    (event, at) => at > start && event.type === "question.asked" && event.questionId !== question.id,
  );
  const own = chain.filter((event, at) => {
    if (event.questionId !== undefined) return event.questionId === question.id;
    return at > start && (next < 0 || at < next);
  });
  return own.filter(isShownOnCard).slice(-MOST_EVENTS);
}
