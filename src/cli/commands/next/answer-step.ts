import { type AnswerInput, defaultInput } from "../../../core/answer/answer-input.ts";
import { type AnswerField, findMismatch, sayMismatch } from "../../../core/answer/answer-schema.ts";
import type { Content, Item, Option } from "../../../core/question/content.ts";
import { matchAnswer } from "../../../core/answer/match.ts";
import { Refusal } from "../../../core/refusal.ts";
import { DEFAULT_LIMITS } from "../../../core/rules.ts";
import { EMPTY_LINE, type Line, lineOf } from "./line-editor.ts";

/** One thing to choose or to write: an item, or one field of a typed answer. */
export interface Step {
  itemId: string;
  /** The field of an item whose answer is an object. */
  field?: string;
  /** What stands above the choices where a question has several steps. */
  heading: string;
  choices: readonly Choice[];
  multiple: boolean;
  allowText: boolean;
  /** May be left empty. */
  isOptional: boolean;
  schema?: AnswerField;
  placeholder?: string;
}

export interface Choice {
  label: string;
  about?: string;
  isRecommended: boolean;
  value: string;
  /** What the answer says if this is chosen. */
  says: string;
}

/** What a person has chosen or written at a step so far. */
export interface Picked {
  /** The row that Enter takes: a choice, or behind the last one the row for writing; -1 before any is chosen. */
  cursor: number;
  /** The places of what is ticked where several can be. */
  ticked: readonly number[];
  line: Line;
  /** The written text counts, not what is ticked. */
  isWritten: boolean;
}

/** Takes a question apart into what is asked one after another. */
export function stepsOf({ items }: Content): Step[] {
  return items.flatMap((item) => {
    const heading = item.header ? `${item.header}: ${item.text}` : item.text;
    const { schema } = item;
    if (!schema) return [{ ...plainStep(item, heading) }];
    if (schema.type !== "object") return [fieldStep(item, schema, { heading, isOptional: false })];
    return Object.entries(schema.properties).map(([name, field]) => {
      const isOptional = !(schema.required ?? []).includes(name);
      const about = field.description ? `: ${field.description}` : "";
      return { ...fieldStep(item, field, { heading: `${field.title ?? name}${about}`, isOptional }), field: name };
    });
  });
}

/** Where a person starts: at the recommended choice, but at none where a wrong one is costly. */
export function startPick(step: Step, risk: "low" | "medium" | "high"): Picked {
  const none: Picked = { cursor: step.choices.length === 0 ? 0 : -1, ticked: [], line: EMPTY_LINE, isWritten: false };
  if (risk === "high" || step.choices.length === 0) return none;
  const recommended = step.choices.flatMap(({ isRecommended }, index) => (isRecommended ? [index] : []));
  return { ...none, cursor: recommended[0] ?? 0, ticked: step.multiple ? recommended : [] };
}

/** The same, with an answer filled in that was made before. */
export function fillPick(
  step: Step,
  pick: Picked,
  answer: { values: readonly string[]; text?: string | undefined },
): Picked {
  if (answer.text !== undefined) {
    return { ...pick, line: lineOf(answer.text), isWritten: true, cursor: step.choices.length };
  }
  const ticked = step.choices.flatMap(({ value }, index) => (answer.values.includes(value) ? [index] : []));
  return { ...pick, ticked: step.multiple ? ticked : [], cursor: ticked[0] ?? pick.cursor, isWritten: false };
}

/** How many rows there are to choose from, the one for writing included. */
export function rowsOf(step: Step): number {
  return step.choices.length + (step.allowText ? 1 : 0);
}

/** What keeps a step from being done, in words, or nothing. */
export function findProblem(step: Step, pick: Picked): string | undefined {
  if (pick.isWritten) {
    const text = pick.line.text.trim();
    if (text === "") return step.isOptional ? undefined : "Write something first, or press Esc to go back.";
    const mismatch = step.schema && findMismatch(step.schema, text);
    return mismatch && `That does not fit: ${sayMismatch(mismatch)}.`;
  }
  if (step.multiple) return pick.ticked.length > 0 ? undefined : "Nothing is ticked yet: space ticks, ↵ answers.";
  return step.choices[pick.cursor] ? undefined : "Choose an answer first.";
}

