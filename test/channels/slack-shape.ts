import { z } from "zod";

/** The shapes and limits that Slack publishes for blocks and views. */
const text = (most: number, types: readonly string[] = ["plain_text", "mrkdwn"]) =>
  z
    .strictObject({
      type: z.enum(types as [string, ...string[]]),
      text: z.string().min(1).max(most),
      emoji: z.boolean().optional(),
      verbatim: z.boolean().optional(),
    })
    .refine(
      ({ type, emoji, verbatim }) => (type === "mrkdwn" ? emoji : verbatim) === undefined,
      "a field of the other",
    );
const plain = (most: number) => text(most, ["plain_text"]);

const Confirm = z.strictObject({ title: plain(100), text: text(300), confirm: plain(30), deny: plain(30) });
const Option = z.strictObject({ text: text(75), value: z.string().min(1).max(75), description: text(75).optional() });
const PlainOption = Option.extend({ text: plain(75), description: plain(75).optional() });
const acting = { action_id: z.string().min(1).max(255), confirm: Confirm.optional() };

const Button = z.strictObject({
  type: z.literal("button"),
  ...acting,
  text: plain(75),
  value: z.string().max(2_000).optional(),
  url: z.string().max(3_000).optional(),
  style: z.enum(["primary", "danger"]).optional(),
  accessibility_label: z.string().max(75).optional(),
});
const Overflow = z.strictObject({
  type: z.literal("overflow"),
  ...acting,
  options: z.array(PlainOption).min(1).max(5),
});
const Select = z.strictObject({
  type: z.enum(["static_select", "multi_static_select"]),
  ...acting,
  placeholder: plain(150).optional(),
  options: z.array(PlainOption).min(1).max(100),
});
const Boxes = z.strictObject({
  type: z.enum(["radio_buttons", "checkboxes"]),
  ...acting,
  options: z.array(Option).min(1).max(10),
});
const TextInput = z.strictObject({
  type: z.literal("plain_text_input"),
  action_id: acting.action_id,
  multiline: z.boolean().optional(),
  max_length: z.int().min(1).max(3_000).optional(),
});
const Element = z.discriminatedUnion("type", [Button, Overflow, Select, Boxes]);
const block_id = z.string().min(1).max(255).optional();

const Block = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("header"), block_id, text: plain(150) }),
  z.strictObject({ type: z.literal("section"), block_id, text: text(3_000), expand: z.boolean().optional() }),
  z.strictObject({ type: z.literal("context"), block_id, elements: z.array(text(2_000)).min(1).max(10) }),
  z.strictObject({ type: z.literal("actions"), block_id, elements: z.array(Element).min(1).max(25) }),
]);
const Input = z.strictObject({
  type: z.literal("input"),
  block_id,
  optional: z.boolean().optional(),
  label: plain(2_000),
  element: z.discriminatedUnion("type", [TextInput, Select, Boxes]),
});
export type Block = z.infer<typeof Block>;

/** All blocks of a message together: more than this is msg_blocks_too_long. */
const MOST_CHARS = 13_000;

export const Blocks = z
  .array(Block)
  .max(50)
  .refine((blocks) => areDistinct(blocks.flatMap(({ block_id: id }) => id ?? [])), "block_id twice")
  .refine(
    (blocks) =>
      blocks.every((block) => block.type !== "actions" || areDistinct(block.elements.map((each) => each.action_id))),
    "action_id twice",
  )
  .refine((blocks) => textOf(blocks).length <= MOST_CHARS, "msg_blocks_too_long");

export const View = z.strictObject({
  type: z.literal("modal"),
  callback_id: z.string().max(255),
  private_metadata: z.string().max(3_000),
  title: plain(24),
  submit: plain(24),
  close: plain(24),
  blocks: z
    .array(z.union([Block, Input]))
    .min(1)
    .max(100),
});
export type View = z.infer<typeof View>;

function areDistinct(names: readonly string[]) {
  return new Set(names).size === names.length;
}

/** Everything that is written in blocks. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join("");
  if (value === null || typeof value !== "object") return "";
  return Object.entries(value)
    .map(([key, part]) => (key === "text" && typeof part === "string" ? part : textOf(part)))
    .join("");
}
