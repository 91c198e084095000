import type { Context } from "hono";
import type { Signed } from "../credential.ts";
import type { Live } from "../events/live.ts";
import type { Feed } from "../events/tail.ts";
import type { Log } from "../log.ts";
import type { Job } from "../../core/run/job.ts";
import type { ChannelSet } from "../../web/pages/channels.tsx";
import type { CardDeps } from "./read/read-card.ts";

/** What the pages are made from. */
export interface PagesDeps extends CardDeps {
  feed: Pick<Feed, "findEnd" | "readBack">;
  log: Log;
  live: Live;
  /** How people are told, as it is configured; nothing secret is in it. */
  channels: readonly ChannelSet[];
  /** What is due next, where the store can say. */
  jobs?: ((limit: number) => Promise<readonly Job[]>) | undefined;
  /** People reach the server by https. */
  isSecure: boolean;
  /** A clock that only goes forward, for limits. */
  nowMs: () => number;
}

/** A request of somebody who is signed in. */
export type Call = Context<Signed>;
