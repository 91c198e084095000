import { announceAgain } from "../../core/channel/announce.ts";
import type { Channel, PairingRequest } from "../../core/channel/channel.ts";
import { tellIn } from "../../core/channel/message-words.ts";
import { findAddress } from "../../core/channel/target.ts";
import { SYSTEM } from "../../core/people/actor.ts";
import { Refusal } from "../../core/refusal.ts";
import { listPendingPages } from "../pending-questions.ts";
import { tellIdle } from "./private-chat.ts";
import { type ListenDeps, languageOf } from "./receive.ts";
import { isPassing, takeEach } from "./take-each.ts";

/** Pairs an account with the person that its code was made for, and sends there what waits already. */
export async function receivePairing(deps: ListenDeps, channel: Channel, request: PairingRequest): Promise<void> {
  const { code } = request;
  if (code === undefined) return tellIdle(deps, channel, { ...request, isGreeting: true });
  try {
    const person = await deps.people.pairTelegram(code, request.from);
    await channel.respond?.(request.respondTo, tellIn(languageOf(deps, person), "paired", { name: person.id }));
    await announcePending(deps, channel);
  } catch (error) {
    if (!(error instanceof Refusal) || isPassing(error)) throw error;
    // The process may have died after pairing: then the request comes again, with a code that is used up.
    const isPaired = (await deps.decider.readPeople()).some((each) => findAddress(each, channel.name) === request.from);
    if (isPaired) await announcePending(deps, channel);
    const language = deps.decider.at(SYSTEM).rules.language;
    const said = language === "en" ? error.message : tellIn(language, "code.unknown");
    await channel.respond?.(request.respondTo, `${said}. ${tellIn(language, "code.new")}`);
  }
}

/** People who can be reached from now on also get the questions that wait. */
async function announcePending({ store, decider, onFailure }: ListenDeps, { name }: Channel) {
  const people = await decider.readPeople();
  const report = (error: unknown) => onFailure(name, error);
  for await (const page of listPendingPages(store)) {
    await takeEach(
      page,
      async ({ id }) => {
        await decider.changeQuestion(id, SYSTEM, ({ question }, at) => announceAgain(question, at, people));
      },
      report,
    );
  }
}
