import type { MEMORY_ROUTES } from "../../core/api/memory-route.ts";
import { MINUTE_MS } from "../../core/instant.ts";
import type { Handlers, WrittenVerb } from "./call.ts";

/** Templates and statistics: the verbs that are not derived from the table. */
export const MEMORY_VERBS: Handlers<WrittenVerb<keyof typeof MEMORY_ROUTES>> = {
  stats: ({ engine }, { query: { since, until, repo, agent, ahead_minutes: ahead } }) =>
    engine.stats({ aheadMs: ahead * MINUTE_MS, since, until, repo, agent }),
  putTemplate: ({ engine, by }, { params, body }) => engine.putTemplate({ ...body, name: params.id }, by),
};
