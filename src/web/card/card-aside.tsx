import { actorName, channelName } from "../../core/people/actor.ts";
import { mayAnswer } from "../../core/people/inbox.ts";
import { type Question, findAnswer, isPending } from "../../core/question/question.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { answerWords } from "../words/answer-words.ts";
import type { CardView } from "./card-view.ts";
import { Command } from "../parts/command.tsx";
import { eventWords } from "../words/event-words.ts";
import { type PageReader, tell, tellClock } from "../parts/page-reader.ts";
import { Moment, TimeSince } from "../parts/time.tsx";

/** The column beside the card: similar answers, templates, viewers, commands, activity, comments. */
export function CardAside({ view }: { view: CardView }) {
  const { reader } = view;
  return (
    <aside aria-label={tell(reader, "details")}>
      {view.similar.length > 0 ? <SimilarAnswers view={view} /> : null}
      {view.templates.length > 0 && isFilledByLink(view) ? <Templates view={view} /> : null}
      {view.history.length > 0 ? <History view={view} /> : null}
      <section id="seen">
        <h2>{tell(reader, "seen")}</h2>
        <p>{viewerWords(view)}</p>
      </section>
      {view.deliveries.length > 0 ? <Told view={view} /> : null}
      <Terminal view={view} />
      <section id="activity">
        <h2>{tell(reader, "activity")}</h2>
        <ol>
          {view.events.map((event) => (
            <li>
              <Moment reader={reader} at={event.at} /> {eventWords(reader, event)}
            </li>
          ))}
        </ol>
      </section>
      <Comments view={view} />
    </aside>
  );
}

/** True if the reader can answer the question now. */
function isOpenTo({ reader, read: { question } }: CardView) {
  return isPending(question) && mayAnswer(question, reader);
}

/** True if a link may prefill the form; never at high risk. */
function isFilledByLink(view: CardView) {
  return isOpenTo(view) && view.read.question.risk !== "high";
}

function SimilarAnswers({ view }: { view: CardView }) {
  const { reader, read, similar } = view;
  return (
    <section>
      <h2>{tell(reader, "similar")}</h2>
      {similar.map((one) => (
        <p>
          {tell(reader, "similar.one", {
            answer: makeVisible(one.answer),
            title: makeVisible(one.title),
            name: makeVisible(actorName(one.by)),
          })}{" "}
          <TimeSince reader={reader} at={one.at} as="run.ago" />.{" "}
          {isFilledByLink(view) ? (
            <a href={`/q/${read.question.id}?choose=${encodeURIComponent(one.answer)}`}>
              {tell(reader, "similar.use")}
            </a>
          ) : null}
        </p>
      ))}
    </section>
  );
}

function History({ view: { reader, history } }: { view: CardView }) {
  return (
    <section>
      <h2>{tell(reader, "history")}</h2>
      {history.map(({ question, content }) => {
        const answer = findAnswer(question);
        const said = answer
          ? tell(reader, "quoted", { text: answerWords(reader, content, answer) })
          : tell(reader, `status.${question.status}`);
        return (
          <p>
            <a href={`/q/${question.id}`}>{makeVisible(question.title)}</a> {said}
          </p>
        );
      })}
    </section>
  );
}

function Templates({ view: { reader, read, templates } }: { view: CardView }) {
  return (
    <section>
      <h2>{tell(reader, "templates")}</h2>
      <p class="names">
        {templates.map((name) => (
          <a href={`/q/${read.question.id}?template=${encodeURIComponent(name)}`}>{name}</a>
        ))}
      </p>
    </section>
  );
}

