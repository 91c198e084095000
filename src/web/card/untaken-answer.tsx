import { machineName } from "../../core/run/machine.ts";
import { type Run, isAnswerUntaken } from "../../core/run/run.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { Command } from "../parts/command.tsx";
import { type PageReader, tell } from "../parts/page-reader.ts";

/** How to continue a session that askd did not start and cannot resume; empty for any other run. */
export function UntakenAnswer(view: { reader: PageReader; run: Run; takeover: string | undefined }) {
  const { reader, run, takeover } = view;
  if (!isAnswerUntaken(run)) return null;
  // A program that named no agent has no session to open.
  if (run.agent === "none") return <p class="banner wait">{tell(reader, "r.untaken.asker")}</p>;
  return (
    <section class="banner wait">
      <p>{tell(reader, "r.untaken", { host: makeVisible(machineName(run.host)) })}</p>
      <Command reader={reader} id="go-on" text={takeover ?? `askd takeover ${run.number}`} />
    </section>
  );
}
