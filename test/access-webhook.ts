import { Webhook } from "standardwebhooks";
import type { Case } from "./access-case.ts";
import { NAMES, type PreparedCase, wordsOf } from "./access-request.ts";
import type { Scene } from "./scene.ts";
import type { Got, ServedScene } from "./served.ts";
import { hooksPart } from "../src/server/hooks.ts";

const HOOK = "pager";
const SECRET = secretOf("what the program and askd know");
const WRONG_SECRET = secretOf("what somebody else made up");

function secretOf(text: string): string {
  return `whsec_${Buffer.from(text).toString("base64")}`;
}

/** The address where a program posts signed answers, which may say whose they are. */
export function webhooksPart({ engine, local }: Scene, onBug: (error: unknown) => void) {
  const hooks = [{ name: HOOK, readSecret: () => SECRET, isOnBehalf: true }];
  return hooksPart({ receive: local.receiveHook, answers: { engine, hooks }, onBug });
}

/** Posts an answer in somebody's name; a stranger knows another secret. */
export function postAnswer(one: Case, { id }: PreparedCase, at: ServedScene): Promise<Got> {
  const message = `msg_${id}`;
  const body = JSON.stringify({ question_id: id, answer: wordsOf(one), answered_by: NAMES[one.who] ?? "ada" });
  const sentAt = new Date(at.scene.now);
  const signature = new Webhook(one.who === "stranger" ? WRONG_SECRET : SECRET).sign(message, sentAt, body);
  const headers = {
    "webhook-id": message,
    "webhook-timestamp": String(sentAt.getTime() / 1000),
    "webhook-signature": signature,
  };
  return at.send("POST", `/hooks/${HOOK}`, { body, headers });
}
