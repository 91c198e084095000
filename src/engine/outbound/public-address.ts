import { BlockList, isIP, isIPv4 } from "node:net";
import { Refusal } from "../../core/refusal.ts";

export interface AddressOptions {
  /** For tests and programs on the same machine: loopback addresses and plain http. */
  allowLoopback: boolean;
}

/** Refuses a callback address that would never be called. Its DNS name is resolved and checked when it is called. */
export function requireCallable(url: string, options: AddressOptions): void {
  const problem = findProblem(new URL(url), options);
  if (problem === undefined) return;
  throw new Refusal("bad_input", `The callback would not be called: ${problem}`, {
    hint: "Give a public https address; for programs on this machine: askd config set callbacks.allow_loopback true",
  });
}

/** Why a URL must not be called, as far as the URL itself says. */
export function findProblem(target: URL, options: AddressOptions): string | undefined {
  if (target.protocol !== "https:" && !(target.protocol === "http:" && options.allowLoopback))
    return `${target.protocol} is not allowed, use https:`;
  const host = target.hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) ? isDenied(host, options) : isLocalName(host) && !options.allowLoopback) {
    return `${host} is not a public address`;
  }
  return undefined;
}

/** Returns whether an address must not be called: this machine, private networks, and forms that wrap them. */
export function isDenied(address: string, options: AddressOptions): boolean {
  return [address, ...wrapped(address)].some((each) => {
    const family = isIPv4(each) ? "ipv4" : "ipv6";
    if (LOOPBACK.check(each, family)) return !options.allowLoopback;
    return family === "ipv4" ? DENIED.check(each, family) : !isOutside(each);
  });
}

/** Names that every resolver takes for this machine; a dot at the end means the same name. */
function isLocalName(host: string) {
  return /(?:^|\.)localhost\.?$/i.test(host);
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

const DENIED = new BlockList();
const DENIED_V4: Array<[string, number]> = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];
for (const [net, bits] of DENIED_V4) DENIED.addSubnet(net, bits, "ipv4");

/** Global addresses are those of 2000::/3, without what is set aside for documents and for networks of one's own. */
const GLOBAL_V6 = new BlockList();
GLOBAL_V6.addSubnet("2000::", 3, "ipv6");
const SET_ASIDE_V6 = new BlockList();
for (const [net, bits] of [
  ["2001:2::", 48],
  ["2001:10::", 28],
  ["2001:20::", 28],
  ["2001:db8::", 32],
  ["3fff::", 20],
] as const) {
  SET_ASIDE_V6.addSubnet(net, bits, "ipv6");
}

/** An IPv6 address that is global, or that only wraps an IPv4 address, which is judged by itself. */
function isOutside(address: string) {
  if (wrapped(address).length > 0) return true;
  return GLOBAL_V6.check(address, "ipv6") && !SET_ASIDE_V6.check(address, "ipv6");
}

/** The IPv4 addresses inside an IPv6 address: mapped, translated, compatible, NAT64, 6to4, Teredo and ISATAP. */
function wrapped(address: string): string[] {
  if (isIPv4(address)) return [];
  const groups = expand(address);
  const [first = 0, second = 0, third = 0, fourth = 0] = groups;
  const [high = 0, low = 0] = groups.slice(6);
  if (first === 0x2002) return [dotted(second, third)]; // 6to4
  // Teredo: its server, and its client with every bit turned round
  if (first === 0x2001 && second === 0) return [dotted(third, fourth), dotted(high ^ 0xffff, low ^ 0xffff)];
  return isPrefixed(groups) || isIsatap(address, groups) ? [dotted(high, low)] : [];
}

/** Prefixes of 96 bits before an IPv4 address: compatible, mapped, translated, NAT64. */
const PREFIXES: ReadonlySet<string> = new Set(["0:0:0:0:0:0", "0:0:0:0:0:ffff", "0:0:0:0:ffff:0", "64:ff9b:0:0:0:0"]);

function isPrefixed(groups: readonly number[]) {
  const prefix = groups.slice(0, 6).map((group) => group.toString(16));
  const isOwn = groups.slice(0, 7).every((group) => group === 0) && (groups[7] ?? 0) <= 1; // "::" and "::1"
  return PREFIXES.has(prefix.join(":")) && !isOwn;
}

/** The rest of such an address must be global too: it may be of a private network. */
function isIsatap(address: string, [, , , , fifth = 0, sixth = 0]: readonly number[]) {
  return (fifth & ~0x0300) === 0 && sixth === 0x5efe && GLOBAL_V6.check(address, "ipv6");
}

function dotted(high: number, low: number) {
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

/** The eight groups of an IPv6 address. */
function expand(address: string) {
  const text = new URL(`http://[${address.split("%")[0]}]`).hostname.slice(1, -1);
  const [head = "", tail] = text.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const gap = tail === undefined ? [] : Array.from({ length: 8 - left.length - right.length }, () => "0");
  return [...left, ...gap, ...right].map((part) => Number.parseInt(part, 16));
}
