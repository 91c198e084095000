import { type AnswerInput, plainAnswerInput } from "../../../core/answer/answer-input.ts";
import { type AnswerField, findSchemaMismatch, describeSchemaMismatch } from "../../../core/answer/answer-schema.ts";
import type { Content, Item, Option } from "../../../core/question/content.ts";
import { matchAnswer } from "../../../core/answer/match.ts";
import { ALLOW_CHANGED } from "../../../core/question/run-permission.ts";
import { Refusal } from "../../../core/refusal.ts";
import { DEFAULT_LIMITS } from "../../../core/rules.ts";
import { EMPTY_LINE, type EditedLine, editedLine } from "./line-editor.ts";

/** One step of an answer: an item, or one field of a typed answer. */
export interface AnswerStep {
  itemId: string;
  /** The field of an item whose answer is an object. */
  field?: string;
  /** The heading above the choices if a question has several steps. */
  heading: string;
  choices: readonly StepChoice[];
  multiple: boolean;
  allowText: boolean;
  /** May be left empty. */
  isOptional: boolean;
  schema?: AnswerField;
  placeholder?: string;
  /** The choice that is written as another command, and the command that was asked for. */
  change?: { place: number; command: string } | undefined;
}

export interface StepChoice {
  label: string;
  about?: string;
  isRecommended: boolean;
  value: string;
  /** The value in the answer if this is chosen. */
  says: string;
}

/** The current choice or text of a step. */
export interface PickedChoice {
  /** The row that Enter takes: a choice, or after the last one the row for writing; -1 if none is selected. */
  cursor: number;
  /** The indexes of the ticked choices. */
  ticked: readonly number[];
  line: EditedLine;
  /** The text counts instead of the ticked choices. */
  isWritten: boolean;
}

