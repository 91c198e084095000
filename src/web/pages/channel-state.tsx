import type { ChannelState } from "../../core/channel/delivery/delivery-status.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { type PageReader, tell } from "../parts/page-reader.ts";
import { Moment } from "../parts/time.tsx";

/** The state of a channel: its last message, whether it works, and whom it reaches. */
export function ChannelStateLines({ reader, state }: { reader: PageReader; state: ChannelState }) {
  const { name, lastSentAt, outage, waiting, listenedUntil, recipients } = state;
  if (recipients === 0)
    return (
      <p>
        <span class="chip bad">{tell(reader, "chan.state.nobody")}</span> {tell(reader, "chan.state.nobody.how")}{" "}
        <code>askd setup {makeVisible(name)}</code>
      </p>
    );
  const facts = [
    ...(waiting > 0
      ? [tell(reader, waiting === 1 ? "chan.state.waiting.one" : "chan.state.waiting", { n: waiting })]
      : []),
    ...(listenedUntil !== undefined && listenedUntil > reader.now ? [tell(reader, "chan.state.listening")] : []),
    ...(recipients === undefined
      ? []
      : [tell(reader, recipients === 1 ? "chan.state.reaches.one" : "chan.state.reaches", { n: recipients })]),
  ];
  return (
    <>
      {outage === undefined ? null : (
        <p>
          <span class="chip bad">{tell(reader, "chan.state.failing")}</span>{" "}
          {outage.person === undefined ? null : `(${makeVisible(outage.person)}) `}
          {tell(reader, "chan.state.since")} <Moment reader={reader} at={outage.since} />: {makeVisible(outage.why)}
        </p>
      )}
      <p class="quiet">
        {lastSentAt === undefined ? (
          tell(reader, "chan.state.first")
        ) : (
          <>
            {tell(reader, "chan.state.sent")} <Moment reader={reader} at={lastSentAt} />
          </>
        )}
        {facts.map((fact) => ` · ${fact}`)}
      </p>
    </>
  );
}
