import { AnswerInput } from "../answer/answer-input.ts";
import type { Content, Option } from "../question/content.ts";
import { HOUR_MS } from "../instant.ts";
import { Refusal } from "../refusal.ts";
import { parseDuration } from "../text/duration.ts";

/** The act that a reply asks for. */
export type ReplyAct =
  | { do: "answer"; input: AnswerInput }
  | { do: "claim" }
  | { do: "snooze"; ms: number }
  | { do: "undo" };

const CLAIM = /^(?:\/claim|claim|i['’]?m on it|ich mache das)[.!]?$/i;
const UNDO = "/undo";
const SNOOZE = /^(?:\/snooze|snooze)(?:\s+(\d+\s*[smhd]))?[.!]?$/i;
const DECIDE = /^(?:\/decide|you decide|entscheide selbst)[.!]?$/i;
const CLARIFY = /^(?:\/ask|\?)\s*(\S[\s\S]*)$/i;

/**
 * Reads a reply from any channel by the same rules: an option, on its own or on a first line with a reason below it;
 * then the words for claiming, snoozing, leaving the choice to the agent and asking back; then the answer in the
 * person's own words. The name of an option always means that option.
 */
export function readReply(content: Content, text: string): ReplyAct {
  const said = text.trim();
  const [first = "", ...rest] = said.split(/\r?\n/);
  const note = rest.join("\n").trim();
  if (isOption(content, said)) return answering({ answer: said });
  if (note !== "" && isOption(content, first.trim())) return answering({ answer: first.trim(), note });
  if (CLAIM.test(said)) return { do: "claim" };
  if (said === UNDO) return { do: "undo" };
  const snooze = SNOOZE.exec(said);
  if (snooze)
    return { do: "snooze", ms: snooze[1] === undefined ? HOUR_MS : parseDuration(snooze[1].replace(/\s/g, "")) };
  if (DECIDE.test(said)) return answering({ outcome: "decide" });
  const back = CLARIFY.exec(said)?.[1];
  if (back !== undefined) return answering({ outcome: "clarify", note: back });
  return answering({ answer: said });
}

/** Reads the answer of a typed command, which has one line: the words after an option are its reason. */
export function readCommand(content: Content, text: string): ReplyAct {
  const [, first = "", note = ""] = /^(\S+)\s+(\S[\s\S]*)$/.exec(text.trim()) ?? [];
  return isOption(content, first) && !isOption(content, text.trim())
    ? answering({ answer: first, note })
    : readReply(content, text);
}

/**
 * Reads what a button says: the key of an option as the button shows it, or a command. A button has no words of its own,
 * so anything else was altered on its way.
 */
export function readPress(content: Content, text: string): ReplyAct {
  const [item, ...others] = content.items;
  const isKey = others.length === 0 && item?.options.some(({ key }) => key.toUpperCase() === text);
  if (isKey) return answering({ answer: text });
  const act = text.startsWith("/") ? readReply(content, text) : undefined;
  if (act && (act.do !== "answer" || act.input.outcome === "decide")) return act;
  throw new Refusal("no_such_option", "This is none of the question's buttons; nothing was changed");
}

/** Says whether a reply names an option, on its own or on its first line. */
export function namesOption(content: Content, text: string): boolean {
  const said = text.trim();
  return isOption(content, said) || isOption(content, (said.split(/\r?\n/)[0] ?? "").trim());
}

function answering(input: Partial<AnswerInput>): ReplyAct {
  return { do: "answer", input: AnswerInput.parse(input) };
}

function isOption({ items }: Content, text: string) {
  const [item, ...others] = items;
  if (!item || others.length > 0 || text === "") return false;
  return item.options.some((option, index) => namesOf(option, index).includes(text.toLowerCase()));
}

function namesOf({ key, value, label }: Option, index: number) {
  return [key, value, label, String(index + 1)].map((name) => name.toLowerCase());
}
