import { lookup } from "node:dns";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { BlockList, type LookupFunction, isIP, isIPv4 } from "node:net";

const TIMEOUT_MS = 15_000;
const MOST_RESPONSE_BYTES = 64 * 1024;

export interface PostOptions {
  /** For tests and programs on the same machine: loopback addresses and plain http. */
  allowLoopback: boolean;
}

/** What became of a request. `isFinal` means that trying again is of no use. */
export type Posted = { ok: boolean; isFinal: boolean; why: string; retryAfterMs?: number };

/**
 * Sends a message to an address that somebody gave us. The name is resolved once, the addresses are checked,
 * and only a checked one is connected to; redirects are not followed.
 */
export async function post(
  url: string,
  message: { body: string; headers: Record<string, string> },
  options: PostOptions,
): Promise<Posted> {
  const target = new URL(url);
  const problem = findProblem(target, options);
  if (problem) return { ok: false, isFinal: true, why: problem };
  const send = target.protocol === "https:" ? httpsRequest : httpRequest;
  return new Promise((resolve) => {
    const fail = (error: Error) => resolve({ ok: false, isFinal: error instanceof DeniedAddress, why: error.message });
    const headers = {
      ...message.headers,
      "content-length": Buffer.byteLength(message.body).toString(),
      "user-agent": "askd",
    };
    const outgoing = send(
      target,
      { method: "POST", headers, lookup: checkedLookup(options), agent: false },
      (response) => {
        let bytes = 0;
        response.on("data", (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > MOST_RESPONSE_BYTES) response.destroy();
        });
        response.on("error", fail);
        response.on("close", () => resolve(judge(response.statusCode ?? 0, response.headers["retry-after"])));
      },
    );
    outgoing.setTimeout(TIMEOUT_MS, () => outgoing.destroy(new Error(`no reply within ${TIMEOUT_MS / 1000} s`)));
    outgoing.on("error", fail);
    outgoing.end(message.body);
  });
}

/** Says whether an address must not be called: this machine, private networks, and forms that wrap them. */
export function isDenied(address: string, options: PostOptions): boolean {
  const plain = unwrap(address);
  if (LOOPBACK.check(plain, isIPv4(plain) ? "ipv4" : "ipv6")) return !options.allowLoopback;
  return DENIED.check(plain, isIPv4(plain) ? "ipv4" : "ipv6");
}

class DeniedAddress extends Error {}

function findProblem(target: URL, options: PostOptions): string | undefined {
  if (target.protocol !== "https:" && !(target.protocol === "http:" && options.allowLoopback))
    return `${target.protocol} is not allowed, use https:`;
  const host = target.hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) && isDenied(host, options)) return `${host} is not a public address`;
  return undefined;
}

function checkedLookup(options: PostOptions): LookupFunction {
  return (host, lookupOptions, callback) => {
    lookup(host, { ...lookupOptions, all: true }, (error, addresses) => {
      if (error) return callback(error, "", 0);
      const allowed = addresses.filter(({ address }) => !isDenied(address, options));
      const first = allowed[0];
      // One bad address spoils the name: it may be an attempt to get behind the check.
      if (!first || allowed.length < addresses.length)
        return callback(new DeniedAddress(`${host} is not a public address`), "", 0);
      if (lookupOptions.all) return callback(null, allowed);
      return callback(null, first.address, first.family);
    });
  };
}

function judge(status: number, retryAfter: string | undefined): Posted {
  const seconds = Number(retryAfter);
  return {
    ok: status >= 200 && status < 300,
    isFinal: status === 410,
    why: `status ${status}`,
    ...(retryAfter !== undefined && Number.isFinite(seconds) && { retryAfterMs: Math.min(seconds, 86_400) * 1000 }),
  };
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
const DENIED_V6: Array<[string, number]> = [
  ["::", 128],
  ["100::", 64],
  ["2001:db8::", 32],
  ["fc00::", 7],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
  ["5f00::", 16],
];
for (const [net, bits] of DENIED_V4) DENIED.addSubnet(net, bits, "ipv4");
for (const [net, bits] of DENIED_V6) DENIED.addSubnet(net, bits, "ipv6");

/** The IPv4 address inside a mapped, NAT64, 6to4 or Teredo address; any other as it is. */
function unwrap(address: string): string {
  if (isIPv4(address)) return address;
  const parts = expand(address);
  const [a = 0, b = 0] = parts;
  const low = parts.slice(6);
  const isMapped =
    parts.slice(0, 5).every((part) => part === 0) && (parts[5] === 0xffff || (parts[5] === 0 && (low[0] ?? 0) > 0));
  if (isMapped || (a === 0x64 && b === 0xff9b)) return dotted(low);
  if (a === 0x2002) return dotted(parts.slice(1, 3));
  if (a === 0x2001 && b === 0) return dotted(low.map((part) => part ^ 0xffff));
  return address;
}

function dotted([high = 0, low = 0]: number[]): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

/** The eight groups of an IPv6 address. */
function expand(address: string): number[] {
  const text = new URL(`http://[${address.split("%")[0]}]`).hostname.slice(1, -1);
  const [head = "", tail] = text.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const gap = tail === undefined ? [] : Array.from({ length: 8 - left.length - right.length }, () => "0");
  return [...left, ...gap, ...right].map((part) => Number.parseInt(part, 16));
}
