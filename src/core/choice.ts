import type { AnswerInput } from "./answer/answer-input.ts";
import type { Content } from "./question/content.ts";
import { Refusal } from "./refusal.ts";

/** Choices as they are typed: `1`, `A,B` or several for one item; `cache=1` and `ttl=A,B` for several items. */
export function readChoices({ items }: Content, choices: readonly string[]): NonNullable<AnswerInput["items"]> {
  const [only, ...others] = items;
  if (only && others.length === 0) {
    return { [only.id]: choices.length > 1 ? { values: [...choices] } : { values: [], text: choices[0] ?? "" } };
  }
  const pairs = choices.map((choice) => /^([^=]+)=(.+)$/s.exec(choice));
  if (pairs.some((pair) => pair === null)) {
    const names = items.map((item) => `${item.id}=…`);
    throw new Refusal("bad_input", "Say which item each choice is for", {
      hint: `Write: ${names.map((name) => `-c ${name}`).join(" ")}`,
      fact: { is: "unnamed_choice", names },
    });
  }
  const chosen = new Map<string, string[]>();
  for (const pair of pairs) chosen.set(pair?.[1] ?? "", [...(chosen.get(pair?.[1] ?? "") ?? []), pair?.[2] ?? ""]);
  return Object.fromEntries(
    [...chosen].map(([name, values]) => [name, values.length > 1 ? { values } : { values: [], text: values[0] ?? "" }]),
  );
}
