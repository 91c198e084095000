import type { MessagePreview } from "../../core/channel/message-preview.ts";
import type { ChannelState } from "../../core/channel/delivery/delivery-status.ts";
import type { Event } from "../../core/trail/event.ts";
import { shortId } from "../../core/id.ts";
import type { Job } from "../../core/run/job.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { type PageReader, tell } from "../parts/page-reader.ts";
import { isMessageKey } from "../words/words.ts";
import { SettingsTabs } from "../parts/settings-tabs.tsx";
import { Moment } from "../parts/time.tsx";
import { ChannelStateLines } from "./channel-state.tsx";

/** A configured channel with its settings, without secrets. */
export interface ChannelSet {
  name: string;
  settings: ReadonlyArray<readonly [string, string]>;
}

export interface ChannelsView {
  reader: PageReader;
  channels: readonly ChannelSet[];
  /** The last message of each of them, and whether it works. */
  states: readonly ChannelState[];
  /** Sent and failed deliveries, newest first. */
  deliveries: readonly Event[];
  /** Number of events that were searched. */
  searched: number;
  /** Jobs that are still to be sent. */
  jobs: ReadonlyArray<Job & { kind: "deliver" | "callback" }>;
  /** The question whose messages are shown, as it was typed. */
  asked: string;
  previews: readonly MessagePreview[] | undefined;
}

const EXAMPLE = `[channels.slack]
mode = "socket"
channel = "#agents"
token_env = "SLACK_BOT_TOKEN"`;

/** The configured channels, and whether their deliveries succeed. */
export function ChannelsPage({ view }: { view: ChannelsView }) {
  const { reader, channels, states } = view;
  const unset = states.filter(({ name }) => channels.every((channel) => channel.name !== name));
  const listed = [...channels, ...unset.map(({ name }): ChannelSet => ({ name, settings: [] }))];
  return (
    <main id="main" class="page">
      <h1>{tell(reader, "chan.title")}</h1>
      <SettingsTabs reader={reader} tab="channels" />
      <p class="quiet">{tell(reader, "chan.about")}</p>
      {listed.length === 0 ? (
        <div class="banner">
          <p>{tell(reader, "chan.none")}</p>
          <p>{tell(reader, "chan.none.how")}</p>
          <pre class="command">{EXAMPLE}</pre>
          <p>
            {tell(reader, "chan.none.then")} <code>askd config list</code>
          </p>
        </div>
      ) : (
        <section>
          <h2>{tell(reader, "chan.settings")}</h2>
          <ul class="rows">
            {listed.map((channel) => (
              <li>
                <div>
                  <p>
                    <b>{makeVisible(channel.name)}</b>
                  </p>
                  {states
                    .filter(({ name }) => name === channel.name)
                    .map((state) => (
                      <ChannelStateLines reader={reader} state={state} />
                    ))}
                  <dl class="facts">
                    {channel.settings.map(([name, value]) => (
                      <div>
                        <dt class="mono">{name}</dt>
                        <dd>{makeVisible(value)}</dd>
                      </div>
                    ))}
                  </dl>
                </div>
              </li>
            ))}
          </ul>
        </section>
      )}
      <Previews view={view} />
      <Deliveries view={view} />
      <Jobs view={view} />
    </main>
  );
}

/** Exactly what each channel would get of a question; looking at it sends nothing. */
function Previews({ view: { reader, asked, previews } }: { view: ChannelsView }) {
  return (
    <section>
      <h2>{tell(reader, "chan.preview")}</h2>
      <form data-plain method="get" action="/channels">
        <label class="t" for="question">
          {tell(reader, "chan.preview.question")}
        </label>
        <input id="question" name="question" type="text" autocomplete="off" value={asked} />
        <button type="submit">{tell(reader, "chan.preview.show")}</button>
      </form>
      {asked !== "" && previews === undefined ? <p class="quiet">{tell(reader, "chan.preview.unknown")}</p> : null}
      {previews?.length === 0 ? <p class="quiet">{tell(reader, "chan.preview.none")}</p> : null}
      {previews?.map(({ channel, person, message, problem }) => (
        <>
          <h3>
            {makeVisible(channel)} {person === undefined ? null : makeVisible(person)}
          </h3>
          <pre class="scroll" tabindex={0}>
            {makeVisible(problem ?? JSON.stringify(message, null, 2))}
          </pre>
        </>
      ))}
    </section>
  );
}

function Deliveries({ view: { reader, deliveries, searched } }: { view: ChannelsView }) {
  return (
    <section>
      <h2>{tell(reader, "chan.deliveries")}</h2>
      {deliveries.length === 0 ? (
        <p class="quiet">
          {searched === 0
            ? tell(reader, "chan.deliveries.first")
            : tell(reader, "chan.deliveries.none", { n: searched })}
        </p>
      ) : null}
      <ol class="rows trail">
        {deliveries.map((event) => (
          <li>
            <Moment reader={reader} at={event.at} />
            <div>
              <p>
                {event.type.endsWith(".delivery_failed") ? (
                  <span class="chip bad">{tell(reader, "chan.failed")}</span>
                ) : (
                  <span class="chip ok">{tell(reader, "chan.sent")}</span>
                )}{" "}
                {makeVisible(detailOf(event, "channel") ?? detailOf(event, "witness") ?? event.by.channel)}
                {detailOf(event, "person") === undefined ? "" : ` (${makeVisible(detailOf(event, "person") ?? "")})`}
                {whatOf(reader, event)}
              </p>
              {detailOf(event, "why") === undefined ? null : (
                <p class="quiet">{makeVisible(detailOf(event, "why") ?? "")}</p>
              )}
            </div>
            {event.questionId === undefined ? (
              <a href={`/r/${event.runId}`}>{shortId(event.runId)}</a>
            ) : (
              <a href={`/q/${event.questionId}`}>{shortId(event.questionId)}</a>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

function Jobs({ view: { reader, jobs } }: { view: ChannelsView }) {
  return (
    <section>
      <h2>{tell(reader, "chan.jobs")}</h2>
      {jobs.length === 0 ? <p class="quiet">{tell(reader, "chan.jobs.none")}</p> : null}
      <ul class="rows">
        {jobs.map((job) => (
          <li>
            <div>
              <p>
                {tell(reader, `chan.job.${job.kind}`)}{" "}
                {job.questionId === undefined ? null : <a href={`/q/${job.questionId}`}>{shortId(job.questionId)}</a>}
              </p>
              <p class="quiet">
                {tell(reader, "chan.job.due")} <Moment reader={reader} at={job.dueAt} />
              </p>
            </div>
            {job.tries === 0 ? null : (
              <span class="chip bad">
                {tell(reader, job.tries === 1 ? "chan.job.tries.one" : "chan.job.tries", { n: job.tries })}
              </span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The kind of a delivery: a message, a change of it or a reminder. */
function whatOf(reader: PageReader, event: Event) {
  const key = `chan.what.${detailOf(event, "what") ?? ""}`;
  return isMessageKey(key) ? `, ${tell(reader, key)}` : "";
}

function detailOf({ detail }: Event, name: string) {
  const value = detail?.[name];
  return typeof value === "string" ? value : undefined;
}
