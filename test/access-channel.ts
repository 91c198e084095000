import { randomBytes } from "node:crypto";
import type { Came, Case } from "./access-case.ts";
import { NAMES, type PreparedCase } from "./access-request.ts";
import { Board } from "./channels/board-channel.ts";
import type { Scene } from "./scene.ts";
import { deliveryEntry, newDelivery } from "../src/core/channel/delivery/delivery.ts";
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
export async function reply({ verb, who }: Case, { id }: PreparedCase, scene: Scene): Promise<Came> {
  const { store, rules, engine } = scene;
  const decider = new Decider({ store, rules, ids: idsFrom(Date.now, randomBytes), now: () => scene.now });
  const token = randomBytes(12).toString("hex");
  const delivery = newDelivery(token, { questionId: id }, { channel: CHANNEL.name, person: undefined });
  await decider.commit({ entries: [deliveryEntry({ ...delivery, state: "sent" })] });
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
  const text = SAID[verb] ?? "";
  await receiveReply({ store, decider, questions, people }, CHANNEL, { key: token, from, token, text, respondTo: "" });
  return came;
}

function cameOf(error: unknown): Came {
  if (!(error instanceof Refusal)) throw error;
  if (error.code === "not_permitted") return "no";
  if (error.code === "not_pending") return "closed";
  return error.code === "needs_confirmation" ? "unconfirmed" : `unexpected ${error.code}: ${error.message}`;
}
