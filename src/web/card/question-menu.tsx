import type { Child } from "hono/jsx";
import { actorName } from "../../core/people/actor.ts";
import { isPending } from "../../core/question/question.ts";
import type { CardView } from "./card-view.ts";
import { draftText } from "../parts/form-draft.ts";
import { tell, tellKey } from "../parts/page-reader.ts";

/** A button that opens a panel without a script. */
function Menu({ name, label, hint, children }: { name: string; label: string; hint?: string; children: Child }) {
  return (
    <details class={`menu ${name}`}>
      <summary>
        {label}
        {hint === undefined ? null : <kbd>{hint}</kbd>}
      </summary>
      <div class="panel">{children}</div>
    </details>
  );
}

/** Asks the agent a question instead of answering. */
export function AskBack({ view: { reader, draft } }: { view: Pick<CardView, "reader" | "draft"> }) {
  return (
    <Menu name="back" label={tell(reader, "back")} hint={tellKey(reader, "m")}>
      <label class="t" for="back">
        {tell(reader, "back.what")}
      </label>
      <textarea id="back" name="back" rows={2}>
        {draftText(draft, "back")}
      </textarea>
      <button class="send" type="submit" name="do" value="clarify" formnovalidate>
        {tell(reader, "back.send")}
      </button>
    </Menu>
  );
}

/** Hides the question for a while; the deadline does not change. */
export function Snooze({ view: { reader, read } }: { view: CardView }) {
  const action = `/q/${read.question.id}/snooze`;
  return (
    <Menu name="snooze sec" label={tell(reader, "snooze")} hint={tellKey(reader, "h")}>
      <p class="quiet">{tell(reader, "snooze.about")}</p>
      <div class="rowed">
        {(["30m", "1h", "4h", "1d"] as const).map((span) => (
          <button type="submit" formaction={action} formnovalidate name="for" value={span}>
            {tell(reader, `span.${span}`)}
          </button>
        ))}
      </div>
    </Menu>
  );
}

/** The less frequent actions. */
export function MoreActions({ view }: { view: CardView }) {
  const { reader, read } = view;
  const { question, run } = read;
  const at = `/q/${question.id}`;
  const isMine = question.claim !== undefined && actorName(question.claim.by) === reader.id;
  return (
    <Menu name="more" label={tell(reader, "more")}>
      <Narrow view={view} />
      <div class="rowed">
        {isMine ? (
          <button type="submit" formaction={`${at}/release`} formnovalidate data-key="c">
            {tell(reader, "release")}
            <kbd>{tellKey(reader, "c")}</kbd>
          </button>
        ) : (
          <button type="submit" formaction={`${at}/claim`} formnovalidate data-key="c">
            {tell(reader, "claim")}
            <kbd>{tellKey(reader, "c")}</kbd>
          </button>
        )}
        <button type="submit" formaction={`${at}/preview`} formnovalidate name="do" value="answer" data-preview>
          {tell(reader, "gets")}
        </button>
      </div>
      {question.dueAt === undefined ? null : (
        <div class="rowed">
          <span class="quiet">{tell(reader, "extend")}</span>
          {(["1h", "4h", "1d"] as const).map((span) => (
            <button type="submit" formaction={`${at}/extend`} formnovalidate name="by" value={span}>
              +{tell(reader, `span.${span}`)}
            </button>
          ))}
        </div>
      )}
      <label class="t" for="to">
        {tell(reader, "assign.to")}
      </label>
      <div class="rowed">
        <input id="to" name="to" type="text" autocomplete="off" />
        <button type="submit" formaction={`${at}/assign`} formnovalidate>
          {tell(reader, "assign")}
        </button>
      </div>
      {isPending(question) && question.onTimeout.steps?.[question.escalated] ? (
        <button type="submit" formaction={`${at}/escalate`} formnovalidate>
          {tell(reader, "escalate")}
        </button>
      ) : null}
      <details class="stop">
        <summary class="bad">{tell(reader, "stop")}</summary>
        <p class="quiet">{tell(reader, "stop.about", { run: `#${run.number}` })}</p>
        <button type="submit" class="bad" formaction={`${at}/stop`} formnovalidate>
          {tell(reader, "stop.sure", { run: `#${run.number}` })}
        </button>
      </details>
    </Menu>
  );
}

/** Actions that stand beside this menu on wide screens. */
function Narrow({ view: { reader, read } }: { view: CardView }) {
  const { question } = read;
  return (
    <div class="rowed narrow">
      {question.accepts.includes("decide") && question.kind !== "approval" ? (
        <button type="submit" name="do" value="decide" formnovalidate>
          {tell(reader, "decide")}
        </button>
      ) : null}
      <button type="submit" formaction={`/q/${question.id}/snooze`} formnovalidate name="for" value="1h">
        {tell(reader, "snooze")} ({tell(reader, "span.1h")})
      </button>
    </div>
  );
}
