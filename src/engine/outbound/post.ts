import { lookup } from "node:dns";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { LookupFunction } from "node:net";
import { type AddressOptions, findProblem, isDenied } from "./public-address.ts";

const TIMEOUT_MS = 15_000;
const MOST_RESPONSE_BYTES = 64 * 1024;

/** The result of a request. `isFinal` means that a retry is useless. */
export type PostResult = { ok: boolean; isFinal: boolean; why: string; retryAfterMs?: number };

/**
 * Sends a message to an address that somebody gave us. The name is resolved once, the addresses are checked,
 * and only a checked one is connected to; redirects are not followed.
 */
export async function post(
  url: string,
  message: { body: string; headers: Record<string, string> },
  options: AddressOptions,
): Promise<PostResult> {
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
