import { z } from "zod";
import { SECOND_MS } from "../core/instant.ts";

const ANSWER_MS = 3 * SECOND_MS;
const CONNECT_FAILED = new Set(["ECONNREFUSED", "ECONNRESET", "ENOTFOUND", "EHOSTUNREACH", "ENETUNREACH", "EAI_AGAIN"]);

const Health = z.object({ status: z.literal("ok") });
const Description = z.object({ info: z.object({ title: z.string(), version: z.string() }) });

/** The listener at an address: askd, another server, a silent one, or none. */
export type ServerAnswer =
  | { is: "askd"; version: string; ms: number; dateMs: number | undefined }
  | { is: "stranger" }
  | { is: "silent" }
  | { is: "nobody"; why: string };

/** Asks what answers at an address, within a time limit. */
export async function askServer(url: string): Promise<ServerAnswer> {
  try {
    const startedAt = performance.now();
    const health = await get(`${url}/health`);
    const ms = performance.now() - startedAt;
    if (!Health.safeParse(health.body).success) return { is: "stranger" };
    const { info } = Description.parse((await get(`${url}/openapi.json`)).body);
    if (info.title !== "askd") return { is: "stranger" };
    return { is: "askd", version: info.version, ms, dateMs: health.dateMs };
  } catch (error) {
    return failed(error);
  }
}

async function get(url: string): Promise<{ body: unknown; dateMs: number | undefined }> {
  const reply = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS), redirect: "error" });
  const body: unknown = await reply.json().catch(() => undefined); // what is no JSON is not ours
  const dateMs = Date.parse(reply.headers.get("date") ?? "");
  return { body, dateMs: Number.isNaN(dateMs) ? undefined : dateMs };
}

function failed(error: unknown): ServerAnswer {
  if (error instanceof Error && error.name === "TimeoutError") return { is: "silent" };
  const code = codeOf(error);
  if (code !== undefined && CONNECT_FAILED.has(code)) return { is: "nobody", why: code };
  // Something accepted the connection and did not speak HTTP.
  return { is: "stranger" };
}

function codeOf(error: unknown): string | undefined {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause ? String(cause.code) : undefined;
}
