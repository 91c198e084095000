import { createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { QuestionId } from "../../core/id.ts";
import { Instant } from "../../core/instant.ts";
import { AfterHold } from "../../core/question/question.ts";

/** The id after a reply. Some clients reconnect although they have their reply; with this id they get nothing more. */
const END = "end";
/** Both official clients come back twice, each time after this long: a server that restarts is there by then. */
export const RETRY_MS = 5_000;
const LONGEST_ID = 2_000;

const RequestId = z.union([z.string(), z.number()]);

/** A call that waits, with all that it takes to go on with it in a process that never saw its request. */
export interface HeldStream {
  requestId: string | number;
  questionId: QuestionId;
  since: Instant;
  until: Instant;
  after: AfterHold;
  protocol: string;
  progressToken?: string | number;
}

const Fields = z.tuple([RequestId, QuestionId, Instant, Instant, AfterHold, z.string(), RequestId.nullable()]);

/** The event before the reply of a held call: a client that loses the stream reconnects with its id. */
export function firstEvent(
  stream: HeldStream,
  { tokenId, retryMs }: { tokenId: string; retryMs: number },
): string | undefined {
  const id = writeStreamId(stream, tokenId);
  return id.length > LONGEST_ID ? undefined : `retry: ${retryMs}\n${eventOf(id)}`;
}

/** The event after the reply of a held call. */
export const LAST_EVENT = eventOf(END);

/** Whether a client that reconnects with this id has its reply. */
export function isAtEnd(id: string): boolean {
  return id === END;
}

/** The call that an id was made for, if it was made for the bearer of this token. */
export function readStreamId(id: string, tokenId: string): HeldStream | undefined {
  const [payload = "", seal = ""] = id.length > LONGEST_ID ? [] : id.split(".");
  const expected = Buffer.from(sealOf(payload, tokenId));
  const given = Buffer.from(seal);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  const fields = Fields.safeParse(JSON.parse(Buffer.from(payload, "base64url").toString("utf8")));
  if (!fields.success) return undefined; // a newer program made it
  const [requestId, questionId, since, until, after, protocol, progressToken] = fields.data;
  const stream = { requestId, questionId, since, until, after, protocol };
  return progressToken === null ? stream : { ...stream, progressToken };
}

/**
 * An event that carries only its id: without data, as the protocol suggests since 2025-11-25. Older clients, and some
 * newer ones, fail to parse that as a message; they ignore an event with another name, and still keep its id.
 */
function eventOf(id: string) {
  return `id: ${id}\nevent: stream\ndata: \n\n`;
}

function writeStreamId(stream: HeldStream, tokenId: string) {
  const { requestId, questionId, since, until, after, protocol, progressToken = null } = stream;
  const fields: z.infer<typeof Fields> = [requestId, questionId, since, until, after, protocol, progressToken];
  const payload = Buffer.from(JSON.stringify(fields)).toString("base64url");
  return `${payload}.${sealOf(payload, tokenId)}`;
}

/** Only the store and the bearer know what a token is kept under; every server on that store makes the same seal. */
function sealOf(payload: string, tokenId: string) {
  return createHmac("sha256", tokenId).update(payload).digest("base64url");
}