/** Lists who sees the question and who has it open now. */
export function viewerWords({ reader, read, viewers }: Pick<CardView, "reader" | "read" | "viewers">): string {
  const { question } = read;
  const others = viewers
    .filter((name) => name !== reader.id)
    .map((name) => tell(reader, "seen.now", { name: makeVisible(name) }));
  const meant = [...question.to, ...question.approvals.from]
    .filter((name) => name !== reader.id && !viewers.includes(name))
    .map(makeVisible);
  const names = [tell(reader, "you"), ...others, ...new Set(meant)].join(", ");
  const away = (question.delegates ?? []).map(({ person, delegate }) =>
    tell(reader, "seen.away", { name: makeVisible(person), delegate: makeVisible(delegate) }),
  );
  return [`${names}.`, ...away, ruleWords(reader, question)].join(" ").trim();
}

/** The messages about the question, with their results. */
function Told({ view: { reader, deliveries } }: { view: CardView }) {
  return (
    <section id="told">
      <h2>{tell(reader, "told")}</h2>
      <ul>
        {deliveries.map((delivery) => (
          <li>
            {makeVisible(channelName(delivery.channel))}
            {delivery.person === undefined ? null : ` (${makeVisible(delivery.person)})`}:{" "}
            {deliveryWords(reader, delivery)}{" "}
            {delivery.sentAt === undefined ? null : <Moment reader={reader} at={delivery.sentAt} />}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The result of a delivery; one that failed for good is not tried again. */
function deliveryWords(reader: PageReader, { state, waits, failure }: CardView["deliveries"][number]) {
  if (failure) {
    const why = makeVisible(failure.why);
    if (state === "failed") return `${tell(reader, "told.failed")}: ${why}`;
    return tell(reader, state === "due" ? "told.failing" : "told.stale", { why });
  }
  if (waits && state === "due") return tell(reader, `told.${waits.why}`, { until: tellClock(reader, waits.until) });
  return tell(reader, `told.${state}`);
}

/** How an open question is decided: first answer, or several people. */
function ruleWords(reader: PageReader, question: Question) {
  if (!isPending(question) || question.settling) return "";
  if (!mayAnswer(question, reader)) return tell(reader, "seen.readOnly");
  const { need } = question.approvals;
  return need > 1 ? tell(reader, "seen.need", { n: need }) : tell(reader, "seen.first");
}

/** The command that answers the question, or shows it if the reader cannot answer. At high risk it names no option. */
function commandFor(view: CardView) {
  const { run, content, question } = view.read;
  if (!isOpenTo(view) || (isPending(question) && question.settling)) return `askd show ${run.number}`;
  const [first, second] = content.items;
  if (second) return `askd answer ${run.number} "${content.items.map((_, index) => `${index + 1}…`).join(" ")}"`;
  const isChosen = question.risk !== "high" && first !== undefined && first.options.length > 0;
  return `askd answer ${run.number} ${isChosen ? "1" : `"…"`}`;
}

function Terminal({ view }: { view: CardView }) {
  const { reader, takeover } = view;
  const commands = [commandFor(view), takeover];
  return (
    <section id="terminal">
      <h2>{tell(reader, "terminal")}</h2>
      {commands.map((command, index) =>
        command === undefined ? null : <Command reader={reader} id={`command-${index}`} text={command} />,
      )}
    </section>
  );
}

function Comments({ view: { reader, read } }: { view: CardView }) {
  const { question } = read;
  return (
    <section id="comments">
      <h2>{tell(reader, "comments")}</h2>
      {question.comments.map((comment) => (
        <p>
          <b>{makeVisible(actorName(comment.by))}</b> <Moment reader={reader} at={comment.at} />
          <br />
          {makeVisible(comment.text)}
        </p>
      ))}
      <form method="post" action={`/q/${question.id}/comment`}>
        <input type="hidden" name="csrf" value={reader.csrf} />
        <label class="unseen" for="comment">
          {tell(reader, "comments.write")}
        </label>
        <textarea id="comment" name="text" rows={1} required placeholder={tell(reader, "comments.write")}></textarea>
        <button type="submit">{tell(reader, "comments.add")}</button>
      </form>
    </section>
  );
}
