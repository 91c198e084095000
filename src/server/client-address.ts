import { IncomingMessage } from "node:http";
import { isIPv6 } from "node:net";
import type { Context } from "hono";

const SITE_GROUPS = 4;

/**
 * The address by which callers without a credential are counted. A proxy adds the address of its own caller at the end of
 * X-Forwarded-For; anything before that was written by the caller itself.
 */
export function clientAddress(context: Context, isBehindProxy: boolean): string {
  const forwarded = isBehindProxy ? context.req.header("x-forwarded-for")?.split(",").at(-1)?.trim() : undefined;
  return siteOf(forwarded || remoteAddress(context));
}

function remoteAddress({ env }: Context): string {
  const around: unknown = env;
  if (around === null || typeof around !== "object" || !("incoming" in around)) return "";
  return around.incoming instanceof IncomingMessage ? (around.incoming.socket.remoteAddress ?? "") : "";
}

/** One customer of a network has a /64 of IPv6 addresses at least, so the first half is what is counted. */
function siteOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "").slice(0, 64);
  if (!isIPv6(plain)) return plain;
  const [head = "", tail] = plain.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const gap = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => "0");
  return [...left, ...gap, ...right].slice(0, SITE_GROUPS).join(":");
}
