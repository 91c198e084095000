import type { Shared } from "../../core/question/same-question.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { type Draft, draftedText } from "./form-draft.ts";
import { Lines, type Planned } from "./batch-outcome.tsx";
import { type Reader, tell } from "./reader.ts";

/** How a choice for all begins: an option by its label, a canned answer by its name, or words of one's own. */
export const AS = { option: "o:", template: "t:", own: "own" } as const;

/** What the ticked questions can be answered with. */
export interface Offer extends Shared {
  /** How many are ticked. */
  ticked: number;
  /** Names of canned answers that fit all of them. */
  templates: readonly string[];
}

interface ChoiceView {
  reader: Reader;
  offer: Offer;
  draft: Draft;
}

/** One answer for all: an option that all of them have, a canned answer, or words. */
export function AnswerForAll({ view: { reader, offer, draft } }: { view: ChoiceView }) {
  const chosen = draftedText(draft, "as") || (offer.labels.length === 0 ? AS.own : "");
  const hint = hintFor(offer);
  const all = choicesOf(reader, offer);
  // Where there is nothing but words, there is nothing to choose.
  const choices = all.length > 1 ? all : [];
  return (
    <>
      <fieldset class="pills">
        <legend>{tell(reader, "batch.answer")}</legend>
        {choices.map(({ value, label }, index) => (
          <label class="pill">
            <input type="radio" name="as" value={value} checked={value === chosen} data-label={label} />
            {index < 9 ? <kbd>{index + 1}</kbd> : null} {label}
          </label>
        ))}
        <input
          name="said"
          type="text"
          autocomplete="off"
          aria-label={tell(reader, "answer.words")}
          placeholder={tell(reader, "batch.words")}
          value={draftedText(draft, "said")}
        />
      </fieldset>
      {hint === undefined ? null : <p class="quiet">{tell(reader, hint, { n: offer.wordless })}</p>}
    </>
  );
}

function hintFor({ ticked, labels, isPartial, wordless }: Offer) {
  if (ticked < 2 || !isPartial) return undefined;
  if (labels.length > 0) return "batch.partial";
  if (wordless === 0) return "batch.differ";
  return wordless === 1 ? "batch.wordless.one" : "batch.wordless";
}

function choicesOf(reader: Reader, { labels, templates }: Offer): Array<{ value: string; label: string }> {
  return [
    ...labels.map((label) => ({ value: AS.option + label, label: makeVisible(label) })),
    ...templates.map((name) => ({ value: AS.template + name, label: tell(reader, "batch.template", { name }) })),
    { value: AS.own, label: tell(reader, "answer.words") },
  ];
}

export function NoteForAll({ reader, draft }: { reader: Reader; draft: Draft }) {
  const note = draftedText(draft, "note");
  return (
    <details class="fold" open={note !== ""}>
      <summary>
        {tell(reader, "batch.note")} <span class="quiet">{tell(reader, "optional")}</span>
      </summary>
      <textarea name="note" rows={2} aria-label={tell(reader, "batch.note")}>
        {note}
      </textarea>
    </details>
  );
}

interface TogetherView extends ChoiceView {
  /** How many rows are ticked; one stands for all runs that ask the same. */
  rows: number;
  ids: readonly string[];
  done?: string;
  refused?: readonly Planned[];
}

/** What the bar of the inbox holds while questions are ticked. */
export function Together({ view }: { view: TogetherView }) {
  const { reader, offer, draft, rows, ids, done, refused = [] } = view;
  return (
    <div id="together" data-ids={ids.join(" ")}>
      {done === undefined ? null : <p class="banner ok">{done}</p>}
      <Lines plan={refused} />
      <div class="rowed">
        <b id="picked" data-n={rows}>
          {tell(reader, "pick.n", { n: rows })}
          {ids.length > rows ? `, ${tell(reader, "row.runs", { n: ids.length })}` : ""}
        </b>
        <button type="button" class="link" data-pick="all">
          {tell(reader, "pick.all")}
        </button>
        <button type="button" class="link" data-pick="none">
          {tell(reader, "pick.none")}
        </button>
      </div>
      <AnswerForAll view={{ reader, offer, draft }} />
      <div class="rowed">
        <button class="p" type="submit" formaction="/batch" data-n={ids.length}>
          <span class="label">{tell(reader, "batch.send", { n: ids.length })}</span>
          <kbd>Ctrl ↵</kbd>
        </button>
        <button type="submit" formaction="/batch/check" data-plain>
          {tell(reader, "batch.check")}
        </button>
        <NoteForAll reader={reader} draft={draft} />
      </div>
    </div>
  );
}

/** The bar itself: empty until something is ticked, and where the boxes of the list belong. */
export function BatchBar({ reader }: { reader: Reader }) {
  return (
    <form id="batch" class="batch" method="post" action="/batch" aria-label={tell(reader, "batch.title")} hidden>
      <input type="hidden" name="csrf" value={reader.csrf} />
      <div id="together"></div>
    </form>
  );
}
