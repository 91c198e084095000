import { z } from "zod";
import type { ChannelResult } from "../../core/channel/channel.ts";
import { networkFailure } from "../outbound.ts";

type Failure = Extract<ChannelResult, { ok: false }>;

/** The reports of adapters about a failed request: some have the reply, some its status and text. */
const Reported = z.looseObject({
  status: z.int().optional(),
  error: z.unknown(),
});
const Replied = z.looseObject({
  response: z.looseObject({ status: z.int(), headers: z.unknown() }),
});
const DiscordProblem = z.looseObject({
  message: z.string().catch(""),
  code: z.int().optional(),
  retry_after: z.number().optional(),
});
const Thrown = z.looseObject({ name: z.string().catch(""), originalError: z.unknown() });

/** A failed request as far as it is known. */
export interface ReportedFailure {
  status: number;
  retryAfterMs?: number | undefined;
  why?: string | undefined;
}

/** Reads a report that an adapter writes to its log: the errors that they throw lack the status, or the time to wait. */
export function readReport(details: unknown): ReportedFailure | undefined {
  const report = Reported.safeParse(details);
  if (!report.success) return undefined;
  const { status, error } = report.data;
  const replied = Replied.safeParse(error);
  if (replied.success) {
    const { status: code, headers } = replied.data.response;
    // The library's headers are an object of its own kind.
    const named = headers !== null && typeof headers === "object" && "retry-after" in headers ? headers : undefined;
    const seconds = Number(named?.["retry-after"] ?? Number.NaN);
    return { status: code, retryAfterMs: Number.isFinite(seconds) ? seconds * 1000 : undefined };
  }
  if (status === undefined) return undefined;
  const problem = DiscordProblem.safeParse(parseText(error));
  if (!problem.success) return { status };
  const { retry_after: seconds, message } = problem.data;
  return { status, why: message, retryAfterMs: seconds === undefined ? undefined : Math.ceil(seconds * 1000) };
}

function parseText(text: unknown): unknown {
  try {
    return typeof text === "string" ? JSON.parse(text) : undefined;
  } catch {
    return undefined; // the status says enough
  }
}

/** Decides what a failure means: gone, refused, limited, final, or worth another try. */
export function judgeFailure(error: unknown, reported: ReportedFailure | undefined, title: string): Failure {
  if (reported) return judgeStatus(reported, title);
  const thrown = Thrown.safeParse(error);
  const { name, originalError } = thrown.success ? thrown.data : { name: "", originalError: undefined };
  if (name === "AuthenticationError") return { ok: false, why: `${title} refuses the credentials`, isRefused: true };
  // The adapter refuses what the service would refuse too.
  if (name === "ValidationError") return { ok: false, why: sayError(error), isFinal: true };
  return networkFailure(originalError ?? error);
}

function judgeStatus({ status, why: said, retryAfterMs }: ReportedFailure, title: string): Failure {
  const why = said ? `${said.slice(0, 200)} (status ${status})` : `status ${status}`;
  if (status === 401) return { ok: false, why: `${title} refuses the token`, isRefused: true };
  if (status === 429) return { ok: false, why: `${title} limits the rate`, retryAfterMs };
  if (status === 403) return { ok: false, why: `the bot may not do this: ${why}`, isRefused: true };
  if (status === 404) return { ok: false, why, isGone: true };
  return { ok: false, why, isFinal: status === 400 || status === 413 || status === 422, mayBeThere: false };
}

export function sayError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
