import type { Content, Item, Option } from "../../core/question/content.ts";
import { answerText } from "../../core/answer/match.ts";
import type { Answer } from "../../core/question/question.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { type Reader, tell } from "../parts/reader.ts";

type Words = Pick<Reader, "language">;

/** What a choice is called, in the reader's words where askd itself wrote it: whether a tool may be used. */
export function labelWords(reader: Words, item: Item, option: Option): string {
  const own = ownValue(item, option);
  return own ? tell(reader, `approval.${own}`) : makeVisible(option.label);
}

/** What follows from a choice, if anybody said so. */
export function aboutWords(reader: Words, item: Item, option: Option): string | undefined {
  if (option.description !== undefined) return makeVisible(option.description);
  const own = ownValue(item, option);
  return own && tell(reader, `approval.about.${own}`);
}

/** What was chosen or written, in one line. */
export function chosenWords(reader: Words, content: Content, items: Answer["items"]): string {
  const [only, second] = content.items;
  const said = only && !second ? items[only.id] : undefined;
  const values = said?.text === undefined ? (said?.values ?? []) : [];
  const option = only?.options.find(({ value }) => values.length === 1 && value === values[0]);
  return only && option ? labelWords(reader, only, option) : makeVisible(answerText(content, items));
}

/** Which option it is of an approval that askd asks for: the agent gets its value, and nobody but people its words. */
function ownValue({ options }: Item, { value }: Option): "allow" | "deny" | undefined {
  if (options.map((option) => `${option.value}:${option.label}`).join() !== "allow:Allow,deny:Deny") return undefined;
  return value === "allow" ? "allow" : "deny";
}
