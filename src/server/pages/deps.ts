import type { Context } from "hono";
import type { Signed } from "../credential.ts";
import type { Live } from "../events/live.ts";
import type { Feed } from "../events/tail.ts";
import type { Log } from "../log.ts";
import type { CardDeps } from "./read-card.ts";

/** What the pages are made from. */
export interface PagesDeps extends CardDeps {
  feed: Pick<Feed, "findEnd">;
  log: Log;
  live: Live;
  /** People reach the server by https. */
  isSecure: boolean;
}

/** A request of somebody who is signed in. */
export type Call = Context<Signed>;
