import type { Child } from "hono/jsx";
import { type ResumeAttempt, countFailedAttempts } from "../../core/run/resume-attempt.ts";
import { mayForce, findAnswer, isPending } from "../../core/question/question.ts";
import { type AwayMachine, machineName } from "../../core/run/machine.ts";
import { type Run, findAgentSession, hasEnded, isAnswerUntaken } from "../../core/run/run.ts";
import { type UsageRow, countTokens } from "../../core/run/usage.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { Attempts, Timeline, type TimelineView } from "../parts/timeline.tsx";
import { QuestionChips, QuestionState, QuestionContext, answeredBy, cardState } from "../card/card.tsx";
import type { CardView } from "../card/card-view.ts";
import { Command } from "../parts/command.tsx";
import { TitleText } from "../parts/title-text.tsx";
import { factWords } from "../words/fact-words.ts";
import { runName } from "./inbox.tsx";
import { LogBox, type LogPart } from "../parts/log.tsx";
import { AwayMachineNotice } from "../card/away-machine.tsx";
import { UnsentText } from "../card/outcome.tsx";
import { sayTokens } from "../parts/usage.ts";
import { type PageReader, tell, tellSpan } from "../parts/page-reader.ts";
import { reasonWords } from "../words/reason-words.ts";
import { RunActions } from "../parts/run-actions.tsx";
import { RunBadge, runStateWords } from "../parts/run-badge.tsx";
import { RunMeta } from "./run-list.tsx";
import { UntakenAnswer } from "../card/untaken-answer.tsx";
import { WorkflowPicture, type WorkflowPictureView } from "../parts/workflow-picture.tsx";

const MOST_SAID = 10;
const SAID_CHARS = 600;

/** All data that the page of a run shows. */
export interface RunView {
  reader: PageReader;
  run: Run;
  usage: UsageRow | undefined;
  /** The machine that the run waits for, if it is away. */
  away: AwayMachine | undefined;
  /** Its open question, or else its last one. */
  card: CardView | undefined;
  timeline: Omit<TimelineView, "reader">;
  isTimelineCut: boolean;
  /** Attempts to resume it, as far as the timeline goes back. */
  attempts: readonly ResumeAttempt[];
  /** Age of the run, and how much of it was spent waiting for people. */
  wholeMs: number;
  waitedMs: number;
  parent: Run | undefined;
  children: readonly Run[];
  /** The steps of a run of a workflow. */
  picture: Omit<WorkflowPictureView, "reader"> | undefined;
  takeover: string | undefined;
  hasWork: boolean;
  log: LogPart | undefined;
  problem?: string;
}

/** One run: its open question, its log and its history. */
export function RunPage({ view }: { view: RunView }) {
  const { reader, run, card, problem } = view;
  const isGoing = !hasEnded(run) && run.status !== "awaiting_input" && !isAnswerUntaken(run);
  return (
    <main
      id="main"
      class="card run"
      data-id={card?.read.question.id}
      data-state={card && cardState(card)}
      data-by={card && answeredBy(card.read.question)}
      data-going={isGoing ? "yes" : ""}
    >
      <p class="to-runs">
        <a href="/runs">{tell(reader, "r.to.list")}</a>
      </p>
      <Head view={view} />
      {problem === undefined ? null : (
        <p class="banner bad" role="alert">
          {problem}
        </p>
      )}
      <div class="grid">
        <div>
          <div id="asks" class="asks">
            {card ? <Asks view={card} run={run} /> : null}
          </div>
          <div id="ended" data-live>
            {run.status === "failed" ? <Failed view={view} /> : <Summary view={view} />}
            <MayHaveAsked reader={reader} run={run} />
            <UntakenAnswer reader={reader} run={run} takeover={view.takeover} />
          </div>
          <Steps view={view} />
          {run.workflow ? null : <LogBox reader={reader} run={run} log={view.log} />}
          {view.hasWork ? (
            <section id="work" class="work" data-src={`/r/${run.id}/work`}>
              <h2>{tell(reader, "work")}</h2>
              <p>
                <a href={`/r/${run.id}/work`}>{tell(reader, "work.show")}</a>
              </p>
            </section>
          ) : null}
        </div>
        <RunAside view={view} />
      </div>
    </main>
  );
}

