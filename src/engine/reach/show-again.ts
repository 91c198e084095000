import { deliverJob } from "../../core/channel/delivery.ts";
import { SYSTEM } from "../../core/people/actor.ts";
import type { Question } from "../../core/question/question.ts";
import type { Store } from "../../store/store.ts";
import type { Decider } from "../decide.ts";

const PAGE = 100;

/** Brings all messages of a channel in line again: those that another process left behind, nobody would hear. */
export async function showAgain(store: Store, decider: Decider, channel: string): Promise<void> {
  for await (const question of listPending(store)) {
    const refs = (question.deliveries ?? []).filter((ref) => ref.channel === channel);
    const scheduled = refs.map(({ id }) => deliverJob(id, question, decider.at(SYSTEM).now));
    if (scheduled.length > 0) await decider.commit({ scheduled });
  }
}

/** All questions that wait, oldest first. */
export async function* listPending(store: Pick<Store, "listQuestions">): AsyncIterable<Question> {
  for (let after: Question["id"] | undefined; ;) {
    const page = await store.listQuestions({
      status: "pending",
      order: "oldest",
      limit: PAGE,
      ...(after !== undefined && { after }),
    });
    yield* page;
    after = page.at(-1)?.id;
    if (after === undefined || page.length < PAGE) return;
  }
}
