import { mayForce } from "../../../core/question/question.ts";
import { unreachable } from "../../../core/unreachable.ts";
import { sayOutcomeRefused } from "./submit-answer.ts";
import { type NextState, currentStep } from "./next-state.ts";

/** Hints for the keys that work now: the most important one first, the list of all keys last. */
export function availableKeys(state: NextState): string[] {
  const { mode } = state;
  switch (mode.at) {
    case "choose":
      return chooseKeys(state);
    case "answer":
      return ["↵ answer", "Ctrl-J new line", "Esc back"];
    case "write":
      return ["↵ done", "Esc back"];
    case "sure":
      return mode.of === "same" ? ["↵ all", "n only this one", "Esc back"] : ["↵ yes", "Esc back"];
    case "templates":
      return ["↵ use", "j k move", "Esc back"];
    case "keys":
      return ["any key closes"];
    case "closed":
      return closedKeys(state);
    case "empty":
      return [state.isFollowing ? "Waiting for questions." : "", ...(state.last ? ["u undo"] : []), "q quit"];
    case "busy":
      return ["…"];
    default:
      return unreachable(mode);
  }
}

/** All keys with their actions. */
export function allKeys(): ReadonlyArray<readonly [string, string]> {
  return [
    ["1-9", "select (or tick); nothing is sent before ↵"],
    ["j k ↑ ↓", "move"],
    ["space", "tick, if several can be chosen"],
    ["↵", "answer with the selection"],
    ["r", "write an answer"],
    ["e", "write it in your editor"],
    ["t", "start from a template"],
    ["n", "add a note for the agent"],
    ["m", "ask back"],
    ["y", "let the agent decide"],
    ["tab", "next item; shift-tab goes back"],
    ["d", "show the agent's changes"],
    ["v", "show the question in full"],
    ["PgDn", "scroll the context"],
    ["s", "skip it for now"],
    ["h", "snooze: hide it for a while"],
    ["+", "extend the deadline"],
    ["c", "claim or release it"],
    ["o", "open it in the browser"],
    ["x", "stop the run"],
    ["u", "undo the last answer"],
    ["q", "quit; Ctrl-C too; Ctrl-Z suspends"],
  ];
}

function chooseKeys(state: NextState): string[] {
  const question = state.card?.read.question;
  const run = state.card?.read.run;
  const now = currentStep(state);
  const work = state.known?.work;
  const counts = work ? ` +${work.added} -${work.removed}` : "";
  const isWriting = now !== undefined && now.step.choices.length === now.pick.cursor;
  const isMine = question?.claim?.by.id === state.user;
  return [
    isWriting ? "↵ write" : "↵ answer",
    ...(now?.step.multiple ? ["space tick"] : []),
    ...(state.last ? ["u undo"] : []),
    ...(now?.step.allowText ? ["e editor"] : []),
    ...(work || (run?.dir !== undefined && run.agent !== "none") ? [`d diff${counts}`] : []),
    ...(sayOutcomeRefused(state, "clarify") === undefined ? ["m ask back"] : []),
    ...(sayOutcomeRefused(state, "decide") === undefined ? ["y you decide"] : []),
    "h snooze",
    ...(isMine ? ["c release"] : []),
    "s skip",
    "o browser",
    "? keys",
  ];
}

function closedKeys({ card, kept }: NextState): string[] {
  const isForceable = card !== undefined && mayForce(card.read.run, card.read.question);
  return [
    "↵ next",
    ...(kept === "" ? [] : ["c copy", "n send as a comment"]),
    ...(isForceable ? ["f answer anyway"] : []),
    "q quit",
  ];
}
