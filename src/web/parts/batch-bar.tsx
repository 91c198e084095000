import type { SharedOptions } from "../../core/question/same-question.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { type FormDraft, draftText } from "./form-draft.ts";
import { BatchOutcomes, type BatchOutcome } from "./batch-outcome.tsx";
import { type PageReader, tell } from "./page-reader.ts";

/** Prefixes of a batch answer: an option by its label, a template by its name, or free text. */
export const BATCH_ANSWER = { option: "o:", template: "t:", own: "own" } as const;

/** Answers offered for the selected questions. */
export interface BatchOffer extends SharedOptions {
  /** Number of selected questions. */
  ticked: number;
  /** Names of the templates that fit all of them. */
  templates: readonly string[];
}

interface BatchAnswerView {
  reader: PageReader;
  offer: BatchOffer;
  draft: FormDraft;
}

/** One answer for all: a shared option, a template or free text. */
export function BatchAnswerFields({ view: { reader, offer, draft } }: { view: BatchAnswerView }) {
  const chosen = draftText(draft, "as") || (offer.labels.length === 0 ? BATCH_ANSWER.own : "");
  const hint = hintFor(offer);
  const all = choicesOf(reader, offer);
  // With free text as the only choice there is nothing to choose.
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
          value={draftText(draft, "said")}
        />
      </fieldset>
      {hint === undefined ? null : <p class="quiet">{tell(reader, hint, { n: offer.wordless })}</p>}
    </>
  );
}

function hintFor({ ticked, labels, isPartial, wordless }: BatchOffer) {
  if (ticked < 2 || !isPartial) return undefined;
  if (labels.length > 0) return "batch.partial";
  if (wordless === 0) return "batch.differ";
  return wordless === 1 ? "batch.wordless.one" : "batch.wordless";
}

function choicesOf(reader: PageReader, { labels, templates }: BatchOffer): Array<{ value: string; label: string }> {
  return [
    ...labels.map((label) => ({ value: BATCH_ANSWER.option + label, label: makeVisible(label) })),
    ...templates.map((name) => ({
      value: BATCH_ANSWER.template + name,
      label: tell(reader, "batch.template", { name }),
    })),
    { value: BATCH_ANSWER.own, label: tell(reader, "answer.words") },
  ];
}

export function BatchNote({ reader, draft }: { reader: PageReader; draft: FormDraft }) {
  const note = draftText(draft, "note");
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

interface BatchBarView extends BatchAnswerView {
  /** Number of selected rows; one row stands for all runs that ask the same. */
  rows: number;
  ids: readonly string[];
  done?: string;
  refused?: readonly BatchOutcome[];
}

/** Content of the batch bar while questions are selected. */
export function BatchBarContent({ view }: { view: BatchBarView }) {
  const { reader, offer, draft, rows, ids, done, refused = [] } = view;
  return (
    <div id="batch-content" data-ids={ids.join(" ")}>
      {done === undefined ? null : <p class="banner ok">{done}</p>}
      <BatchOutcomes plan={refused} />
      <div class="rowed">
        <b id="selected" data-n={rows}>
          {tell(reader, "batch.selected", { n: rows })}
          {ids.length > rows ? `, ${tell(reader, "row.runs", { n: ids.length })}` : ""}
        </b>
        <button type="button" class="link" data-select="all">
          {tell(reader, "batch.selectAll")}
        </button>
        <button type="button" class="link" data-select="none">
          {tell(reader, "batch.clear")}
        </button>
      </div>
      <BatchAnswerFields view={{ reader, offer, draft }} />
      <div class="rowed">
        <button class="p" type="submit" formaction="/batch" data-n={ids.length}>
          <span class="label">{tell(reader, "batch.send", { n: ids.length })}</span>
          <kbd>{`${tell(reader, "key.ctrl")} ↵`}</kbd>
        </button>
        <button type="submit" formaction="/batch/check" data-plain>
          {tell(reader, "batch.check")}
        </button>
        <BatchNote reader={reader} draft={draft} />
      </div>
    </div>
  );
}

/** The batch bar: hidden until a question is selected. The check boxes of the list belong to this form. */
export function BatchBar({ reader }: { reader: PageReader }) {
  return (
    <form id="batch" class="batch" method="post" action="/batch" aria-label={tell(reader, "batch.title")} hidden>
      <input type="hidden" name="csrf" value={reader.csrf} />
      <div id="batch-content"></div>
    </form>
  );
}
