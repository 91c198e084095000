import { type Question, isPending } from "../core/question/question.ts";

/** Says whether the process that holds a question has ended: its answer goes to nobody who waits. */
export async function findHolderGone(question: Question): Promise<boolean> {
  const holder = isPending(question) ? question.hold?.holder : undefined;
  if (holder === undefined) return false;
  const { isHolderGone } = await import("../agents/process/process-holder.ts");
  return isHolderGone(holder);
}
