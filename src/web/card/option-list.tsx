import type { Content, Item } from "../../core/question/content.ts";
import type { Answer } from "../../core/question/question.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { aboutWords, labelWords } from "../words/answer-words.ts";
import { type PageReader, tell } from "../parts/page-reader.ts";

/** Read-only list of the options, with the chosen ones marked. */
export function OptionList({
  reader,
  content,
  answer,
}: {
  reader: PageReader;
  content: Content;
  answer?: Answer | undefined;
}) {
  const items = content.items.filter(({ options }) => options.length > 0);
  return (
    <>
      {items.map((item) => (
        <section class="options">
          <h2>{content.items.length > 1 ? makeVisible(item.text) : tell(reader, "answer.options")}</h2>
          <ul>
            {item.options.map((option) => (
              <li class={isChosen(item, option.value, answer) ? "chosen" : ""}>
                <b>{labelWords(reader, item, option)}</b>
                {isChosen(item, option.value, answer) ? <span class="rec">{tell(reader, "answer.chosen")}</span> : null}
                <About words={aboutWords(reader, item, option)} />
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

function About({ words }: { words: string | undefined }) {
  return words === undefined ? null : <p class="quiet">{words}</p>;
}

function isChosen(item: Item, value: string, answer: Answer | undefined) {
  return answer?.items[item.id]?.values.includes(value) ?? false;
}
