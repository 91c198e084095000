import { type Actor, SYSTEM } from "../core/people/actor.ts";
import { ask, findSameQuestion, requireSamePayload } from "../core/question/ask.ts";
import type { AskInput } from "../core/question/ask-input.ts";
import { requireEpoch } from "../core/run/handover.ts";
import { type Question, isPending } from "../core/question/question.ts";
import type { Run } from "../core/run/run.ts";
import { mayHold, takeHold } from "../core/question/hold.ts";
import type { Store } from "../store/store.ts";
import { addAsked } from "./asked-entry.ts";
import { type Decider, after } from "./decide.ts";
import type { AskOptions, Done } from "./engine.ts";
import { runForAsk } from "./new-run.ts";
import { findDuplicate } from "./find-duplicate.ts";

interface Deps {
  store: Store;
  decider: Decider;
}

/** Keeps an ask, once: reads its run, and tries again when somebody else was faster. */
export function keepAsk(deps: Deps, input: AskInput, by: Actor, options: AskOptions): Promise<Done> {
  const { store, decider } = deps;
  let { runId } = options;
  return decider.retry(async () => {
    const at = decider.at(by);
    const found = runId ? await decider.rows.readRun(runId) : runForAsk(options.run ?? {}, input.items, input.key, at);
    if (options.epoch !== undefined) requireEpoch(found, options.epoch);
    const run = asSeenNow(found, options);
    const open = await decider.rows.readOpen(run);
    const same = findSameQuestion(open, input);
    if (same) return known(decider, same, input, options);
    const followed = run.clarifying ? await store.findQuestion(run.clarifying) : undefined;
    const { epoch, calledAt, askedAs, holder, secrets = [] } = options;
    const before = { run, open, followed, epoch, calledAt, holder, secrets };
    const { read, ...asked } = ask(before, input, at);
    const entries =
      askedAs === undefined ? [] : [addAsked(askedAs, await store.findEntry("ask", askedAs), read.question.id)];
    const changes = { ...asked, entries };
    const committed = await decider.commit(changes, read);
    if (committed.ok) return { ...after(read, changes, committed), isNew: true };
    if (committed.why !== "taken") return undefined;
    const theirs = await findDuplicate(store, run, read.question.key);
    // Without a key of its own an ask repeats only what is still open.
    const isSame =
      theirs?.question && (input.key !== undefined || findSameQuestion([theirs.question], input) !== undefined);
    if (theirs?.question && isSame) return known(decider, theirs.question, input, options);
    runId = theirs?.run.id ?? runId;
    return undefined;
  });
}

/** The run with what is known of its agent since this ask. */
function asSeenNow(run: Run, { seen, giveBack }: AskOptions): Run {
  if (!seen && !giveBack) return run;
  return { ...run, seen: seen ?? run.seen, giveBack: giveBack ?? run.giveBack };
}

/**
 * The same ask again: its question, in whatever state it is by now. A call that waits for one which nobody holds any more
 * holds it from now on, so that its answer goes to this call and not to a new start of the agent.
 */
async function known(decider: Decider, question: Question, input: AskInput, options: AskOptions): Promise<Done> {
  if (input.key !== undefined) requireSamePayload(question, input);
  const { holdMs: windowMs = 0, afterHold: after } = input;
  const { holder, seen } = options;
  if (!isPending(question) || windowMs <= 0) return { ...(await decider.rows.read(question.id)), isNew: false };
  const read = await decider.changeQuestion(question.id, SYSTEM, (before, at) =>
    mayHold(before.run) ? takeHold(before, { windowMs, after, holder, seen }, at) : {},
  );
  return { ...read, isNew: false };
}
