import { msBetween } from "../../core/instant.ts";
import type { AwayMachine } from "../../core/run/machine.ts";
import type { Run } from "../../core/run/run.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { Command } from "../parts/command.tsx";
import { type PageReader, tell, tellSpan } from "../parts/page-reader.ts";

/** Warns that a run cannot resume until its machine is back, and says what to do. */
export function AwayMachineNotice({ reader, run, away }: { reader: PageReader; run: Run; away: AwayMachine }) {
  const machine = makeVisible(away.name);
  const heard =
    away.heardAt === undefined
      ? tell(reader, "machine.never")
      : tell(reader, "machine.heard", { span: tellSpan(reader, Math.max(0, msBetween(away.heardAt, reader.now))) });
  return (
    <section class="banner wait" data-machine={away.id}>
      <p>
        {tell(reader, "machine.away", { run: `#${run.number}`, machine })} {heard}
      </p>
      <p>{tell(reader, "machine.ways", { machine })}</p>
      <Command reader={reader} id="elsewhere" text={`askd runs resume ${run.number} --elsewhere`} />
    </section>
  );
}
