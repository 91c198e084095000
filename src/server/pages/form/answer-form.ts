import { sayActor } from "../../../core/people/actor.ts";
import type { AnswerField } from "../../../core/answer/answer-schema.ts";
import { AnswerInput } from "../../../core/answer/answer-input.ts";
import type { Read } from "../../../core/changes.ts";
import type { Content, Item, Option } from "../../../core/question/content.ts";
import { isPending } from "../../../core/question/question.ts";
import { wordToType } from "../../../core/risk-word.ts";
import { type Draft, NO_DRAFT, OTHER, draftedText, fieldNames } from "../../../web/parts/form-draft.ts";

type Spoken = { values: string[]; text?: string };

/** What a form says, as the engine takes it; undefined where an item has no answer. */
export function readAnswerForm(content: Content, draft: Draft): AnswerInput | undefined {
  const outcome = draftedText(draft, "do");
  const note = draftedText(draft, "note").trim();
  const base = { ...(note !== "" && { note }), force: draftedText(draft, "force") === "1" };
  if (outcome === "decide") return AnswerInput.parse({ ...base, outcome });
  if (outcome === "clarify") {
    const back = draftedText(draft, "back").trim() || note;
    return back === "" ? undefined : AnswerInput.parse({ outcome, note: back });
  }
  const items: Record<string, Spoken> = {};
  for (const [index, item] of content.items.entries()) {
    const spoken = readItem(item, index, draft);
    if (!spoken) return undefined;
    items[item.id] = spoken;
  }
  return AnswerInput.parse({ ...base, items });
}

/** Says whether what high risk asks for is there: a word, unless nothing is decided by asking back. */
export function isMeant({ question, run }: Read, draft: Draft): boolean {
  if (question.risk !== "high" || draftedText(draft, "do") === "clarify") return true;
  return draftedText(draft, "word").trim() === wordToType(question.title, run.name);
}

/** What somebody wrote in their own words, so that it can be given back to them. */
export function writtenIn(content: Content, draft: Draft): string {
  const own = content.items.map((_, index) => draftedText(draft, fieldNames(index).text));
  const parts = [...own, draftedText(draft, "note"), draftedText(draft, "back")];
  return parts
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .join("\n");
}

/** The form with the options chosen that an address names; at high risk nothing is chosen beforehand. */
export function wishedBy(read: Read, said: string): Draft {
  return read.question.risk === "high" ? NO_DRAFT : chosenBy(read.content, said);
}

/** The form with the options chosen that are named. */
export function chosenBy(content: Content, said: string): Draft {
  const [item, second] = content.items;
  if (!item || second || said.trim() === "") return new Map();
  const { choice, text } = fieldNames(0);
  const place = item.options.findIndex((option) => isNamed(option, said));
  if (place >= 0) return new Map([[choice, [String(place)]]]);
  return item.allowText
    ? new Map([...(item.options.length > 0 ? [[choice, [OTHER]] as const] : []), [text, [said]]])
    : new Map();
}

/** The form filled as a canned answer says. */
export function filledWith(content: Content, given: Pick<AnswerInput, "answer" | "items" | "note">): Draft {
  const draft = new Map<string, readonly string[]>(chosenBy(content, given.answer ?? ""));
  for (const [index, item] of content.items.entries()) {
    const said = given.items?.[item.id];
    if (!said) continue;
    const names = fieldNames(index);
    const places = said.values.map((name) => item.options.findIndex((option) => isNamed(option, name)));
    draft.set(names.choice, [
      ...places.filter((place) => place >= 0).map(String),
      ...(said.text === undefined ? [] : [OTHER]),
    ]);
    if (said.text !== undefined) draft.set(names.text, [said.text]);
  }
  if (given.note !== undefined) draft.set("note", [given.note]);
  return draft;
}

/** The form as somebody left it who has voted already. */
export function votedBy({ question, content }: Read, person: string): Draft {
  const votes = isPending(question) ? question.votes : [];
  const own = votes.find(({ by }) => sayActor(by) === person)?.answer;
  if (own?.outcome !== "answer" || content.items.some(({ schema }) => schema)) return NO_DRAFT;
  return filledWith(content, { items: own.items, note: own.note });
}

function isNamed({ key, value, label }: Option, name: string): boolean {
  return [key, value, label].some((each) => each.toLowerCase() === name.trim().toLowerCase());
}

function readItem(item: Item, index: number, draft: Draft): Spoken | undefined {
  const names = fieldNames(index);
  const text = draftedText(draft, names.text).trim();
  if (item.schema?.type === "object") {
    const fields = Object.entries(item.schema.properties).flatMap(([property, field]) => {
      const given = draftedText(draft, names.part(property)).trim();
      return given === "" ? [] : [[property, typed(field, given)] as const];
    });
    return fields.length === 0 ? undefined : { values: [], text: JSON.stringify(Object.fromEntries(fields)) };
  }
  const chosen = (draft.get(names.choice) ?? []).flatMap((place) => item.options[Number(place)] ?? []);
  const isOwn = item.options.length === 0 || (draft.get(names.choice) ?? []).includes(OTHER);
  if (isOwn && text !== "") return { values: chosen.map((option) => nameOf(item, option)), text };
  return chosen.length === 0 ? undefined : { values: chosen.map((option) => nameOf(item, option)) };
}

/** A number or a truth where the schema wants one; what is neither stays as it was typed, and is refused as such. */
function typed(field: AnswerField, text: string): string | number | boolean {
  if (field.type === "string") return text;
  if (field.type === "boolean") return text === "true" ? true : text === "false" ? false : text;
  return Number.isFinite(Number(text)) ? Number(text) : text;
}

/** A name that means this option and no other: its letter, unless that is what another one is called. */
export function nameOf(item: Item, option: Option): string {
  const letter = option.key.toLowerCase();
  const isTaken = item.options.some(
    ({ key, value, label }) => key !== option.key && [value, label].some((name) => name.toLowerCase() === letter),
  );
  return isTaken ? option.value : option.key;
}