/** The steps of a workflow, with the question at its place. */
function Steps({ view: { reader, run, picture } }: { view: RunView }) {
  if (!run.workflow || !picture) return null;
  return (
    <section id="steps" data-live aria-labelledby="steps-title">
      <h2 id="steps-title">{tell(reader, "w.steps")}</h2>
      <p class="quiet">
        {tell(reader, "w.of")} <a href="/workflows">{makeVisible(run.workflow.name)}</a>.{" "}
        {run.workflow.branch ? tell(reader, "w.branch") : null}
      </p>
      <WorkflowPicture view={{ reader, ...picture }} />
    </section>
  );
}

function Head({ view }: { view: RunView }) {
  const { reader, run, usage, card, wholeMs, waitedMs } = view;
  const pending = card && isPending(card.read.question) ? card.read.question : undefined;
  const whole = tellSpan(reader, wholeMs, 2);
  return (
    <div id="head" data-live>
      <RunMeta reader={reader} run={run} usage={usage} />
      <div class="head">
        <h1>{runName(run)}</h1>
        <RunActions reader={reader} run={run} />
      </div>
      <div class="bar">
        <RunBadge
          reader={reader}
          run={run}
          pending={pending}
          away={view.away}
          failed={countFailedAttempts(view.attempts)}
        />
        <span class="chip">
          {waitedMs > 0
            ? tell(reader, "r.waited", { waited: tellSpan(reader, waitedMs, 2), whole })
            : tell(reader, hasEnded(run) ? "r.took" : "r.going", { whole })}
        </span>
        {run.reason === undefined || run.status === "failed" ? null : (
          <span class="chip">
            {tell(reader, "r.reason")}: {reasonWords(reader, run.reason)}
          </span>
        )}
      </div>
      {view.away ? <AwayMachineNotice reader={reader} run={run} away={view.away} /> : null}
    </div>
  );
}

/** The open question above the log; empty once it is closed. */
function Asks({ view, run }: { view: CardView; run: Run }) {
  const { reader, read } = view;
  if (!isPending(read.question)) return <UnsentText view={view} answer={findAnswer(read.question)} />;
  return (
    <section class="box" aria-labelledby="asks-title">
      <p class="quiet">
        {tell(reader, "r.asks", { run: `#${run.number}` })} ·{" "}
        <a href={`/q/${read.question.id}`}>{tell(reader, "r.open")}</a>
      </p>
      <h2 id="asks-title">
        <TitleText title={read.question.title} />
      </h2>
      <QuestionChips view={view} />
      <QuestionContext view={view} />
      <QuestionState view={view} />
    </section>
  );
}

function RunAside({ view }: { view: RunView }) {
  const { reader, run, takeover, timeline } = view;
  return (
    <aside id="aside" data-live aria-label={tell(reader, "details")}>
      <section>
        <h2>{tell(reader, "r.timeline")}</h2>
        {view.isTimelineCut ? <p class="quiet">{tell(reader, "r.timeline.cut")}</p> : null}
        <Timeline view={{ reader, ...timeline }} />
        <p>
          <a href={`/activity?run=${run.number}`}>{tell(reader, "r.activity")}</a>
        </p>
      </section>
      <Attempts reader={reader} attempts={view.attempts} />
      {takeover === undefined || run.status === "failed" || isAnswerUntaken(run) ? null : (
        <section>
          <h2>{tell(reader, "r.takeover")}</h2>
          <p>{tell(reader, "r.takeover.about")}</p>
          <Command reader={reader} id="takeover" text={takeover} />
        </section>
      )}
      <Family view={view} />
      <Facts view={view} />
    </aside>
  );
}

