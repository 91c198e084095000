import { recheckQuorum } from "../../core/answer/vote.ts";
import { listPending } from "../pending-questions.ts";
import { requireAccess } from "../../core/people/access.ts";
import type { Actor } from "../../core/people/actor.ts";
import { parsePerson } from "../../core/people/person.ts";
import type { PendingQuestion } from "../../core/question/question.ts";
import { Refusal } from "../../core/refusal.ts";
import type { Rules } from "../../core/rules.ts";
import {
  type Removal,
  type RemovalSnapshot,
  endHoldings,
  findHoldings,
  isHeldBy,
  removePerson,
} from "../../core/people/removal.ts";
import { parseToken } from "../../core/people/token.ts";
import type { Store } from "../../store/store.ts";
import type { Decider } from "../decide.ts";
import type { RemovalOptions } from "../engine.ts";
import { readRoster } from "./people.ts";

interface RemovalDeps {
  store: Store;
  decider: Decider;
}

/** Removes a person with everything that they hold, in one commit. */
export async function removeFromList(
  { store, decider }: RemovalDeps,
  { id, handOverTo, isTrial }: { id: string } & RemovalOptions,
  by: Actor,
): Promise<Removal> {
  requireAccess("manage_people", by);
  const removal = await decider.retry(async () => {
    // Lock first: if another admin is removed between here and the commit, the commit fails.
    const lock = await readRoster(store);
    const at = decider.at(by);
    await requireInStore(store, id, at.rules);
    const read = await readAll(store, id);
    const found = findHoldings(read, handOverTo, at);
    const held = read.open.filter((question) => isHeldBy(question, read)).map((question) => question.id);
    const changes = removePerson(read, await decider.rows.readMany(held), handOverTo, at);
    if (isTrial) return found;
    const committed = await decider.commit({ ...changes, entries: [...(changes.entries ?? []), lock] });
    if (!committed.ok) return undefined;
    for (const question of held) decider.rows.forget(question);
    return { ...found, isRemoved: true };
  });
  if (removal.isRemoved) await sweep({ store, decider }, { id, handOverTo }, by);
  return removal;
}

/** A person whom only the settings list can be removed there alone. */
async function requireInStore(store: Store, id: string, { directory }: Rules) {
  const isConfigured = Object.hasOwn(directory.people, id) || Object.values(directory.groups).flat().includes(id);
  if (!isConfigured || (await store.findEntry("person", id))) return;
  throw new Refusal("bad_input", `${id} is on the list because the settings say so`, {
    hint: `Take ${id} out of [people] and [groups] there: askd config edit --user`,
  });
}

/** Removes what the person did during the removal. */
async function sweep({ store, decider }: RemovalDeps, { id, handOverTo }: { id: string } & RemovalOptions, by: Actor) {
  await decider.retry(async () => {
    const read = await readAll(store, id, "removed");
    const held = read.open.filter((question) => isHeldBy(question, read)).map((question) => question.id);
    const left = endHoldings(read, await decider.rows.readMany(held), handOverTo, decider.at(by));
    if (!left.events?.length) return true;
    const committed = await decider.commit(left);
    return committed.ok || undefined;
  });
}

async function readAll(store: Store, id: string, state: "listed" | "removed" = "listed"): Promise<RemovalSnapshot> {
  const [people, tokens] = await Promise.all([store.listEntries("person"), store.listEntries("token")]);
  const known = people.map(parsePerson);
  const person = known.find((each) => each.id === id && (each.removed ?? false) === (state === "removed"));
  if (!person) {
    throw new Refusal("not_found", `There is nobody called "${id}"`, { hint: "See everybody: askd user list" });
  }
  const listed = known.filter((each) => each === person || !each.removed);
  return { person, people: listed, tokens: tokens.map(parseToken), open: await readOpen(store) };
}

async function readOpen(store: Store) {
  const open: PendingQuestion[] = [];
  for await (const question of listPending(store)) open.push(question);
  return open;
}

/** Looks again at the questions that votes could not decide, after somebody was added or changed. */
export async function recheckQuorums({ store, decider }: RemovalDeps, by: Actor): Promise<void> {
  for await (const { id, isUnreachable } of listPending(store)) {
    if (isUnreachable) await decider.changeQuestion(id, by, recheckQuorum);
  }
}
