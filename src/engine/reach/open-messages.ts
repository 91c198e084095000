import { listPending } from "../pending-questions.ts";
import type { OutsideRef } from "../../core/channel/channel.ts";
import { type Delivery, deliverJob, parseDelivery } from "../../core/channel/delivery/delivery.ts";
import { SYSTEM } from "../../core/people/actor.ts";
import type { Store } from "../../store/store.ts";
import type { Decider } from "../decide.ts";

/** Brings all messages of a channel in line again: those that another process left behind, nobody would hear. */
export async function showAgain(store: Store, decider: Decider, channel: string): Promise<void> {
  for await (const question of listPending(store)) {
    const refs = (question.deliveries ?? []).filter((ref) => ref.channel === channel);
    const scheduled = refs.map(({ id }) =>
      deliverJob(id, { runId: question.runId, questionId: question.id }, decider.at(SYSTEM).now),
    );
    if (scheduled.length > 0) await decider.commit({ scheduled });
  }
}

/** The messages of a channel whose questions wait. */
export async function listOpenMessages(store: OpenReads, channel: string): Promise<OutsideRef[]> {
  return (await listOpenDeliveries(store, channel)).flatMap(({ outside }) => outside ?? []);
}

type OpenReads = Pick<Store, "listQuestions" | "readEntries">;

/** The deliveries of a channel whose questions wait, whether or not they have a message yet. */
export async function listOpenDeliveries(store: OpenReads, channel: string): Promise<Delivery[]> {
  const ids: string[] = [];
  for await (const { deliveries = [] } of listPending(store)) {
    ids.push(...deliveries.filter((ref) => ref.channel === channel).map(({ id }) => id));
  }
  return (await store.readEntries("delivery", ids)).map(parseDelivery);
}