/** Why a run failed, and what to do. */
function Failed({ view }: { view: RunView }) {
  const { reader, run, takeover, card } = view;
  const reason = reasonWords(reader, run.reason ?? tell(reader, "reason.none"));
  const retry = `askd workflow retry ${run.number}`;
  return (
    <section class="banner bad">
      <p>
        <b>{tell(reader, "r.failed", { run: `#${run.number}`, reason })}</b>
      </p>
      <Said run={run} />
      {card && mayForce(run, card.read.question) ? (
        <p>
          {tell(reader, "anyway")} <a href={`/q/${card.read.question.id}`}>{tell(reader, "r.open")}</a>
        </p>
      ) : (
        <>
          <p>
            {tell(reader, run.workflow ? "w.failed" : takeover === undefined ? "r.failed.next" : "r.takeover.about")}
          </p>
          <Command
            reader={reader}
            id="takeover"
            text={run.workflow ? retry : (takeover ?? `askd logs ${run.number}`)}
          />
        </>
      )}
    </section>
  );
}

/** The warning about a question of the agent that could not be read. */
function MayHaveAsked({ reader, run }: { reader: PageReader; run: Run }) {
  if (run.mayHaveAsked === undefined) return null;
  return (
    <section class="banner wait">
      <p>{tell(reader, "r.doubt")}</p>
      <p class="said">{makeVisible(run.mayHaveAsked)}</p>
      <Command reader={reader} id="doubt" text={`askd logs ${run.number}`} />
    </section>
  );
}

/** The agent's summary, unless the log already ends with it. */
function Summary({ view: { reader, run, log } }: { view: RunView }) {
  const logged = new Set((log?.entries ?? []).flatMap(({ text }) => text.split("\n")));
  const isLogged = saidOf(run).every((text) => text.split("\n").every((line) => line === "" || logged.has(line)));
  if (!hasEnded(run) || isLogged) return null;
  return (
    <section>
      <h2>{tell(reader, "r.summary")}</h2>
      <Said run={run} />
    </section>
  );
}

function Said({ run }: { run: Run }) {
  return saidOf(run)
    .slice(0, MOST_SAID)
    .map((text) => (
      <p class="said">{makeVisible(text.length > SAID_CHARS ? `${text.slice(0, SAID_CHARS)} …` : text)}</p>
    ));
}

function saidOf({ result }: Run) {
  const { summary, details, issues = [] } = result ?? {};
  return [summary, details, ...issues].filter((text) => text !== undefined);
}

function Family({ view: { reader, parent, children } }: { view: RunView }) {
  return (
    <>
      {parent ? (
        <section>
          <h2>{tell(reader, "r.parent")}</h2>
          <p>
            <a href={`/r/${parent.id}`}>{runName(parent)}</a>
          </p>
        </section>
      ) : null}
      {children.length === 0 ? null : (
        <section>
          <h2>{tell(reader, "r.children")}</h2>
          {children.map((run) => (
            <p>
              <a href={`/r/${run.id}`}>{runName(run)}</a>{" "}
              <span class="quiet">{run.pendingId ? tell(reader, "runs.badge") : runStateWords(reader, run)}</span>
            </p>
          ))}
        </section>
      )}
    </>
  );
}

function Facts({ view: { reader, run, usage } }: { view: RunView }) {
  const used = usage && countTokens(usage) > 0 ? usage : undefined;
  const facts: ReadonlyArray<readonly [string, Child]> = [
    [tell(reader, "r.agent"), run.agent === "none" ? undefined : factWords(reader, run, "agent", run.agent)],
    [tell(reader, "r.session"), findAgentSession(run)],
    [tell(reader, "r.dir"), run.dir],
    [tell(reader, "r.host"), machineName(run.host)],
    [tell(reader, "r.external"), run.externalId],
    [
      tell(reader, "r.labels"),
      run.labels.length > 0 ? factWords(reader, run, "labels", run.labels.join(", ")) : undefined,
    ],
    [tell(reader, "r.tokens"), used && sayTokens(reader, used)],
  ];
  return (
    <section>
      <h2>{tell(reader, "r.about")}</h2>
      <dl class="facts">
        {facts.map(([name, value]) =>
          typeof value === "string" && value !== "" ? (
            <div>
              <dt>{name}</dt>
              <dd>{makeVisible(value)}</dd>
            </div>
          ) : null,
        )}
      </dl>
    </section>
  );
}
