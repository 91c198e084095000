import type { TrailMismatch } from "../../core/trail/trail-mismatch.ts";

/**
 * Checks the numbers by which a store finds questions for their words: the first question has 1, each later one the
 * next, in the order of the lines that first name them. Questions of one import have one line.
 */
export class QuestionOrder {
  readonly #places: number[] = [];
  readonly #lines: number[] = [];

  note(place: number, line: number): void {
    this.#places.push(place);
    this.#lines.push(line);
  }

  findFlaws(): TrailMismatch[] {
    const lineAt = new Map<number, number>();
    this.#places.forEach((place, index) => lineAt.set(place, this.#lines[index] ?? 0));
    let line = 0;
    for (let place = 1; place <= this.#places.length; place += 1) {
      const next = lineAt.get(place);
      if (next === undefined || next < line) return [{ is: "row_changed", row: `number ${place} of the questions` }];
      line = next;
    }
    return [];
  }
}
