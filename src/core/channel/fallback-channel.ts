import type { Person } from "../people/person.ts";
import type { ReachChannel } from "../rules.ts";
import { type Target, findAddress } from "./target.ts";

/** Other ways to tell a recipient: channels of the same person that are not muted, or other shared addresses. */
export function listOtherWays(
  { channel, person }: Target,
  reach: readonly ReachChannel[],
  people: readonly Person[],
): Array<Target & { address: string | undefined }> {
  const listed = people.find(({ id, removed }) => id === person && !removed);
  return reach.flatMap((other) => {
    if (other.name === channel || listed?.muted?.includes(other.name)) return [];
    const address = listed && !other.isShared ? findAddress(listed, other.name) : undefined;
    const isTheirs = address !== undefined || (other.person === person && !other.isPersonal);
    return isTheirs ? [{ channel: other.name, person, address }] : [];
  });
}
