import { createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { QuestionId } from "../../core/id.ts";
import { Instant } from "../../core/instant.ts";
import { AfterHold } from "../../core/question.ts";

/** Older clients take an event without data for a broken message. */
const FIRST_PROTOCOL = "2025-11-25";
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

/**
 * The first event of a stream, which has nothing but an id: a client that loses the stream comes back with it.
 * Undefined where the client does not know such events.
 */
export function firstEvent(
  stream: HeldStream,
  { tokenId, retryMs }: { tokenId: string; retryMs: number },
): string | undefined {
  if (stream.protocol < FIRST_PROTOCOL) return undefined;
  const id = writeStreamId(stream, tokenId);
  return id.length > LONGEST_ID ? undefined : `id: ${id}\nretry: ${retryMs}\ndata: \n\n`;
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

function writeStreamId(stream: HeldStream, tokenId: string): string {
  const { requestId, questionId, since, until, after, protocol, progressToken = null } = stream;
  const fields: z.infer<typeof Fields> = [requestId, questionId, since, until, after, protocol, progressToken];
  const payload = Buffer.from(JSON.stringify(fields)).toString("base64url");
  return `${payload}.${sealOf(payload, tokenId)}`;
}

/** Only the store and the bearer know what a token is kept under; every server on that store makes the same seal. */
function sealOf(payload: string, tokenId: string): string {
  return createHmac("sha256", tokenId).update(payload).digest("base64url");
}
