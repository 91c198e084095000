import { machineName } from "../../core/run/machine.ts";
import { type Run, isAnswerUntaken } from "../../core/run/run.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { Command } from "../parts/command.tsx";
import { type Reader, tell } from "../parts/reader.ts";

/** What a person does about an answer that nobody else can bring to the agent; nothing for any other run. */
export function Untaken(view: { reader: Reader; run: Run; takeover: string | undefined }) {
  const { reader, run, takeover } = view;
  if (!isAnswerUntaken(run)) return null;
  // A program that named no agent has no session that a person could open.
  if (run.agent === "none") return <p class="banner wait">{tell(reader, "r.untaken.asker")}</p>;
  return (
    <section class="banner wait">
      <p>{tell(reader, "r.untaken", { host: makeVisible(machineName(run.host)) })}</p>
      <Command reader={reader} id="go-on" text={takeover ?? `askd takeover ${run.number}`} />
    </section>
  );
}
