import type { Agent, AgentEvent } from "../../../agents/agent.ts";
import { findCallDetail } from "../../../agents/runner/call-detail.ts";
import { unreachable } from "../../../core/unreachable.ts";
import { oneLine, sanitise } from "../../view/sanitise.ts";
import { type Style, cutCells } from "../../terminal/terminal.ts";

const RESULT_CELLS = 100;

/** Turns the output of one start of an agent into readable, sanitised lines. */
export class LogLines {
  readonly #agent: Pick<Agent, "read">;
  readonly #style: Style;
  /** The beginning of a line that is not complete yet. */
  #words = "";

  constructor(agent: Pick<Agent, "read">, style: Style) {
    this.#agent = agent;
    this.#style = style;
  }

  /** The readable lines for one line of the agent's output; often none. */
  take(line: string): string[] {
    return this.#agent.read(line).flatMap((sight) => this.#say(sight, line));
  }

  /** Flushes the incomplete line at the end of the output. */
  end(): string[] {
    const left = this.#words;
    this.#words = "";
    return left === "" ? [] : [sanitise(left)];
  }

  #say(sight: AgentEvent, line: string): string[] {
    if (sight.kind === "text" && sight.isPiece) return this.#add(sight.text);
    const said = this.#sayWhole(sight, line);
    return said.length > 0 ? [...this.end(), ...said] : [];
  }

  #add(piece: string): string[] {
    const lines = (this.#words + piece).split("\n");
    this.#words = lines.pop() ?? "";
    return lines.map(sanitise);
  }

  #sayWhole(sight: AgentEvent, line: string): string[] {
    switch (sight.kind) {
      case "text":
        return sight.text === "" ? [] : sanitise(sight.text).split("\n");
      case "called": {
        const detail = oneLine(findCallDetail(line, sight.callId) ?? "");
        return [`→ ${oneLine(sight.name)}${detail === "" ? "" : ` ${cutCells(detail, RESULT_CELLS)}`}`];
      }
      case "shown":
        return [this.#style.dim(`  ${sight.isError ? "✗ " : ""}${shorten(sight.text)}`)];
      case "deferred":
        return [`→ ${oneLine(sight.name)} (waits for a person)`];
      case "warning":
        return [this.#style.yellow(`! ${oneLine(sight.text)}`)];
      case "ended": {
        if (sight.result.status === "completed") return [];
        const why = [sight.result.reason, sight.result.summary]
          .filter((part) => part)
          .map((part) => oneLine(part ?? ""));
        return [this.#style.red(`✗ ${[sight.result.status, ...why].join(": ")}`)];
      }
      case "session":
      case "usage":
        return [];
      default:
        return unreachable(sight);
    }
  }
}

/** The first line of a result, and the number of lines. */
function shorten(text: string): string {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const first = cutCells(oneLine(lines[0] ?? "(nothing)"), RESULT_CELLS);
  return lines.length > 1 ? `${first} (${lines.length} lines)` : first;
}