/** Splits a question into its steps. */
export function stepsOf({ items }: Content): AnswerStep[] {
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

/** The initial choice of a step: the recommended one, but none at high risk. */
export function startPick(step: AnswerStep, risk: "low" | "medium" | "high"): PickedChoice {
  const none: PickedChoice = {
    cursor: step.choices.length === 0 ? 0 : -1,
    ticked: [],
    line: EMPTY_LINE,
    isWritten: false,
  };
  if (risk === "high" || step.choices.length === 0) return none;
  const recommended = step.choices.flatMap(({ isRecommended }, index) => (isRecommended ? [index] : []));
  return { ...none, cursor: recommended[0] ?? 0, ticked: step.multiple ? recommended : [] };
}

/** The choice of a step with an earlier answer filled in. */
export function fillPick(
  step: AnswerStep,
  pick: PickedChoice,
  answer: { values: readonly string[]; text?: string | undefined },
): PickedChoice {
  if (answer.text !== undefined) {
    return { ...pick, line: editedLine(answer.text), isWritten: true, cursor: step.choices.length };
  }
  const ticked = step.choices.flatMap(({ value }, index) => (answer.values.includes(value) ? [index] : []));
  return { ...pick, ticked: step.multiple ? ticked : [], cursor: ticked[0] ?? pick.cursor, isWritten: false };
}

/** The number of rows, including the one for writing. */
export function rowsOf(step: AnswerStep): number {
  return step.choices.length + (step.allowText ? 1 : 0);
}

/** The row where text is written; undefined if there is none. */
export function writingRow(step: AnswerStep): number | undefined {
  return step.allowText ? step.choices.length : step.change?.place;
}

/** Says whether a text is the changed command of an approval. */
function isChange(step: AnswerStep, pick: PickedChoice) {
  return pick.isWritten && step.change !== undefined && pick.cursor === step.change.place;
}

/** Why a step is not complete; undefined if it is. */
export function findProblem(step: AnswerStep, pick: PickedChoice): string | undefined {
  if (pick.isWritten) {
    const text = pick.line.text.trim();
    if (text === "") return step.isOptional ? undefined : "Write something first, or press Esc to go back.";
    const mismatch = step.schema && findSchemaMismatch(step.schema, text);
    return mismatch && `That does not fit: ${describeSchemaMismatch(mismatch)}.`;
  }
  if (step.multiple) return pick.ticked.length > 0 ? undefined : "Nothing is ticked yet: space ticks, ↵ answers.";
  return step.choices[pick.cursor] ? undefined : "Choose an answer first.";
}

/** The answer items from all choices and texts. */
export function composeItems(content: Content, picks: readonly PickedChoice[]): NonNullable<AnswerInput["items"]> {
  const said = stepsOf(content).map((step, index) => ({ step, values: saidAt(step, picks[index]) }));
  return Object.fromEntries(
    content.items.map((item) => {
      const own = said.filter(({ step }) => step.itemId === item.id);
      if (item.schema?.type === "object") return [item.id, { values: [], text: objectText(own) }];
      const only = own[0];
      if (only?.values.changed !== undefined) return [item.id, { values: only.values.said, text: only.values.changed }];
      if (!only || only.values.isText) return [item.id, { values: [], text: only?.values.said[0] ?? "" }];
      return [item.id, { values: only.values.said }];
    }),
  );
}

/** All choices and texts in one line for people. */
export function sayPicks(content: Content, picks: readonly PickedChoice[]): string {
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

interface StepAnswer {
  said: string[];
  isText: boolean;
  /** The changed command beside the choice. */
  changed?: string;
}

function saidAt(step: AnswerStep, pick: PickedChoice | undefined): StepAnswer {
  if (!pick) return { said: [], isText: true };
  const text = pick.line.text.trim();
  if (isChange(step, pick)) return { said: [ALLOW_CHANGED], isText: false, changed: text };
  if (pick.isWritten) return { said: [text], isText: true };
  const chosen = step.multiple ? pick.ticked : [pick.cursor];
  const said = chosen.flatMap((place) => step.choices[place]?.says ?? []);
  return { said, isText: step.schema !== undefined };
}

function objectText(said: ReadonlyArray<{ step: AnswerStep; values: StepAnswer }>) {
  const fields = said.flatMap(({ step, values }) => {
    const text = values.said[0] ?? "";
    return text === "" || step.field === undefined ? [] : [[step.field, typed(step.schema, text)] as const];
  });
  return JSON.stringify(Object.fromEntries(fields));
}

function typed(schema: AnswerField | undefined, text: string) {
  if (schema?.type === "boolean") return /^(true|yes)$/i.test(text);
  return schema?.type === "number" || schema?.type === "integer" ? Number(text) : text;
}

function plainStep(item: Item, heading: string): AnswerStep {
  const choices = item.options.map((option, index) => ({
    label: option.label,
    about: option.description,
    isRecommended: option.recommended === true,
    value: option.value,
    says: nameOf(item, option, index),
  }));
  const allowText = item.allowText || choices.length === 0;
  const placeholder = item.placeholder === undefined ? {} : { placeholder: item.placeholder };
  const place = item.options.findIndex(({ value }) => value === ALLOW_CHANGED);
  const change = item.change !== undefined && place >= 0 ? { place, command: item.change } : undefined;
  const { multiple } = item;
  return { itemId: item.id, heading, choices, multiple, allowText, isOptional: false, change, ...placeholder };
}

function fieldStep(
  item: Item,
  schema: AnswerField,
  { heading, isOptional }: Pick<AnswerStep, "heading" | "isOptional">,
): AnswerStep {
  const words = schema.enum ?? (schema.type === "boolean" ? ["true", "false"] : []);
  const labels: Readonly<Record<string, string>> = schema.type === "boolean" ? { true: "Yes", false: "No" } : {};
  const choices = words.map((says) => ({ label: labels[says] ?? says, isRecommended: false, value: says, says }));
  const allowText = choices.length === 0 || isOptional;
  return { itemId: item.id, heading, choices, multiple: false, allowText, isOptional, schema };
}

/** A word that matches only this option: the letter of one may be the label of another. */
function nameOf(item: Item, option: Option, index: number) {
  const only = { items: [{ ...item, multiple: false, allowText: false }] };
  const names = [option.value, option.label, option.key, String(index + 1)];
  const isRight = (name: string) => {
    try {
      const input = { ...plainAnswerInput(name), items: { [item.id]: { values: [name] } } };
      const matched = matchAnswer(only, input, DEFAULT_LIMITS);
      return matched[item.id]?.values[0] === option.value;
    } catch (error) {
      if (error instanceof Refusal) return false;
      throw error;
    }
  };
  return names.find(isRight) ?? option.value;
}
