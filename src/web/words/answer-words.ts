import type { Content, Item, Option } from "../../core/question/content.ts";
import { answerText } from "../../core/answer/match.ts";
import type { Answer } from "../../core/question/question.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { type PageReader, tell } from "../parts/page-reader.ts";

type Words = Pick<PageReader, "language">;

/** The label of an option; Allow and Deny, which askd writes itself, in the reader's language. */
export function labelWords(reader: Words, item: Item, option: Option): string {
  const own = ownValue(item, option);
  if (!own) return makeVisible(option.label);
  return tell(reader, `approval.${own}`, { prefix: PREFIX.exec(option.label)?.[1] ?? "" });
}

/** The description of an option, if there is one. */
export function aboutWords(reader: Words, item: Item, option: Option): string | undefined {
  if (option.description !== undefined) return makeVisible(option.description);
  const own = ownValue(item, option);
  return own && tell(reader, `approval.about.${own}`);
}

/** The chosen options or the written text, in one line. */
export function chosenWords(reader: Words, content: Content, items: Answer["items"]): string {
  const [only, second] = content.items;
  const said = only && !second ? items[only.id] : undefined;
  const values = said?.text === undefined ? (said?.values ?? []) : [];
  const option = only?.options.find(({ value }) => values.length === 1 && value === values[0]);
  return only && option ? labelWords(reader, only, option) : makeVisible(answerText(content, items));
}

/** An answer in one line. */
export function answerWords(reader: Words, content: Content, answer: Answer): string {
  if (answer.outcome === "decide") return tell(reader, "decide");
  if (answer.outcome === "clarify") return `${tell(reader, "back")}: ${makeVisible(answer.note ?? "")}`;
  return chosenWords(reader, content, answer.items);
}

const OWN = ["allow", "deny", "allow-run", "allow-prefix", "allow-changed"] as const;
/** The prefix in the label of its option. It consists of plain words. */
const PREFIX = /"(.*)"/;

/** The value of an option if askd itself wrote the approval. Agents get the value; only the label is translated. */
function ownValue({ options }: Item, { value }: Option) {
  const [allow, deny] = options.map((option) => `${option.value}:${option.label}`);
  return allow === "allow:Allow" && deny === "deny:Deny" ? OWN.find((own) => own === value) : undefined;
}
