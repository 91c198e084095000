import { z } from "zod";
import type { AnswerInput } from "../../core/answer/answer-input.ts";
import { type QuestionMessage, cutText } from "../../core/channel/message.ts";
import { tellIn } from "../../core/channel/message-words.ts";
import type { Item } from "../../core/question/content.ts";
import { plain, mrkdwn } from "./blocks.ts";
import { countEscaped, escapeText, harmless } from "./mrkdwn.ts";

const TITLE_CHARS = 24;
const LABEL_CHARS = 2_000;
const INPUT_CHARS = 3_000;
const TEXT_CHARS = 2_900;
/** Options that are shown one below the other; more are a list. */
const MOST_SHOWN = 10;

/** Sent back with a form: the message that it belongs to, and the ids of its items. */
const FormMemory = z.object({ outside: z.string(), items: z.array(z.string()) });
export type FormMemory = z.infer<typeof FormMemory>;

const Chosen = z.looseObject({ value: z.string() });
const FieldState = z.looseObject({
  value: z.string().nullish(),
  selected_option: Chosen.nullish(),
  selected_options: z.array(Chosen).nullish(),
});
export const FormState = z.looseObject({ values: z.record(z.string(), z.record(z.string(), FieldState)) });
type FormState = z.infer<typeof FormState>;

/** The form of a question: a field for each item, or one for words that ask the agent back. */
export function buildForm(message: QuestionMessage, outside: string, kind: "answer" | "clarify") {
  const { language, items } = message;
  const memory: FormMemory = { outside, items: kind === "answer" ? items.map(({ id }) => id) : [] };
  const fields =
    kind === "answer"
      ? items.flatMap((item, index) => itemFields(item, index, message))
      : [section(message.title), textField("clarify", tellIn(language, "chat.clarify"), { isOptional: false })];
  return {
    type: "modal",
    callback_id: kind,
    private_metadata: JSON.stringify(memory),
    title: plain(tellIn(language, kind === "answer" ? "chat.form" : "chat.clarify"), TITLE_CHARS),
    submit: plain(tellIn(language, "chat.send"), TITLE_CHARS),
    close: plain(tellIn(language, "chat.cancel"), TITLE_CHARS),
    blocks: fields,
  };
}

function itemFields(item: Item, index: number, { language, items }: QuestionMessage) {
  const label = items.length === 1 ? tellIn(language, "chat.form") : (item.header ?? item.id);
  if (item.options.length === 0) return [section(item.text), textField(`text:${index}`, label, { isOptional: false })];
  const isOptional = item.allowText;
  return [
    section(item.text),
    { type: "input", block_id: `choice:${index}`, optional: isOptional, label: plain(label), element: choices(item) },
    ...(item.allowText ? [textField(`text:${index}`, tellIn(language, "chat.own"), { isOptional: true })] : []),
  ];
}

function choices({ options, multiple }: Item) {
  const isShown = options.length <= MOST_SHOWN;
  const type = multiple
    ? isShown
      ? "checkboxes"
      : "multi_static_select"
    : isShown
      ? "radio_buttons"
      : "static_select";
  return {
    type,
    action_id: "field",
    options: options.slice(0, 100).map(({ key, label, description }) => ({
      text: plain(`${key.toUpperCase()}) ${label}`),
      value: key,
      ...(description === undefined ? {} : { description: plain(description) }),
    })),
  };
}

function textField(id: string, label: string, { isOptional }: { isOptional: boolean }) {
  const element = { type: "plain_text_input", action_id: "field", multiline: true, max_length: INPUT_CHARS };
  return { type: "input", block_id: id, optional: isOptional, label: plain(label, LABEL_CHARS), element };
}

function section(text: string) {
  return { type: "section", text: mrkdwn(escapeText(cutText(harmless(text), TEXT_CHARS, countEscaped).text)) };
}

/** Reads what a form brings: answers by item, or the words that ask back. */
export function readForm(
  metadata: string,
  { values }: FormState,
): { outside: string; items?: NonNullable<AnswerInput["items"]>; text: string } {
  const { outside, items: ids } = FormMemory.parse(JSON.parse(metadata));
  const field = (id: string) => values[id]?.["field"];
  const asked = field("clarify")?.value;
  if (ids.length === 0) return { outside, text: `/ask ${asked ?? ""}` };
  const items = ids.map((id, index) => {
    const chosen = field(`choice:${index}`);
    const options = chosen?.selected_options ?? (chosen?.selected_option ? [chosen.selected_option] : []);
    const text = field(`text:${index}`)?.value?.trim();
    return [id, { values: options.map(({ value }) => value), ...(text ? { text } : {}) }] as const;
  });
  return { outside, items: Object.fromEntries(items), text: "" };
}
