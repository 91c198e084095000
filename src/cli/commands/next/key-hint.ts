import { mayForce } from "../../../core/force.ts";
import { unreachable } from "../../../core/unreachable.ts";
import { sayOutcomeRefused } from "./submit-answer.ts";
import { type State, stepNow } from "./next-state.ts";

/** The keys that do something now, the most important one first and the way to all of them last. */
export function keysNow(state: State): string[] {
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
      return ["any key goes back"];
    case "closed":
      return closedKeys(state);
    case "empty":
      return [state.isFollowing ? "Waiting for questions." : "", ...(state.last ? ["u undo"] : []), "q leave"];
    case "busy":
      return ["…"];
    default:
      return unreachable(mode);
  }
}

/** Every key with what it does. */
export function allKeys(): ReadonlyArray<readonly [string, string]> {
  return [
    ["1-9", "select (or tick); nothing is sent before ↵"],
    ["j k ↑ ↓", "move"],
    ["space", "tick, where several can be chosen"],
    ["↵", "answer with what is selected"],
    ["r", "write an answer"],
    ["e", "write it in your editor"],
    ["t", "start from a template"],
    ["n", "add a note for the agent"],
    ["m", "ask back"],
    ["y", "leave the choice to the agent"],
    ["tab", "next item; shift-tab goes back"],
    ["d", "what the agent has changed"],
    ["v", "everything about the question"],
    ["PgDn", "scroll the context"],
    ["s", "skip it for now"],
    ["h", "snooze: out of sight for a while"],
    ["+", "extend the deadline"],
    ["c", "claim it, or give it back"],
    ["o", "open it in the browser"],
    ["x", "stop the run"],
    ["u", "take the last answer back"],
    ["q", "leave; Ctrl-C too, Ctrl-Z for a while"],
  ];
}

function chooseKeys(state: State): string[] {
  const question = state.card?.read.question;
  const run = state.card?.read.run;
  const now = stepNow(state);
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

function closedKeys({ card, kept }: State): string[] {
  const isForceable = card !== undefined && mayForce(card.read.run, card.read.question);
  return [
    "↵ next",
    ...(kept === "" ? [] : ["c copy", "n send as a comment"]),
    ...(isForceable ? ["f answer anyway"] : []),
    "q leave",
  ];
}
