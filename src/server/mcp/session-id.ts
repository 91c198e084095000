import { randomBytes } from "node:crypto";
import { z } from "zod";
import type { ClientName } from "../../core/door/client-profile.ts";

const NAME_CHARS = 60;
const Named = z.object({ n: z.string().max(NAME_CHARS), v: z.string().max(NAME_CHARS) });

/**
 * A session id that carries the client's name, so that a request of the older era, which no longer says who sent it,
 * can be served by any process. It proves nothing: it is what the client itself said.
 */
export function newSessionId({ name, version }: ClientName): string {
  const named = JSON.stringify({ n: name.slice(0, NAME_CHARS), v: version.slice(0, NAME_CHARS) });
  return `${Buffer.from(named).toString("base64url")}.${randomBytes(12).toString("hex")}`;
}

/** The client that a session id was made for, if it is one of ours. */
export function parseSessionId(id: string | undefined): ClientName | undefined {
  const [named, random] = id?.split(".") ?? [];
  if (named === undefined || !/^[0-9a-f]{24}$/.test(random ?? "")) return undefined;
  const parsed = Named.safeParse(readJson(Buffer.from(named, "base64url").toString("utf8")));
  return parsed.success ? { name: parsed.data.n, version: parsed.data.v } : undefined;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // not one of ours
  }
}
