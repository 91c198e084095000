import { createHmac, timingSafeEqual } from "node:crypto";
import type { HookBatch, InboundHook } from "../../core/channel/channel.ts";
import { explainUnread, readDelivery } from "./incoming.ts";

/** How far the time of a request may be from ours: older ones may be repeated by somebody who saw them. */
const MOST_SKEW_S = 300;

/** Reads a request of Slack: an interaction, a command or an event. Undefined if Slack did not sign it, or not now. */
export function readHook(hook: InboundHook, at: { secret: string; nowMs: number }): HookBatch | undefined {
  if (!isSigned(hook, at)) return undefined;
  const delivery = readBody(hook);
  if (!delivery) return { replies: [] };
  const { type, body } = delivery;
  // Slack asks once whether the address is ours.
  if (type === "url_verification") return { replies: [], response: { challenge: body["challenge"] } };
  return { replies: readDelivery(type, body), response: explainUnread(delivery) };
}

/** Checks `v0=` and the HMAC of version, time and body, in constant time. */
function isSigned({ header, body }: InboundHook, { secret, nowMs }: { secret: string; nowMs: number }): boolean {
  const stamp = header("x-slack-request-timestamp") ?? "";
  const signature = header("x-slack-signature") ?? "";
  if (secret === "" || !/^\d{1,12}$/.test(stamp)) return false;
  if (Math.abs(nowMs / 1000 - Number(stamp)) > MOST_SKEW_S) return false;
  const expected = Buffer.from(`v0=${createHmac("sha256", secret).update(`v0:${stamp}:${body}`).digest("hex")}`);
  const given = Buffer.from(signature);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** The same kinds as over a connection: events are JSON, the others forms. */
function readBody({ header, body }: InboundHook): { type: string; body: Record<string, unknown> } | undefined {
  if (header("content-type")?.startsWith("application/json")) {
    const event = parseObject(body);
    return event && { type: event["type"] === "url_verification" ? "url_verification" : "events_api", body: event };
  }
  const form = new URLSearchParams(body);
  const payload = form.get("payload");
  if (payload === null) return { type: "slash_commands", body: Object.fromEntries(form) };
  const interaction = parseObject(payload);
  return interaction && { type: "interactive", body: interaction };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return parsed !== null && typeof parsed === "object" ? { ...parsed } : undefined;
  } catch {
    return undefined; // signed, and nothing that we know
  }
}
