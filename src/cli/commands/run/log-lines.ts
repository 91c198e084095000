import type { Agent, Sight } from "../../../agents/agent.ts";
import { findCallDetail } from "../../../agents/runner/call-detail.ts";
import { unreachable } from "../../../core/unreachable.ts";
import { oneLine, sanitise } from "../../view/sanitise.ts";
import { type Style, cutCells } from "../../terminal/terminal.ts";

const RESULT_CELLS = 100;

/** Says what one start of an agent did, line by line, in words that are safe to print. */
export class LogLines {
  readonly #agent: Pick<Agent, "read">;
  readonly #style: Style;
  /** The beginning of a line whose end the model has not written yet. */
  #words = "";

  constructor(agent: Pick<Agent, "read">, style: Style) {
    this.#agent = agent;
    this.#style = style;
  }

  /** What a line of the agent's output says to a reader; often nothing. */
  take(line: string): string[] {
    return this.#agent.read(line).flatMap((sight) => this.#say(sight, line));
  }

  /** No more will come. */
  end(): string[] {
    const left = this.#words;
    this.#words = "";
    return left === "" ? [] : [sanitise(left)];
  }

  #say(sight: Sight, line: string): string[] {
    if (sight.kind === "text" && sight.isPiece) return this.#add(sight.text);
    const said = this.#sayWhole(sight, line);
    return said.length > 0 ? [...this.end(), ...said] : [];
  }

  #add(piece: string): string[] {
    const lines = (this.#words + piece).split("\n");
    this.#words = lines.pop() ?? "";
    return lines.map(sanitise);
  }

  #sayWhole(sight: Sight, line: string): string[] {
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

/** The first line of a result, and how many there are. */
function shorten(text: string): string {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const first = cutCells(oneLine(lines[0] ?? "(nothing)"), RESULT_CELLS);
  return lines.length > 1 ? `${first} (${lines.length} lines)` : first;
}