/** Everything that was chosen and written, as the engine takes it. */
export function composeItems(content: Content, picks: readonly Picked[]): NonNullable<AnswerInput["items"]> {
  const said = stepsOf(content).map((step, index) => ({ step, values: saidAt(step, picks[index]) }));
  return Object.fromEntries(
    content.items.map((item) => {
      const own = said.filter(({ step }) => step.itemId === item.id);
      if (item.schema?.type === "object") return [item.id, { values: [], text: objectText(own) }];
      const only = own[0];
      if (!only || only.values.isText) return [item.id, { values: [], text: only?.values.said[0] ?? "" }];
      return [item.id, { values: only.values.said }];
    }),
  );
}

/** The same in one line for people. */
export function sayPicks(content: Content, picks: readonly Picked[]): string {
  return stepsOf(content)
    .map((step, index) => {
      const pick = picks[index];
      if (!pick) return "";
      if (pick.isWritten) return pick.line.text.trim();
      const chosen = step.multiple ? pick.ticked : [pick.cursor];
      return chosen.map((place) => step.choices[place]?.label ?? "").join(", ");
    })
    .filter((text) => text !== "")
    .join("; ");
}

interface Said {
  said: string[];
  isText: boolean;
}

function saidAt(step: Step, pick: Picked | undefined): Said {
  if (!pick) return { said: [], isText: true };
  if (pick.isWritten) return { said: [pick.line.text.trim()], isText: true };
  const chosen = step.multiple ? pick.ticked : [pick.cursor];
  const said = chosen.flatMap((place) => step.choices[place]?.says ?? []);
  return { said, isText: step.schema !== undefined };
}

function objectText(said: ReadonlyArray<{ step: Step; values: Said }>): string {
  const fields = said.flatMap(({ step, values }) => {
    const text = values.said[0] ?? "";
    return text === "" || step.field === undefined ? [] : [[step.field, typed(step.schema, text)] as const];
  });
  return JSON.stringify(Object.fromEntries(fields));
}

function typed(schema: AnswerField | undefined, text: string): string | number | boolean {
  if (schema?.type === "boolean") return /^(true|yes)$/i.test(text);
  return schema?.type === "number" || schema?.type === "integer" ? Number(text) : text;
}

function plainStep(item: Item, heading: string): Step {
  const choices = item.options.map((option, index) => ({
    label: option.label,
    ...(option.description !== undefined && { about: option.description }),
    isRecommended: option.recommended === true,
    value: option.value,
    says: nameOf(item, option, index),
  }));
  const allowText = item.allowText || choices.length === 0;
  const placeholder = item.placeholder === undefined ? {} : { placeholder: item.placeholder };
  return { itemId: item.id, heading, choices, multiple: item.multiple, allowText, isOptional: false, ...placeholder };
}

function fieldStep(
  item: Item,
  schema: AnswerField,
  { heading, isOptional }: Pick<Step, "heading" | "isOptional">,
): Step {
  const words = schema.enum ?? (schema.type === "boolean" ? ["true", "false"] : []);
  const labels: Readonly<Record<string, string>> = schema.type === "boolean" ? { true: "Yes", false: "No" } : {};
  const choices = words.map((says) => ({ label: labels[says] ?? says, isRecommended: false, value: says, says }));
  const allowText = choices.length === 0 || isOptional;
  return { itemId: item.id, heading, choices, multiple: false, allowText, isOptional, schema };
}

/** A word that names this option and no other; the letter of one may be the label of the next. */
function nameOf(item: Item, option: Option, index: number): string {
  const only = { items: [{ ...item, multiple: false, allowText: false }] };
  const names = [option.value, option.label, option.key, String(index + 1)];
  const isRight = (name: string): boolean => {
    try {
      const input = { ...defaultInput(name), items: { [item.id]: { values: [name] } } };
      const matched = matchAnswer(only, input, DEFAULT_LIMITS);
      return matched[item.id]?.values[0] === option.value;
    } catch (error) {
      if (error instanceof Refusal) return false;
      throw error;
    }
  };
  return names.find(isRight) ?? option.value;
}
