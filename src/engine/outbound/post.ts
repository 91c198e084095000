import { lookup } from "node:dns";
import { type IncomingHttpHeaders, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { LookupFunction } from "node:net";
import { type AddressOptions, findProblem, isDenied } from "./public-address.ts";

const TIMEOUT_MS = 15_000;
const MOST_RESPONSE_BYTES = 64 * 1024;

/** The result of a request. `isFinal` means that a retry is useless. */
export type PostResult = { ok: boolean; isFinal: boolean; why: string; retryAfterMs?: number };

/** A request to an address that somebody gave us. */
export interface OutboundRequest {
  method: string;
  headers: Readonly<Record<string, string>>;
  body?: string | undefined;
  signal?: AbortSignal | undefined;
}

export interface OutboundReply {
  status: number;
  headers: IncomingHttpHeaders;
  /** At most 64 kB of it. */
  body: string;
}

/** Sends a message to an address that somebody gave us, and says whether it arrived. */
export async function post(
  url: string,
  message: { body: string; headers: Record<string, string> },
  options: AddressOptions,
): Promise<PostResult> {
  try {
    const { status, headers } = await request(url, { method: "POST", ...message }, options);
    return judge(status, headers["retry-after"]);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { ok: false, isFinal: error instanceof DeniedAddress, why: error.message };
  }
}

/**
 * Sends a request to an address that somebody gave us. The name is resolved once, the addresses are checked, and only a
 * checked one is connected to; redirects are not followed.
 */
export async function request(url: string, asked: OutboundRequest, options: AddressOptions): Promise<OutboundReply> {
  const target = new URL(url);
  const problem = findProblem(target, options);
  if (problem) throw new DeniedAddress(problem);
  const send = target.protocol === "https:" ? httpsRequest : httpRequest;
  const { method, body, signal } = asked;
  const headers = {
    ...asked.headers,
    ...(body !== undefined && { "content-length": Buffer.byteLength(body).toString() }),
    "user-agent": "askd",
  };
  return new Promise((resolve, reject) => {
    const outgoing = send(
      target,
      { method, headers, signal, lookup: checkedLookup(options), agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on("data", (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > MOST_RESPONSE_BYTES) response.destroy();
          else chunks.push(chunk);
        });
        response.on("error", reject);
        response.on("close", () => {
          const text = Buffer.concat(chunks).toString("utf8");
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text });
        });
      },
    );
    outgoing.setTimeout(TIMEOUT_MS, () => outgoing.destroy(new Error(`no reply within ${TIMEOUT_MS / 1000} s`)));
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

class DeniedAddress extends Error {}

function checkedLookup(options: AddressOptions): LookupFunction {
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

function judge(status: number, retryAfter: string | undefined): PostResult {
  const seconds = Number(retryAfter);
  return {
    ok: status >= 200 && status < 300,
    isFinal: status === 410,
    why: `status ${status}`,
    ...(retryAfter !== undefined && Number.isFinite(seconds) && { retryAfterMs: Math.min(seconds, 86_400) * 1000 }),
  };
}
