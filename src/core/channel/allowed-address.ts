import type { NotifyTarget } from "../question/question.ts";

/** The addresses that the settings allow questions to name, by channel. */
export type AllowedAddresses = Readonly<Record<string, readonly string[]>>;

/**
 * Keeps the addresses that the settings allow. An agent names whom it likes; every other address is left out, and the
 * target says so. The number of an issue is no address.
 */
export function allowAddresses(targets: readonly NotifyTarget[], allowed: AllowedAddresses): NotifyTarget[] {
  return targets.map((target) => {
    const { channel, address } = target;
    if (address === undefined || channel === "github") return target;
    const given = address.split(",").map((each) => each.trim());
    const kept = given.filter((each) => allowed[channel]?.some((one) => isSame(one, each)));
    if (kept.length === given.length) return target;
    return { ...target, address: kept.length > 0 ? kept.join(",") : undefined, isAddressIgnored: true };
  });
}

/** The channels in which an address was left out. */
export function ignoredAddresses(targets: readonly NotifyTarget[]): string[] {
  return [...new Set(targets.filter((target) => target.isAddressIgnored).map(({ channel }) => channel))];
}

/** The reason that the asker is told. */
export const ADDRESS_IGNORED = "the address is not allowed by the settings and was ignored";

function isSame(one: string, other: string) {
  return one.toLowerCase() === other.toLowerCase();
}
