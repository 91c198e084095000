import { z } from "zod";
import { TemplateInput, TemplateName } from "../template.ts";
import { templateReply, templatesReply } from "./memory-reply.ts";
import { PEOPLE, route } from "./route.ts";

const OfTemplate = z.object({ id: TemplateName });

/** What is remembered and counted. */
export const MEMORY_ROUTES = {
  listTemplates: route({
    ...{ method: "GET", path: "/templates", scopes: PEOPLE, summary: "The canned answers that everybody shares" },
    reply: templatesReply,
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
