import type { QuestionId } from "../../core/id.ts";

/** Which call has which question, as long as calls are under way. Each has one at most. */
export class CallClaims {
  readonly #owners = new Map<QuestionId, unknown>();
  readonly #questions = new Map<unknown, QuestionId>();

  /** Gives the question to this call, unless another has it. */
  take(id: QuestionId, owner: unknown): boolean {
    if ((this.#owners.get(id) ?? owner) !== owner) return false;
    this.release(owner);
    this.#owners.set(id, owner);
    this.#questions.set(owner, id);
    return true;
  }

  release(owner: unknown): void {
    const id = this.#questions.get(owner);
    if (id === undefined) return;
    this.#questions.delete(owner);
    this.#owners.delete(id);
  }

  /** The call that has it. */
  ownerOf(id: QuestionId): unknown {
    return this.#owners.get(id);
  }
}
