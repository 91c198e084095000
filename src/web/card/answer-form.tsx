import { makeVisible } from "../../core/text/visible.ts";
import type { CardView } from "./card-view.ts";
import { AnswerFields } from "./answer-fields.tsx";
import { AskBack, MoreActions, Snooze } from "./question-menu.tsx";
import { runName } from "../pages/inbox.tsx";
import { tell, tellKey } from "../parts/page-reader.ts";

/** The form that answers a question. Every other action is a button of the same form, so it works without a script. */
export function AnswerForm({ view, isForced }: { view: CardView; isForced: boolean }) {
  const { reader } = view;
  const { question } = view.read;
  return (
    <form id="answer" method="post" action={`/q/${question.id}/answer`} data-question={question.id}>
      <input type="hidden" name="csrf" value={reader.csrf} />
      {isForced ? <input type="hidden" name="force" value="1" /> : null}
      <AnswerFields view={view} />
      {isForced || view.same.length === 0 ? null : <SameQuestionsBox view={view} />}
      <div class="act">
        <Primary view={view} isForced={isForced} />
        {isForced ? null : <Escapes view={view} />}
      </div>
      <p id="missing" class="missing" role="alert"></p>
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

const NAMED = 3;

/** Offers the same answer for other runs that ask the same. Off by default: the same words may mean something else. */
function SameQuestionsBox({ view: { reader, same, draft } }: { view: CardView }) {
  const first = same.slice(0, NAMED).map(({ run }) => runName(run));
  const more = same.length - first.length;
  const rest = more === 1 ? "batch.same.more.one" : "batch.same.more";
  const names = first.join(", ") + (more > 0 ? ` ${tell(reader, rest, { n: more })}` : "");
  return (
    <label class="choice same">
      <input
        type="checkbox"
        name="batch"
        value={same.map(({ question }) => question.id).join(" ")}
        checked={draft.has("batch")}
      />{" "}
      {tell(reader, same.length === 1 ? "batch.same.one" : "batch.same", { n: same.length, names })}
    </label>
  );
}

/** The button that answers. It repeats the choice, so nobody sends another one by mistake. */
function Primary({ view, isForced }: { view: CardView; isForced: boolean }) {
  const { reader, read } = view;
  const { run, question } = read;
  const isResumed = !(run.implicit && run.giveBack === "poll") || isForced;
  return (
    <button class="p" type="submit" name="do" value="answer" data-resumes={isResumed ? "yes" : "no"}>
      <span class="label">{tell(reader, isResumed ? "answer.plainResume" : "answer.plain")}</span>
      {question.risk === "high" ? null : <kbd>{`${tell(reader, "key.ctrl")} ↵`}</kbd>}
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
      <MoreActions view={view} />
    </>
  );
}
