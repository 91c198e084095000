import { recommendedOption } from "../core/content.ts";
import { wordToType } from "../core/risk-word.ts";
import { makeVisible } from "../core/visible.ts";
import type { CardView } from "./card-view.ts";
import { AskBack, More, Snooze } from "./actions.tsx";
import { draftedText } from "./draft.ts";
import { ItemFields } from "./item-field.tsx";
import { tell, tellKey } from "./reader.ts";

/** The form that answers a question; every way out of it is a button of the same form. */
export function AnswerForm({ view, isForced }: { view: CardView; isForced: boolean }) {
  const { reader, read, draft, problem } = view;
  const { question, content, run } = read;
  const isRisky = question.risk === "high";
  return (
    <form id="answer" method="post" action={`/q/${question.id}/answer`} data-question={question.id}>
      <input type="hidden" name="csrf" value={reader.csrf} />
      {isForced ? <input type="hidden" name="force" value="1" /> : null}
      {problem ? (
        <p class="banner bad" role="alert" id="problem">
          {problem}
        </p>
      ) : null}
      {content.items.map((item, index) => (
        <ItemFields view={{ reader, item, index, isOnly: content.items.length === 1, draft, isRisky }} />
      ))}
      {isRisky ? <TypedWord view={view} word={wordToType(question.title, run.name)} /> : null}
      <label class="t" for="note">
        {tell(reader, "note")} <span class="quiet">{tell(reader, "optional")}</span>
      </label>
      <textarea id="note" name="note" rows={2}>
        {draftedText(draft, "note")}
      </textarea>
      <div class="act">
        <Primary view={view} isForced={isForced} />
        {isForced ? null : <Escapes view={view} />}
      </div>
      {view.preview === undefined ? (
        <div id="preview"></div>
      ) : (
        <div id="preview">
          <h2>{tell(reader, "gets.title")}</h2>
          <pre class="gets" tabindex={0}>
            {makeVisible(view.preview)}
          </pre>
        </div>
      )}
    </form>
  );
}

/** The one button that answers; it repeats the choice, so that nobody presses it for another. */
function Primary({ view, isForced }: { view: CardView; isForced: boolean }) {
  const { reader, read } = view;
  const { run, question } = read;
  const isResumed = !(run.implicit && run.giveBack === "poll") || isForced;
  return (
    <button class="p" type="submit" name="do" value="answer" data-resumes={isResumed ? "yes" : "no"}>
      <span class="label">{tell(reader, isResumed ? "answer.plainResume" : "answer.plain")}</span>
      <kbd>{question.risk === "high" ? null : "Ctrl ↵"}</kbd>
    </button>
  );
}

function Escapes({ view }: { view: CardView }) {
  const { reader, read } = view;
  const { question } = read;
  const isApproval = question.kind === "approval";
  return (
    <>
      {question.accepts.includes("clarify") || isApproval ? <AskBack view={view} /> : null}
      {question.accepts.includes("decide") && !isApproval ? (
        <button type="submit" class="sec" name="do" value="decide" formnovalidate data-key="y">
          {tell(reader, "decide")}
          <kbd>{tellKey(reader, "y")}</kbd>
        </button>
      ) : null}
      <Snooze view={view} />
      <More view={view} />
    </>
  );
}

/** Who means it types a word. */
export function TypedWord({ view, word }: { view: Pick<CardView, "reader" | "read" | "draft">; word: string }) {
  const { reader, read, draft } = view;
  const lean = read.content.items.length === 1 && read.content.items[0] && recommendedOption(read.content.items[0]);
  return (
    <div class="risk">
      {lean ? <p class="quiet">{tell(reader, "chip.lean", { label: makeVisible(lean.label) })}</p> : null}
      <label class="t" for="word">
        {tell(reader, "risk.type")} <code>{makeVisible(word)}</code>
      </label>
      <input
        id="word"
        name="word"
        type="text"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        value={draftedText(draft, "word")}
        data-word={word}
      />
    </div>
  );
}
