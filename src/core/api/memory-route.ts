import { z } from "zod";
import { TemplateInput, TemplateName } from "../answer/template.ts";
import { similarReply, statsReply, templateReply, templatesReply } from "./memory-reply.ts";
import { Moment, OfQuestion, route } from "./route.ts";

const MOST_SIMILAR = 20;
/** No clock is further ahead of UTC, in minutes. */
const MOST_AHEAD = 24 * 60;
const OfTemplate = z.object({ id: TemplateName });

/** Templates, similar answers and statistics. */
export const MEMORY_ROUTES = {
  listTemplates: route("GET", "/templates", {
    may: "see_all",
    summary: "List the canned answers of the team",
    takes: [],
    reply: templatesReply,
  }),
  findSimilar: route("GET", "/questions/{id}/similar", {
    may: "see_all",
    summary: "List the answers to similar questions",
    params: OfQuestion,
    query: z.object({ limit: z.coerce.number().int().min(1).max(MOST_SIMILAR).default(3) }),
    takes: ["id", "query.limit"],
    reply: similarReply,
  }),
  stats: route("GET", "/stats", {
    may: "see_all",
    summary: "Statistics of a period",
    query: z.object({
      since: Moment.optional().describe("7 days before the end unless said"),
      until: Moment.optional(),
      repo: z.string().max(800).optional(),
      agent: z.string().max(64).optional(),
      ahead_minutes: z.coerce.number().int().min(-MOST_AHEAD).max(MOST_AHEAD).default(0),
    }),
    reply: statsReply,
  }),
  putTemplate: route("PUT", "/templates/{id}", {
    may: "change_template",
    summary: "Add or change a canned answer",
    params: OfTemplate,
    body: TemplateInput.omit({ name: true }),
    reply: templateReply,
  }),
  removeTemplate: route("DELETE", "/templates/{id}", {
    may: "change_template",
    summary: "Delete a canned answer",
    params: OfTemplate,
    takes: ["id", "by"],
    reply: templateReply,
  }),
};
