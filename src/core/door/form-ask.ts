import { z } from "zod";
import { AnswerField } from "../answer/answer-schema.ts";
import type { QuestionSnapshot } from "../changes.ts";
import { itemText } from "../answer/match.ts";
import { findAnswer } from "../question/question.ts";
import { Refusal } from "../refusal.ts";

/** A form as MCP servers ask for it; keys that mean nothing here are left out. */
const Choice = z.looseObject({ const: z.string(), title: z.string().optional() });
const Field = z.looseObject({
  type: z.enum(["string", "number", "integer", "boolean", "array"]).default("string"),
  title: z.string().optional(),
  description: z.string().optional(),
  enum: z.array(z.string()).optional(),
  enumNames: z.array(z.string()).optional(),
  oneOf: z.array(Choice).optional(),
  items: z.looseObject({ enum: z.array(z.string()).optional(), anyOf: z.array(Choice).optional() }).optional(),
});
type Field = z.infer<typeof Field>;
const Form = z.looseObject({ properties: z.record(z.string(), Field) });

/** Asks for every field of a form, one item each. */
export function formAsk(message: string, schema: unknown): Record<string, unknown> {
  const fields = Object.entries(readSchema(schema));
  const isOne = fields.length === 1;
  return {
    ...(!isOne && message !== "" && { context: message }),
    items: fields.map(([name, field]) => {
      const words = field.description ?? field.title ?? name;
      return {
        id: name,
        header: field.title ?? name,
        text: isOne && message !== "" ? message : words,
        ...choices(field),
      };
    }),
  };
}

/** The values that the person filled in, in the types of the form. */
export function readForm(schema: unknown, { question, content }: QuestionSnapshot): Record<string, unknown> {
  const answer = findAnswer(question);
  const entries = Object.entries(readSchema(schema)).map(([name, field]) => {
    const item = content.items.find(({ id }) => id === name);
    const given = answer?.items[name];
    if (!item || !given) return [name, undefined] as const;
    if (field.type === "array") return [name, given.values] as const;
    const text = given.values[0] ?? given.text ?? itemText(item, given);
    return [name, typed(field, text)] as const;
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function choices(field: Field): Record<string, unknown> {
  if (field.type === "boolean") return { type: "yesno", allow_text: false };
  const listed = field.oneOf ?? field.items?.anyOf;
  const plain = field.enum ?? field.items?.enum;
  const options =
    listed?.map((choice) => ({ value: choice.const, label: choice.title ?? choice.const })) ??
    plain?.map((value, index) => ({ value, label: field.enumNames?.[index] ?? value }));
  if (options) return { options, allow_text: false, multiple: field.type === "array" };
  const { title: _title, description: _description, enum: _enum, ...rest } = field;
  const known = AnswerField.strip().safeParse(rest);
  return known.success ? { schema: known.data } : {};
}

function typed(field: Field, text: string): unknown {
  if (field.type === "boolean") return text === "yes" || text === "true";
  return field.type === "string" ? text : Number(text);
}

function readSchema(schema: unknown): Record<string, Field> {
  const form = Form.safeParse(schema);
  if (form.success && Object.keys(form.data.properties).length > 0) return form.data.properties;
  throw new Refusal("bad_input", "The form has no fields that a person could fill in");
}
