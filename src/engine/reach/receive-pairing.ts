import { announceAgain } from "../../core/channel/announce.ts";
import type { Channel, PairingRequest } from "../../core/channel/channel.ts";
import { tellIn } from "../../core/channel/message-words.ts";
import { findAddress } from "../../core/channel/target.ts";
import { SYSTEM } from "../../core/people/actor.ts";
import { Refusal } from "../../core/refusal.ts";
import { type ReceiveDeps, languageOf } from "./receive.ts";
import { listPending } from "../pending-questions.ts";

/** Pairs an account with the person that its code was made for, and sends there what waits already. */
export async function receivePairing(deps: ReceiveDeps, channel: Channel, request: PairingRequest): Promise<void> {
  try {
    const person = await deps.people.pairTelegram(request.code, request.from);
    await channel.respond?.(request.respondTo, tellIn(languageOf(deps, person), "paired", { name: person.id }));
    await announcePending(deps);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    // The process may have died after pairing: then the request comes again, with a code that is used up.
    const isPaired = (await deps.decider.readPeople()).some((each) => findAddress(each, channel.name) === request.from);
    if (isPaired) await announcePending(deps);
    const language = deps.decider.at(SYSTEM).rules.language;
    const said = language === "en" ? error.message : tellIn(language, "code.unknown");
    await channel.respond?.(request.respondTo, `${said}. ${tellIn(language, "code.new")}`);
  }
}

/** People who can be reached from now on also get the questions that wait. */
async function announcePending({ store, decider }: ReceiveDeps) {
  const people = await decider.readPeople();
  for await (const { id } of listPending(store)) {
    await decider.changeQuestion(id, SYSTEM, ({ question }, at) => announceAgain(question, at, people));
  }
}
