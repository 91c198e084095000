import type { Read } from "../core/changes.ts";
import { makeVisible } from "../core/visible.ts";
import { type Draft, draftedText } from "./draft.ts";
import { runName } from "./inbox.tsx";
import { type Reader, tell } from "./reader.ts";

/** Questions that ask the same, of several runs. */
export type Same = readonly [Read, ...Read[]];

export interface BatchView {
  reader: Reader;
  groups: readonly Same[];
  templates: readonly string[];
  draft: Draft;
  problem?: string;
}

/** Where somebody ticks what gets the same answer. */
export function BatchForm({ view: { reader, groups, templates, draft, problem } }: { view: BatchView }) {
  const ticked = new Set(draft.get("q") ?? []);
  return (
    <main id="main" class="page">
      <h1>{tell(reader, "batch.title")}</h1>
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
          {groups.map(([first, ...rest]) => {
            const ids = [first, ...rest].map(({ question }) => question.id).join(" ");
            return (
              <div class="opt">
                <label>
                  <input type="checkbox" name="q" value={ids} checked={ticked.has(ids)} />
                  <span class="l">{makeVisible(first.question.title)}</span>
                  <span class="c">{sayOptions(first)}</span>
                  <span class="c">{sayRuns(reader, [first, ...rest])}</span>
                </label>
              </div>
            );
          })}
          <label class="t" for="same">
            {tell(reader, "batch.answer")}
          </label>
          <input id="same" name="said" type="text" autocomplete="off" value={draftedText(draft, "said")} />
          {templates.length === 0 ? null : <Templates reader={reader} templates={templates} draft={draft} />}
          <label class="t" for="note">
            {tell(reader, "batch.note")} <span class="quiet">{tell(reader, "optional")}</span>
          </label>
          <textarea id="note" name="note" rows={2}>
            {draftedText(draft, "note")}
          </textarea>
          <button class="p" type="submit">
            {tell(reader, "batch.check")}
          </button>
        </form>
      )}
    </main>
  );
}

function Templates({ reader, templates, draft }: Pick<BatchView, "reader" | "templates" | "draft">) {
  return (
    <>
      <label class="t" for="template">
        {tell(reader, "batch.template")}
      </label>
      <select id="template" name="template">
        <option value=""></option>
        {templates.map((name) => (
          <option value={name} selected={draftedText(draft, "template") === name}>
            {name}
          </option>
        ))}
      </select>
    </>
  );
}

/** What becomes of one question: the words of its answer, or why it gets none. */
export interface Planned {
  read: Read;
  words?: string;
  problem?: string;
}

/** What will happen, before it does; and afterwards what did. */
export function BatchPlan(given: { reader: Reader; plan: readonly Planned[]; draft: Draft; isDone: boolean }) {
  const { reader, plan, draft, isDone } = given;
  const good = plan.filter(({ problem }) => problem === undefined);
  const bad = plan.filter(({ problem }) => problem !== undefined);
  const title = isDone
    ? tell(reader, "batch.done", { n: good.length, failed: bad.length })
    : tell(reader, good.length > 0 ? "batch.confirm" : "batch.refused");
  return (
    <main id="main" class="page">
      <h1>{title}</h1>
      <Lines reader={reader} plan={good} />
      {bad.length > 0 ? <h2>{tell(reader, isDone ? "batch.not" : "batch.refused")}</h2> : null}
      <Lines reader={reader} plan={bad} />
      {isDone && bad.length > 0 ? (
        <p>
          {tell(reader, "batch.text")}: {makeVisible(draftedText(draft, "said"))}{" "}
          {makeVisible(draftedText(draft, "note"))}
        </p>
      ) : null}
      {isDone ? null : (
        <form data-plain method="post" action="/batch">
          <input type="hidden" name="csrf" value={reader.csrf} />
          {["q", "said", "template", "note"].flatMap((name) =>
            (draft.get(name) ?? []).map((value) => <input type="hidden" name={name} value={value} />),
          )}
          <div class="act">
            {good.length > 0 ? (
              <button class="p" type="submit">
                {tell(reader, "batch.send", { n: good.length })}
              </button>
            ) : null}
            <button type="submit" formaction="/batch/edit">
              {tell(reader, "batch.back")}
            </button>
          </div>
        </form>
      )}
    </main>
  );
}

function Lines({ plan }: { reader: Reader; plan: readonly Planned[] }) {
  return (
    <ul class="rows planned">
      {plan.map(({ read, words, problem }) => (
        <li>
          <div>
            <p>
              <a href={`/q/${read.question.id}`}>{makeVisible(read.question.title)}</a>
            </p>
            <p class="quiet">{runName(read.run)}</p>
          </div>
          <p class={problem === undefined ? "said" : "quiet"}>{makeVisible(words ?? problem ?? "")}</p>
        </li>
      ))}
    </ul>
  );
}

function sayOptions({ content }: Read): string {
  const options = content.items.flatMap((item) => item.options.map(({ key, label }) => `${key} ${label}`));
  return makeVisible(options.join(", "));
}

function sayRuns(reader: Reader, reads: readonly Read[]): string {
  const names = reads.map(({ run }) => runName(run)).join(", ");
  return reads.length === 1 ? names : tell(reader, "batch.runs", { n: reads.length, names });
}
