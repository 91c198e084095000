import type { QuestionId } from "../core/id.ts";
import { type PendingQuestion, isPending } from "../core/question/question.ts";
import type { Store } from "../store/store.ts";

const PAGE = 500;

/** All questions that wait, oldest first. */
export async function* listPending(store: Pick<Store, "listQuestions">): AsyncIterable<PendingQuestion> {
  for await (const page of listPendingPages(store)) yield* page;
}

/** The same a page at a time, for what reads more about each page at once. */
export async function* listPendingPages(store: Pick<Store, "listQuestions">): AsyncIterable<PendingQuestion[]> {
  let after: QuestionId | undefined;
  for (;;) {
    const page = await store.listQuestions({ status: "pending", order: "oldest", limit: PAGE, after });
    yield page.filter(isPending);
    after = page.at(-1)?.id;
    if (page.length < PAGE) return;
  }
}
