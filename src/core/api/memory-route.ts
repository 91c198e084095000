import { z } from "zod";
import { TemplateInput, TemplateName } from "../template.ts";
import { similarReply, templateReply, templatesReply } from "./memory-reply.ts";
import { OfQuestion, PEOPLE, route } from "./route.ts";

const MOST_SIMILAR = 20;
const OfTemplate = z.object({ id: TemplateName });

/** What is remembered and counted. */
export const MEMORY_ROUTES = {
  listTemplates: route({
    ...{ method: "GET", path: "/templates", scopes: PEOPLE, summary: "The canned answers that everybody shares" },
    reply: templatesReply,
  }),
  findSimilar: route({
    ...{ method: "GET", path: "/questions/{id}/similar", scopes: PEOPLE },
    summary: "What people answered to questions like this one",
    params: OfQuestion,
    query: z.object({ limit: z.coerce.number().int().min(1).max(MOST_SIMILAR).default(3) }),
    reply: similarReply,
  }),
  putTemplate: route({
    ...{ method: "PUT", path: "/templates/{id}", scopes: PEOPLE, summary: "Add or change a canned answer" },
    params: OfTemplate,
    body: TemplateInput.omit({ name: true }),
    reply: templateReply,
  }),
  removeTemplate: route({
    ...{ method: "DELETE", path: "/templates/{id}", scopes: PEOPLE, summary: "Take a canned answer away" },
    params: OfTemplate,
    reply: templateReply,
  }),
};
