import type { QuestionMessage } from "../../core/channel/message.ts";
import { GREETING } from "./reply-words.ts";

/**
 * The answer in the words of a person, as the rules for replies read it: a greeting before an option is left out, and the
 * line of an option as we wrote it stands for that option.
 */
export function answerText(said: string, { items }: QuestionMessage): string {
  const [first = "", ...rest] = said.split("\n");
  const [item, ...others] = items;
  if (!item || others.length > 0) return said;
  const names = item.options.flatMap(({ key, label, value }) => [key, label, value].map((name) => name.toLowerCase()));
  const isOption = (line: string) => names.includes(plain(line).toLowerCase());
  if (GREETING.test(first)) {
    const below = rest.join("\n").trim();
    const [next = ""] = below.split("\n");
    if (isOption(next) || findCopied(next, item.options)) return answerText(below, { items } as QuestionMessage);
  }
  const copied = findCopied(first, item.options);
  if (copied !== undefined) return [copied, ...rest].join("\n");
  return isOption(first) ? [plain(first), ...rest].join("\n") : said;
}

type Options = QuestionMessage["items"][number]["options"];

/** The key of an option whose line a person copied, such as "A) Redis". */
function findCopied(line: string, options: Options): string | undefined {
  const [, key, words = ""] = /^\W{0,3}([A-Za-z]{1,2})\s?[).:]\s+(.+)$/.exec(line.trim()) ?? [];
  const option = options.find((each) => each.key.toLowerCase() === key?.toLowerCase());
  return option && words.toLowerCase().startsWith(option.label.toLowerCase()) ? option.key : undefined;
}

/** An option without what people put around it: "A.", "(b)", "*A*". */
function plain(line: string) {
  return line.trim().replace(/^[("'*_[\s]+|[)\]"'*_.,!\s]+$/g, "");
}
