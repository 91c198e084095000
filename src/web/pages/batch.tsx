import type { QuestionSnapshot } from "../../core/changes.ts";
import { epochMs } from "../../core/instant.ts";
import type { SameQuestions } from "../../core/question/same-question.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { type FormDraft, draftText } from "../parts/form-draft.ts";
import { runName } from "./inbox.tsx";
import { BatchOutcomes, type BatchOutcome } from "../parts/batch-outcome.tsx";
import { type PageReader, tell, tellKey } from "../parts/page-reader.ts";
import { TimeLeft } from "../parts/time.tsx";
import { BatchAnswerFields, type BatchOffer, BatchNote } from "../parts/batch-bar.tsx";

/** Form fields that every step passes on to the next. */
const CARRIED = ["q", "as", "said", "note"] as const;

export interface BatchView {
  reader: PageReader;
  groups: readonly SameQuestions[];
  offer: BatchOffer;
  draft: FormDraft;
  problem?: string;
  /** The result of the last action. */
  done?: string;
  refused?: readonly BatchOutcome[];
}

/** Selects the questions that get the same answer. */
export function BatchForm({ view }: { view: BatchView }) {
  const { reader, groups, offer, draft, problem, done, refused = [] } = view;
  return (
    <main id="main" class="page">
      <h1>{tell(reader, "batch.title")}</h1>
      {done === undefined ? null : (
        <p class="banner ok" role="status">
          {done}
        </p>
      )}
      <BatchOutcomes plan={refused} />
      <p>{tell(reader, groups.length === 0 ? "batch.none" : "batch.about")}</p>
      <p class="quiet">{tell(reader, "batch.risky")}</p>
      {problem === undefined ? null : (
        <p class="banner bad" role="alert">
          {makeVisible(problem)}
        </p>
      )}
      {groups.length === 0 ? null : (
        <form data-plain method="post" action="/batch/check">
          <input type="hidden" name="csrf" value={reader.csrf} />
          <Boxes reader={reader} groups={groups} draft={draft} />
          <BatchAnswerFields view={{ reader, offer, draft }} />
          <BatchNote reader={reader} draft={draft} />
          <button class="p" type="submit">
            {tell(reader, "batch.check")}
          </button>
        </form>
      )}
    </main>
  );
}

function Boxes({ reader, groups, draft }: Pick<BatchView, "reader" | "groups" | "draft">) {
  const ticked = new Set((draft.get("q") ?? []).flatMap((value) => value.split(" ")));
  return groups.map((group) => {
    const ids = group.map(({ question }) => question.id);
    const [first] = group;
    return (
      <div class="opt">
        <label>
          <input type="checkbox" name="q" value={ids.join(" ")} checked={ids.some((id) => ticked.has(id))} />
          <span class="l">{makeVisible(first.question.title)}</span>
          <span class="c">{sayOptions(first)}</span>
          <span class="c">{sayRuns(reader, group)}</span>
        </label>
      </div>
    );
  });
}

interface PlanView {
  reader: PageReader;
  plan: readonly BatchOutcome[];
  draft: FormDraft;
}

/** Shows what a batch would do, before it is sent. */
export function BatchPlan({ view: { reader, plan, draft } }: { view: PlanView }) {
  const { good, bad } = split(plan);
  return (
    <main id="main" class="page">
      <h1>{tell(reader, good.length > 0 ? "batch.confirm" : "batch.refused")}</h1>
      <BatchOutcomes plan={good} />
      {bad.length > 0 && good.length > 0 ? <h2>{tell(reader, "batch.refused")}</h2> : null}
      <BatchOutcomes plan={bad} />
      <form data-plain method="post" action="/batch">
        <input type="hidden" name="csrf" value={reader.csrf} />
        <Carried draft={draft} />
        <div class="act">
          {good.length > 0 ? (
            <button class="p" type="submit">
              {sendWords(reader, good)}
            </button>
          ) : null}
          <button type="submit" formaction="/batch/edit">
            {tell(reader, "batch.back")}
          </button>
        </div>
      </form>
    </main>
  );
}

