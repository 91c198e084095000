import type { ResumeAttempt } from "../../core/run/resume-attempt.ts";
import { msBetween } from "../../core/instant.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { type PageReader, tell, tellSpan } from "./reader.ts";
import { Moment } from "./time.tsx";

/** Attempts to resume a run: when, by which worker, and how each ended. */
export function Attempts({ reader, attempts }: { reader: PageReader; attempts: readonly ResumeAttempt[] }) {
  if (attempts.length === 0) return null;
  return (
    <section id="resumes">
      <h2>
        {tell(reader, "r.tries")} ({attempts.length})
      </h2>
      <ol class="timeline">
        {attempts.map((attempt) => (
          <li class={attempt.end?.state === "failed" ? "failed" : "step"}>
            <Moment reader={reader} at={attempt.at} /> {sayEnd(reader, attempt)}
            <br />
            <span class="quiet">
              {tell(reader, "r.try.claim", { n: attempt.epoch })}
              {attempt.worker === undefined ? null : (
                <>
                  {" "}
                  · <code>{makeVisible(attempt.worker)}</code>
                </>
              )}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function sayEnd(reader: PageReader, { at, end }: ResumeAttempt): string {
  if (!end) return tell(reader, "r.try.going");
  const span = tellSpan(reader, Math.max(0, msBetween(at, end.at)), 2);
  if (end.state !== "failed") return tell(reader, `r.try.${end.state}`, { span });
  const why =
    end.failure === undefined
      ? tell(reader, `r.why.${end.why ?? "not_taken"}`, { span })
      : tell(reader, "r.try.failed", { why: makeVisible(end.failure) });
  return end.nextMs === undefined ? why : `${why}${why.endsWith(".") ? "" : "."} ${nextWords(reader, end.nextMs)}`;
}

function nextWords(reader: PageReader, nextMs: number): string {
  return nextMs === 0 ? tell(reader, "r.try.now") : tell(reader, "r.try.next", { span: tellSpan(reader, nextMs) });
}
