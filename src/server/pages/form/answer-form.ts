import { actorName } from "../../../core/people/actor.ts";
import type { AnswerField } from "../../../core/answer/answer-schema.ts";
import { AnswerInput } from "../../../core/answer/answer-input.ts";
import type { QuestionSnapshot } from "../../../core/changes.ts";
import type { Content, Item, Option } from "../../../core/question/content.ts";
import { isPending } from "../../../core/question/question.ts";
import { isDenial } from "../../../core/question/approval.ts";
import { ALLOW_CHANGED } from "../../../core/question/run-permission.ts";
import { confirmationWord } from "../../../core/question/risk.ts";
import { type FormDraft, EMPTY_DRAFT, OTHER_CHOICE, draftText, itemFieldNames } from "../../../web/parts/form-draft.ts";

type ItemAnswer = { values: string[]; text?: string };

/** Reads the answer from a form; undefined if an item has no answer. */
export function readAnswerForm(content: Content, draft: FormDraft): AnswerInput | undefined {
  const outcome = draftText(draft, "do");
  const note = draftText(draft, "note").trim();
  const base = { note: note || undefined, force: draftText(draft, "force") === "1" };
  if (outcome === "decide") return AnswerInput.parse({ ...base, outcome });
  if (outcome === "clarify") {
    const back = draftText(draft, "back").trim() || note;
    return back === "" ? undefined : AnswerInput.parse({ outcome, note: back });
  }
  const items: Record<string, ItemAnswer> = {};
  for (const [index, item] of content.items.entries()) {
    const spoken = readItem(item, index, draft);
    if (!spoken) return undefined;
    items[item.id] = spoken;
  }
  return AnswerInput.parse({ ...base, items });
}

/** True if a high-risk answer is confirmed with its word; asking back and denying need none. */
export function isRiskConfirmed({ question, content, run }: QuestionSnapshot, draft: FormDraft): boolean {
  if (question.risk !== "high" || draftText(draft, "do") === "clarify") return true;
  if (question.kind === "approval" && isDenial(content, chosenValues(content, draft))) return true;
  return draftText(draft, "word").trim() === confirmationWord(question.title, run.name);
}

/** The values of the options that a form chooses. */
function chosenValues({ items }: Content, draft: FormDraft) {
  const chosen = items.map(({ id, options }, index) => {
    const places = draft.get(itemFieldNames(index).choice) ?? [];
    return [id, { values: places.flatMap((place) => options[Number(place)]?.value ?? []) }] as const;
  });
  return Object.fromEntries(chosen);
}

/** The free text of a form, to give back to the person. */
export function writtenText(content: Content, draft: FormDraft): string {
  const own = content.items.map(({ change }, index) => {
    const text = draftText(draft, itemFieldNames(index).text);
    return text.trim() === change?.trim() ? "" : text;
  });
  const parts = [...own, draftText(draft, "note"), draftText(draft, "back")];
  return parts
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .join("\n");
}

/** Prefills the form with the option that an address names; never at high risk. */
export function draftFromAddress(read: QuestionSnapshot, said: string): FormDraft {
  return read.question.risk === "high" ? EMPTY_DRAFT : draftFromChoice(read.content, said);
}

/** Prefills the form with a named option or with text. */
export function draftFromChoice(content: Content, said: string): FormDraft {
  const [item, second] = content.items;
  if (!item || second || said.trim() === "") return new Map();
  const { choice, text } = itemFieldNames(0);
  const place = item.options.findIndex((option) => isNamed(option, said));
  if (place >= 0) return new Map([[choice, [String(place)]]]);
  return item.allowText
    ? new Map([...(item.options.length > 0 ? [[choice, [OTHER_CHOICE]] as const] : []), [text, [said]]])
    : new Map();
}

/** Prefills the form with an answer. */
export function draftFromAnswer(content: Content, given: Pick<AnswerInput, "answer" | "items" | "note">): FormDraft {
  const draft = new Map<string, readonly string[]>(draftFromChoice(content, given.answer ?? ""));
  for (const [index, item] of content.items.entries()) {
    const said = given.items?.[item.id];
    if (!said) continue;
    const names = itemFieldNames(index);
    const places = said.values.map((name) => item.options.findIndex((option) => isNamed(option, name)));
    draft.set(names.choice, [
      ...places.filter((place) => place >= 0).map(String),
      ...(said.text === undefined || said.values.includes(ALLOW_CHANGED) ? [] : [OTHER_CHOICE]),
    ]);
    if (said.text !== undefined) draft.set(names.text, [said.text]);
  }
  if (given.note !== undefined) draft.set("note", [given.note]);
  return draft;
}

/** Prefills the form with the person's own vote. */
export function draftFromVote({ question, content }: QuestionSnapshot, person: string): FormDraft {
  const votes = isPending(question) ? question.votes : [];
  const own = votes.find(({ by }) => actorName(by) === person)?.answer;
  if (own?.outcome !== "answer" || content.items.some(({ schema }) => schema)) return EMPTY_DRAFT;
  return draftFromAnswer(content, { items: own.items, note: own.note });
}

function isNamed({ key, value, label }: Option, name: string) {
  return [key, value, label].some((each) => each.toLowerCase() === name.trim().toLowerCase());
}

function readItem(item: Item, index: number, draft: FormDraft): ItemAnswer | undefined {
  const names = itemFieldNames(index);
  const text = draftText(draft, names.text).trim();
  if (item.schema?.type === "object") {
    const fields = Object.entries(item.schema.properties).flatMap(([property, field]) => {
      const given = draftText(draft, names.part(property)).trim();
      return given === "" ? [] : [[property, typed(field, given)] as const];
    });
    return fields.length === 0 ? undefined : { values: [], text: JSON.stringify(Object.fromEntries(fields)) };
  }
  const chosen = (draft.get(names.choice) ?? []).flatMap((place) => item.options[Number(place)] ?? []);
  const isOwn = item.options.length === 0 || (draft.get(names.choice) ?? []).includes(OTHER_CHOICE);
  if (chosen[0]?.value === ALLOW_CHANGED) return text === "" ? undefined : { values: [ALLOW_CHANGED], text };
  if (isOwn && text !== "") return { values: chosen.map((option) => optionName(item, option)), text };
  return chosen.length === 0 ? undefined : { values: chosen.map((option) => optionName(item, option)) };
}

/** Converts to the type of the schema; an invalid value stays text, and the engine refuses it. */
function typed(field: AnswerField, text: string) {
  if (field.type === "string") return text;
  if (field.type === "boolean") return text === "true" ? true : text === "false" ? false : text;
  return Number.isFinite(Number(text)) ? Number(text) : text;
}

/** A name that means only this option: its key, unless another option has that value or label. */
export function optionName(item: Item, option: Option): string {
  const letter = option.key.toLowerCase();
  const isTaken = item.options.some(
    ({ key, value, label }) => key !== option.key && [value, label].some((name) => name.toLowerCase() === letter),
  );
  return isTaken ? option.value : option.key;
}
