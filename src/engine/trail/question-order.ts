import type { TrailMismatch } from "../../core/trail/trail-mismatch.ts";

/**
 * Checks the numbers by which a store finds questions for their words: the first question has 1, each later one the
 * next, in the order of the lines that first name them. Questions of one import have one line.
 */
export class QuestionOrder {
  /** The line that first names the question with each number: one number for each question, however many there are. */
  readonly #lineAt: number[] = [];
  #count = 0;

  note(place: number, line: number): void {
    this.#lineAt[place] = line;
    this.#count += 1;
  }

  findFlaws(): TrailMismatch[] {
    let line = 0;
    for (let place = 1; place <= this.#count; place += 1) {
      const next = this.#lineAt[place];
      if (next === undefined || next < line) return [{ is: "row_changed", row: `number ${place} of the questions` }];
      line = next;
    }
    return [];
  }
}
