import type { MEMORY_ROUTES } from "../../core/api/memory-route.ts";
import { MINUTE_MS } from "../../core/instant.ts";
import type { Handlers } from "./call.ts";

/** What is remembered and counted, each by its engine's verb. */
export const MEMORY_VERBS: Handlers<keyof typeof MEMORY_ROUTES> = {
  listTemplates: ({ engine }) => engine.listTemplates(),
  findSimilar: ({ engine }, { params, query }) => engine.findSimilar(params.id, query.limit),
  stats: ({ engine }, { query: { since, until, repo, agent, ahead_minutes: ahead } }) =>
    engine.stats({
      aheadMs: ahead * MINUTE_MS,
      ...(since && { since }),
      ...(until && { until }),
      ...(repo !== undefined && { repo }),
      ...(agent !== undefined && { agent }),
    }),
  putTemplate: ({ engine, by }, { params, body }) => engine.putTemplate({ ...body, name: params.id }, by),
  removeTemplate: ({ engine, by }, { params }) => engine.removeTemplate(params.id, by),
};
