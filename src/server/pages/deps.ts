import type { Context } from "hono";
import type { SignedIn } from "../credential.ts";
import type { LiveEvents } from "../events/live.ts";
import type { EventFeed } from "../events/tail.ts";
import type { Log } from "../log.ts";
import type { Job } from "../../core/run/job.ts";
import type { ChannelSet } from "../../web/pages/channels.tsx";
import type { CardDeps } from "./read/read-card.ts";
import type { WorkflowStore } from "./read/read-workflow.ts";

/** Dependencies of the pages. */
export interface PagesDeps extends CardDeps {
  feed: Pick<EventFeed, "findEnd" | "readBack">;
  log: Log;
  live: LiveEvents;
  /** The configured channels, without secrets. */
  channels: readonly ChannelSet[];
  /** The next due jobs, if the store can list them. */
  jobs?: ((limit: number) => Promise<readonly Job[]>) | undefined;
  /** The rows of workflows, if the store is at hand. */
  workflows?: WorkflowStore | undefined;
  /** People reach the server by HTTPS. */
  isSecure: boolean;
  /** Monotonic clock, for limits. */
  nowMs: () => number;
}

/** A request of a signed-in person. */
export type PageCall = Context<SignedIn>;
