import { type Json, isJson, textAt, valueAt } from "../json.ts";

/** Turns events of OpenCode's server for one session into lines of `opencode run --format json`. */
export class OpencodeLines {
  readonly #session: string;
  /** The server tells of a part again and again as it grows; `run` prints it once, when it is complete. */
  readonly #printed = new Set<string>();

  constructor(session: string) {
    this.#session = session;
  }

  /** The line for this event; nothing when `run` would print none. */
  read(event: Json): Json | undefined {
    if (textAt(event, "properties", "sessionID") !== this.#session) return undefined;
    if (event["type"] === "session.error") return this.#line("error", { error: valueAt(event, "properties", "error") });
    if (event["type"] !== "message.part.updated") return undefined;
    const part = valueAt(event, "properties", "part");
    const type = typeOf(part);
    const id = textAt(part, "id");
    if (type === undefined || id === undefined || this.#printed.has(id)) return undefined;
    this.#printed.add(id);
    return this.#line(type, { part });
  }

  #line(type: string, more: Json): Json {
    return { type, timestamp: Date.now(), sessionID: this.#session, ...more };
  }
}

/** How `run` calls a part that is complete. What a person said has no end. */
function typeOf(part: unknown): string | undefined {
  if (!isJson(part)) return undefined;
  switch (part["type"]) {
    case "step-start":
      return "step_start";
    case "step-finish":
      return "step_finish";
    case "text":
      return valueAt(part, "time", "end") === undefined ? undefined : "text";
    case "tool": {
      const status = textAt(part, "state", "status");
      return status === "completed" || status === "error" ? "tool_use" : undefined;
    }
    default:
      return undefined;
  }
}
