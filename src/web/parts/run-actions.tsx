import { type Run, hasEnded } from "../../core/run/run.ts";
import { type PageReader, tell } from "./page-reader.ts";
import { mayResume } from "./run-badge.tsx";

/** Resumes or cancels a run; cancelling takes two steps. */
export function RunActions({ reader, run }: { reader: PageReader; run: Run }) {
  if (hasEnded(run)) return <div class="run-acts"></div>;
  const name = `#${run.number}`;
  return (
    <div class="run-acts">
      {mayResume(run) ? (
        <form data-plain method="post" action={`/r/${run.id}/resume`}>
          <input type="hidden" name="csrf" value={reader.csrf} />
          <button class="p" type="submit" title={tell(reader, "r.resume.about")}>
            {tell(reader, "r.resume")}
          </button>
        </form>
      ) : null}
      <details class="menu ends">
        <summary>
          {tell(reader, "r.cancel")}
          <span class="unseen"> {name}</span>
        </summary>
        <form class="panel" data-plain method="post" action={`/r/${run.id}/cancel`}>
          <input type="hidden" name="csrf" value={reader.csrf} />
          <p>{tell(reader, "r.cancel.about", { run: name })}</p>
          <button class="bad" type="submit">
            {tell(reader, "r.cancel.sure", { run: name })}
          </button>
        </form>
      </details>
    </div>
  );
}
