import { z } from "zod";
import { AnswerSchema } from "../answer/answer-schema.ts";
import type { Item, Option } from "./content.ts";
import { quoteLine } from "../text/foreign-text.ts";
import { makePlain, requirePlain } from "../text/plain-text.ts";
import { Refusal } from "../refusal.ts";
import type { Limits } from "../rules.ts";

/** Loose: `parseAsk` says which fields are not known. */
export const OptionObject = z.looseObject({
  value: z.coerce.string().optional(),
  label: z.string().optional(),
  description: z.string().nullish(),
  preview: z.string().nullish(),
  recommended: z.boolean().optional(),
  isDefault: z.boolean().optional(),
});
const OptionInput = z.union([z.string(), OptionObject]);
type OptionInput = z.infer<typeof OptionInput>;

/** One item in the format of any client: Claude, Codex, Gemini, OpenCode, or ours. */
export const ItemInput = z.object({
  id: z.coerce.string().optional(),
  header: z.string().nullish(),
  text: z.string().optional(),
  question: z.string().optional(),
  options: z.array(OptionInput).nullish(),
  multiple: z.boolean().nullish(),
  multiSelect: z.boolean().nullish(),
  allowText: z.boolean().nullish(),
  custom: z.boolean().nullish(),
  isOther: z.boolean().nullish(),
  isSecret: z.boolean().nullish(),
  secret: z.boolean().nullish(),
  type: z.enum(["text", "yesno", "choice"]).nullish(),
  placeholder: z.string().nullish(),
  schema: AnswerSchema.nullish(),
});
export type ItemInput = z.infer<typeof ItemInput>;

/** Converts one item of a client; without an id it is named by its index. */
export function readItem(input: ItemInput, index: number, limits: Limits): Item {
  const text = (input.text ?? input.question ?? "").trim();
  if (text === "")
    throw new Refusal("bad_input", `Item ${index + 1} has no text; write the question in "text" or "question"`);
  requirePlain(text, limits.questionBytes, "question");
  if (input.secret || input.isSecret) throw secretRefusal();
  const options = readOptions(input, limits);
  return {
    id: input.id ?? String(index + 1),
    header: input.header ? cut(input.header.trim(), limits.headerChars) : undefined,
    text,
    options,
    multiple: (input.multiple ?? input.multiSelect ?? false) && options.length > 0,
    allowText: options.length === 0 || (input.allowText ?? input.custom ?? input.isOther ?? true),
    placeholder: input.placeholder ? cut(input.placeholder, limits.questionBytes) : undefined,
    schema: input.schema ?? undefined,
  };
}

const YES_NO: OptionInput[] = [
  { value: "yes", label: "Yes" },
  { value: "no", label: "No" },
];
const RECOMMENDED = /\s*\(recommended\)\s*$/i;

function readOptions(input: ItemInput, limits: Limits): Option[] {
  const given = input.options ?? [];
  const inputs = given.length === 0 && input.type === "yesno" ? YES_NO : given;
  if (inputs.length > limits.options) {
    throw new Refusal("too_large", `${inputs.length} options were given; at most ${limits.options} are accepted`);
  }
  const options = inputs.map((option, index) => readOption(option, index, limits));
  const first = options.find((option) => option.recommended);
  for (const option of options)
    if (option !== first && !input.multiple && !input.multiSelect) delete option.recommended;
  requireDistinct(options);
  return options;
}

function readOption(input: OptionInput, index: number, limits: Limits): Option {
  const option = typeof input === "string" ? { label: input } : input;
  const said = (option.label ?? option.value ?? "").trim();
  const label = said.replace(RECOMMENDED, "").trim();
  if (label === "") throw new Refusal("bad_input", `Option ${index + 1} has no label; give each option some text`);
  requirePlain(label, limits.questionBytes, "option");
  if (option.value !== undefined) requirePlain(option.value, limits.questionBytes, "option");
  const recommended = option.recommended ?? option.isDefault ?? RECOMMENDED.test(said);
  return {
    key: optionKey(index),
    value: (option.value ?? label).replace(RECOMMENDED, "").trim(),
    label,
    description: option.description ? cut(option.description, limits.contextBytes) : undefined,
    preview: option.preview ? cut(option.preview, limits.contextBytes) : undefined,
    recommended: recommended ? true : undefined,
  };
}

function requireDistinct(options: readonly Option[]) {
  const seen = new Set<string>();
  for (const option of options) {
    if (seen.has(option.value))
      throw new Refusal("bad_input", `Two options have the value ${quoteLine(option.value)}; give each its own`);
    seen.add(option.value);
  }
}

/** A, B, … Z, AA, AB, … */
function optionKey(index: number): string {
  const letter = String.fromCharCode(65 + (index % 26));
  return index < 26 ? letter : optionKey(Math.floor(index / 26) - 1) + letter;
}

/** The refusal of a question that asks for a password, key or token. */
export function secretRefusal(): Refusal {
  return new Refusal(
    "asks_for_secret",
    "The question asks for a password, key or token, and the answer would be stored in the transcript",
    {
      hint: "Ask the person to put it into the environment or a secret store, and ask only whether that is done",
    },
  );
}

function cut(text: string, length: number) {
  const plain = makePlain(text);
  return plain.length <= length ? plain : `${plain.slice(0, length - 1)}…`;
}
