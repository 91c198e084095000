import type { QuestionSnapshot } from "../../../core/changes.ts";
import { isTakenByReading } from "../../../core/run/complete-on-read.ts";
import { whoAsks } from "../../actor.ts";
import type { Context } from "../../context.ts";

/** Says whether the script that asked reads its outcome now; a process of an earlier start of its agent does not count. */
export function isTakenHere(read: QuestionSnapshot, context: Context): boolean {
  const { store } = context.place;
  if (store.kind !== "server" && store.isReadOnly) return false;
  const epoch = context.env["ASKD_EPOCH"];
  return isTakenByReading(read, whoAsks(context)) && (!epoch || Number(epoch) === read.run.epoch);
}
