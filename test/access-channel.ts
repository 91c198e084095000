import { randomBytes } from "node:crypto";
import type { Came, Case } from "./access-case.ts";
import { NAMES, type PreparedCase, wordsOf } from "./access-request.ts";
import { Board } from "./channels/board-channel.ts";
import type { Scene } from "./scene.ts";
import { deliveryEntry, newDelivery, outsideEntry } from "../src/core/channel/delivery/delivery.ts";
import { idsFrom } from "../src/core/id.ts";
import { Refusal } from "../src/core/refusal.ts";
import { Decider } from "../src/engine/decide.ts";
import { receiveReply } from "../src/engine/reach/receive.ts";

/** A channel that proves accounts, with a message that all of its people see. */
const CHANNEL = new Board("slack");
const SAID: Partial<Record<Case["verb"], string>> = {
  answer: "A",
  undo: "/undo",
  claim: "/claim",
  snooze: "/snooze 1h",
};

/** The account of somebody in the channel; that of a stranger is nobody's on the list. */
export function accountOf(name: string): string {
  return `U${name.toUpperCase()}`;
}

/** Replies to the message of the question, and tells what came of it. */
export async function reply(one: Case, { id }: PreparedCase, scene: Scene): Promise<Came> {
  const { verb, who, kind } = one;
  const { store, rules, engine } = scene;
  const decider = new Decider({ store, rules, ids: idsFrom(Date.now, randomBytes), now: () => scene.now });
  const token = randomBytes(12).toString("hex");
  const delivery = newDelivery(token, { questionId: id }, { channel: CHANNEL.name, person: undefined });
  const message = outsideEntry(delivery.id, { channel: CHANNEL.name, outside: token, place: undefined });
  await decider.commit({ entries: [deliveryEntry({ ...delivery, state: "sent" }), message] });
  let came: Came = "no"; // a reply that does nothing
  const tell = async <Result>(act: Promise<Result>): Promise<Result> => {
    came = await act.then(() => "yes" as const, cameOf);
    return act;
  };
  const questions = {
    answer: (...args: Parameters<typeof engine.answer>) => tell(engine.answer(...args)),
    undo: (...args: Parameters<typeof engine.undo>) => tell(engine.undo(...args)),
    claim: (...args: Parameters<typeof engine.claim>) => tell(engine.claim(...args)),
    snooze: (...args: Parameters<typeof engine.snooze>) => tell(engine.snooze(...args)),
    refuse: (...args: Parameters<typeof engine.refuse>) => tell(engine.refuse(...args)),
  };
  const people = { pairTelegram: () => Promise.reject(new Error("nobody pairs")) };
  const from = accountOf(NAMES[who] ?? "stranger");
  // Buttons carry the token of their message; words are a reply to it.
  const said = kind === "worded_approval" ? { outside: token, text: wordsOf(one) } : { token, text: SAID[verb] ?? "" };
  await receiveReply({ store, decider, questions, people }, CHANNEL, { ...said, key: token, from, respondTo: "" });
  return came;
}

function cameOf(error: unknown): Came {
  if (!(error instanceof Refusal)) throw error;
  if (error.code === "not_permitted") return "no";
  if (error.code === "not_pending") return "closed";
  if (error.code === "no_such_option") return "unmatched";
  return error.code === "needs_confirmation" ? "unconfirmed" : `unexpected ${error.code}: ${error.message}`;
}
