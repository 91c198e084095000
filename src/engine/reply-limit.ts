import { type Actor, actorName } from "../core/people/actor.ts";
import { MINUTE_MS } from "../core/instant.ts";
import { Refusal } from "../core/refusal.ts";
import { RecentCache } from "./recent.ts";

const REMEMBERED = 5_000;

/** Lets one person reply to one question only so often within a minute. */
export class ReplyLimit {
  readonly #perMinute: number;
  readonly #times = new RecentCache<number[]>(REMEMBERED);

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  count(by: Actor, questionId: string, nowMs: number): void {
    const name = `${actorName(by)} ${questionId}`;
    const recent = (this.#times.get(name) ?? []).filter((time) => nowMs - time < MINUTE_MS);
    const oldest = recent[0];
    if (recent.length >= this.#perMinute && oldest !== undefined) {
      const waitMs = MINUTE_MS - (nowMs - oldest);
      throw new Refusal(
        "rate_limited",
        `You replied ${recent.length} times within a minute; try again in ${Math.ceil(waitMs / 1000)} s`,
        {
          retryAfterMs: waitMs,
        },
      );
    }
    this.#times.set(name, [...recent, nowMs]);
  }
}
