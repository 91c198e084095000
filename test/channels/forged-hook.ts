import { createHmac } from "node:crypto";
import { readHook } from "../../src/channels/slack/hook.ts";
import type { InboundHook } from "../../src/core/channel/channel.ts";

const SECRET = "8f742231b10e8888abcd99yyyzzz85a5";
const NOW_S = 1_800_000_000;
/** A request as it is on its way. */
interface SentHook {
  body: string;
  headers: Record<string, string>;
}

/** Signs a body as Slack does. */
export function signHook(body: string, type: string, { secret = SECRET, at = NOW_S } = {}): SentHook {
  const signature = `v0=${createHmac("sha256", secret).update(`v0:${at}:${body}`).digest("hex")}`;
  return {
    body,
    headers: { "content-type": type, "x-slack-request-timestamp": String(at), "x-slack-signature": signature },
  };
}

export function hookOf({ body, headers }: SentHook): InboundHook {
  return { body, header: (name) => headers[name.toLowerCase()] };
}

const FORM = "application/x-www-form-urlencoded";
const PRESS = {
  type: "block_actions",
  user: { id: "U0MIKA" },
  channel: { id: "C0AGENTS" },
  container: { message_ts: "1700000001.000100" },
  trigger_id: "1.2.a",
  actions: [{ block_id: "token", action_id: "choose:A", action_ts: "1700000002.1", value: "A" }],
};
const SAID = {
  type: "event_callback",
  event: {
    type: "message",
    channel: "C0AGENTS",
    user: "U0MIKA",
    text: "A",
    ts: "1700000003.1",
    thread_ts: "1700000001.000100",
  },
};
const GENUINE = [
  signHook(new URLSearchParams({ payload: JSON.stringify(PRESS) }).toString(), FORM),
  signHook("command=%2Fanswer&text=q-456+A&user_id=U0MIKA&channel_id=C0AGENTS&trigger_id=3.4.b", FORM),
  signHook(JSON.stringify(SAID), "application/json"),
];

/** Each way to forge a request: none may be accepted. */
const FORGERIES: ReadonlyArray<(hook: SentHook, random: () => number) => SentHook> = [
  (hook, random) => ({ ...hook, body: mutate(hook.body, random) }),
  (hook, random) => withHeader(hook, "x-slack-signature", (value) => mutate(value, random)),
  (hook, random) => withHeader(hook, "x-slack-request-timestamp", (value) => mutate(value, random)),
  (hook) => withHeader(hook, "x-slack-signature", (value) => value.toUpperCase()),
  (hook) => withHeader(hook, "x-slack-signature", (value) => value.slice("v0=".length)),
  (hook, random) =>
    withHeader(hook, "x-slack-signature", (value) => value.slice(0, Math.floor(random() * value.length))),
  (hook) => withHeader(hook, "x-slack-signature", () => ""),
  (hook) => withHeader(hook, "x-slack-request-timestamp", () => ""),
  (hook, random) => ({ ...hook, body: hook.body.slice(0, Math.floor(random() * hook.body.length)) }),
  (hook, random) => ({ ...hook, body: `${hook.body}&x=${random()}` }),
  (hook, random) => signHook(hook.body, typeOf(hook), { secret: mutate(SECRET, random) }),
  (hook) => signHook(hook.body, typeOf(hook), { secret: "" }),
  // True requests, from too long ago or from the future.
  (hook, random) => signHook(hook.body, typeOf(hook), { at: NOW_S - 301 - Math.floor(random() * 1e6) }),
  (hook, random) => signHook(hook.body, typeOf(hook), { at: NOW_S + 301 + Math.floor(random() * 1e6) }),
  // The signature of one request with the body of another.
  (hook, random) => ({ ...hook, body: (GENUINE[Math.floor(random() * GENUINE.length)] ?? hook).body }),
];

/** Brings forged and mutated requests to the channel; returns how many were accepted, and whether genuine ones are. */
export function bringForgedHooks(count: number, seed: number): { forged: number; accepted: number; genuine: number } {
  const read = (hook: SentHook) => readHook(hookOf(hook), { secret: SECRET, nowMs: NOW_S * 1000 });
  const random = randomFrom(seed);
  const isAccepted = (hook: SentHook) => read(hook) !== undefined;
  let forged = 0;
  let accepted = 0;
  for (let at = 0; forged < count; at += 1) {
    const hook = GENUINE[at % GENUINE.length];
    const forge = FORGERIES[Math.floor(random() * FORGERIES.length)];
    const made = hook && forge?.(hook, random);
    // A change may leave everything as it was.
    if (!hook || !made || JSON.stringify(made) === JSON.stringify(hook)) continue;
    forged += 1;
    if (isAccepted(made)) accepted += 1;
  }
  const genuine = GENUINE.map((hook) => read(hook)?.replies.length ?? 0);
  return { forged, accepted, genuine: genuine.reduce((sum, each) => sum + each, 0) };
}

function typeOf({ headers }: SentHook) {
  return headers["content-type"] ?? "";
}

function withHeader(hook: SentHook, name: string, change: (value: string) => string): SentHook {
  return { ...hook, headers: { ...hook.headers, [name]: change(hook.headers[name] ?? "") } };
}

/** Changes, adds, removes or swaps characters. */
function mutate(text: string, random: () => number): string {
  const at = Math.floor(random() * text.length);
  const character = String.fromCharCode(33 + Math.floor(random() * 90));
  const kinds = [
    () => `${text.slice(0, at)}${character}${text.slice(at + 1)}`,
    () => `${text.slice(0, at)}${character}${text.slice(at)}`,
    () => `${text.slice(0, at)}${text.slice(at + 1)}`,
    () => `${text.slice(0, at)}${text[at + 1] ?? ""}${text[at] ?? ""}${text.slice(at + 2)}`,
  ];
  return kinds[Math.floor(random() * kinds.length)]?.() ?? text;
}

/** A small generator: the same seed, the same forgeries. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
