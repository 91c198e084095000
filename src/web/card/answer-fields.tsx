import { recommendedOption } from "../../core/question/content.ts";
import { confirmationWord } from "../../core/question/risk.ts";
import { makeVisible } from "../../core/text/visible.ts";
import type { CardView } from "./card-view.ts";
import { draftText } from "../parts/form-draft.ts";
import { ItemFields } from "./item-field.tsx";
import { tell } from "../parts/page-reader.ts";

type FieldsView = Pick<CardView, "reader" | "read" | "draft" | "problem" | "wrong">;

/** Fields of an answer, signed in or by link: the items, the confirmation word at high risk, a note. */
export function AnswerFields({ view }: { view: FieldsView }) {
  const { reader, read, draft, problem, wrong } = view;
  const { question, content } = read;
  const isRisky = question.risk === "high";
  return (
    <>
      {problem ? (
        <p class="banner bad" role="alert" id="problem">
          {makeVisible(problem)}
        </p>
      ) : null}
      {content.items.map((item, index) => (
        <ItemFields view={{ reader, item, index, isOnly: content.items.length === 1, draft, isRisky, wrong }} />
      ))}
      {isRisky ? <TypedWord view={view} id="word" /> : null}
      <label class="t" for="note">
        {tell(reader, "note")} <span class="quiet">{tell(reader, "optional")}</span>
      </label>
      <textarea id="note" name="note" rows={2}>
        {draftText(draft, "note")}
      </textarea>
    </>
  );
}

/** The field for the word that confirms a high-risk answer. */
export function TypedWord({ view, id }: { view: FieldsView; id: string }) {
  const { reader, read, draft } = view;
  const word = confirmationWord(read.question.title, read.run.name);
  const lean = read.content.items.length === 1 && read.content.items[0] && recommendedOption(read.content.items[0]);
  return (
    <div class="risk">
      {lean ? <p class="quiet">{tell(reader, "chip.lean", { label: makeVisible(lean.label) })}</p> : null}
      <label class="t" for={id}>
        {tell(reader, "risk.type")} <code>{makeVisible(word)}</code>
      </label>
      <input
        id={id}
        name="word"
        type="text"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        value={draftText(draft, "word")}
        data-word={word}
      />
    </div>
  );
}
