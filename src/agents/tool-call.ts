import { z } from "zod";
import type { HookCall } from "../core/door/hook.ts";
import { approvalAsk } from "../core/question/approval.ts";

/** The fields that Codex and Gemini CLI write to every hook. */
export const Hook = z.looseObject({
  session_id: z.string().min(1),
  cwd: z.string().optional(),
  hook_event_name: z.string(),
});

type ToolCall = Pick<HookCall, "event" | "session" | "tool" | "input"> &
  Partial<Pick<HookCall, "dir" | "key" | "isSubagent" | "mode">> & {
    /** The ask of the agent's own question tool; without one the call asks for leave to use the tool. */
    question?: Record<string, unknown> | undefined;
    /** The agent's own reason for the use of a tool. */
    reason?: string | null | undefined;
  };

/** A use of a tool as a call to be decided: a question, or leave to use it. */
export function toolCall({ question, reason, ...use }: ToolCall): HookCall {
  const { tool, input } = use;
  return {
    is: question ? "question" : "approval",
    dir: undefined,
    key: undefined,
    isSubagent: false,
    ask: question ?? approvalAsk({ tool, input, reason: reason ?? undefined }),
    door: {},
    ...use,
  };
}
