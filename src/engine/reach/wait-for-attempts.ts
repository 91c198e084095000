import { setTimeout } from "node:timers/promises";
import type { Channel } from "../../core/channel/channel.ts";
import { SENDING_MS, deliverJob } from "../../core/channel/delivery/delivery.ts";
import { SECOND_MS } from "../../core/instant.ts";
import { SYSTEM } from "../../core/people/actor.ts";
import type { Store } from "../../store/store.ts";
import type { Decider } from "../decide.ts";
import { listOpenDeliveries } from "./open-messages.ts";

/** An attempt whose process died is made again after `SENDING_MS`, and finds the message that is there. */
const ATTEMPT_WAIT_MS = SENDING_MS + 15 * SECOND_MS;
const ATTEMPT_LOOK_MS = 100;

/**
 * Waits until every message that a reply may be about is recorded; a process that died is given up for after a time. A
 * message that may be there although its attempt failed is looked for at once: the next attempt can be an hour away, and
 * the channel brings a reply only once.
 */
export async function waitForAttempts(
  { store, decider }: { store: Store; decider: Decider },
  { name, find }: Channel,
): Promise<void> {
  const end = performance.now() + ATTEMPT_WAIT_MS;
  const hastened = new Map<string, number>();
  while (performance.now() < end) {
    const open = await listOpenDeliveries(store, name);
    const unknown = open.filter(({ outside, sending }) => outside === undefined && sending !== undefined);
    let isUnderWay = false;
    for (const { id, failure, questionId } of unknown) {
      const tries = failure?.tries ?? 0;
      if (tries > 0 && find && !hastened.has(id)) {
        hastened.set(id, tries);
        const runId = questionId && (await decider.rows.read(questionId)).run.id;
        await decider.commit({ scheduled: [deliverJob(id, { questionId, runId }, decider.at(SYSTEM).now)] });
      }
      isUnderWay ||= tries === 0 || hastened.get(id) === tries;
    }
    if (!isUnderWay) return;
    await setTimeout(ATTEMPT_LOOK_MS);
  }
}