/** Repeats the answer on the button, if it is the same for all. */
function sendWords(reader: PageReader, good: readonly BatchOutcome[]) {
  const [answer, other] = new Set(good.map(({ words }) => words));
  if (answer === undefined || other !== undefined) return tell(reader, "batch.send", { n: good.length });
  return tell(reader, "batch.sendWith", { n: good.length, answer: makeVisible(answer) });
}

/** The outcome of a batch as a page. */
export function BatchDone({ view }: { view: PlanView }) {
  const { reader, plan } = view;
  return (
    <main id="main" class="page">
      <h1>{sayDone(reader, plan)}</h1>
      <form data-plain method="post" action="/batch/undo">
        <input type="hidden" name="csrf" value={reader.csrf} />
        <DoneLines view={view} />
      </form>
      <p class="apart">
        <a href="/">{tell(reader, "batch.inbox")}</a>
      </p>
    </main>
  );
}

/** The outcome of a batch for the batch bar. */
export function BatchDonePart({ view }: { view: PlanView }) {
  const { reader, plan } = view;
  return (
    <div id="batch-content" data-done>
      <div class="rowed">
        <h2 tabindex={-1}>{sayDone(reader, plan)}</h2>
        <button type="button" data-select="close">
          {tell(reader, "close")}
        </button>
      </div>
      <DoneLines view={view} />
    </div>
  );
}

/** Says how many were answered and how many were not. */
export function sayDone(reader: PageReader, plan: readonly BatchOutcome[]): string {
  const { good, bad } = split(plan);
  return tell(reader, bad.length === 0 ? "batch.allDone" : "batch.done", { n: good.length, failed: bad.length });
}

function DoneLines({ view: { reader, plan, draft } }: { view: PlanView }) {
  const { good, bad } = split(plan);
  const until = good.flatMap((each) => each.until ?? []).sort()[0];
  const said = [draftText(draft, "said"), draftText(draft, "note")].filter((text) => text.trim() !== "");
  return (
    <>
      {until === undefined ? null : (
        <p class="banner ok undo-all" data-ends={epochMs(until)}>
          <TimeLeft reader={reader} until={until} as="run.settling" />{" "}
          <button type="submit" formaction="/batch/undo">
            {tell(reader, "batch.undo")}
            <kbd>{tellKey(reader, "u")}</kbd>
          </button>
        </p>
      )}
      <BatchOutcomes plan={good} />
      {bad.length > 0 ? <h2>{tell(reader, "batch.not")}</h2> : null}
      <BatchOutcomes plan={bad} />
      {bad.length > 0 && said.length > 0 ? (
        <p>
          {tell(reader, "batch.text")}: {makeVisible(said.join(" "))}
        </p>
      ) : null}
      <Carried draft={new Map([...draft, ["q", good.map(({ read }) => read.question.id)]])} />
    </>
  );
}

function Carried({ draft }: { draft: FormDraft }) {
  return CARRIED.flatMap((name) =>
    (draft.get(name) ?? []).map((value) => <input type="hidden" name={name} value={value} />),
  );
}

function split(plan: readonly BatchOutcome[]): { good: BatchOutcome[]; bad: BatchOutcome[] } {
  return {
    good: plan.filter(({ problem }) => problem === undefined),
    bad: plan.filter(({ problem }) => problem !== undefined),
  };
}

function sayOptions({ content }: QuestionSnapshot) {
  const options = content.items.flatMap((item) => item.options.map(({ label }, index) => `${index + 1} ${label}`));
  return makeVisible(options.join(", "));
}

function sayRuns(reader: PageReader, reads: readonly QuestionSnapshot[]) {
  const names = reads.map(({ run }) => runName(run)).join(", ");
  return reads.length === 1 ? names : tell(reader, "batch.runs", { n: reads.length, names });
}
