import { z } from "zod";
import { sayActor } from "../actor.ts";
import { Instant } from "../instant.ts";
import { Template } from "../template.ts";
import type { Reply } from "./route.ts";

const TemplateView = z.object({
  name: z.string(),
  text: z.string().nullable(),
  choose: z.array(z.string()).nullable(),
  match: z.object({ repo: z.string().nullable(), label: z.string().nullable() }),
  changes: z.array(z.object({ did: z.string(), by: z.string(), at: Instant })),
});
export type TemplateView = z.infer<typeof TemplateView>;
export const TEMPLATE_VIEW_FIELDS: readonly string[] = Object.keys(TemplateView.shape);

export const templateReply: Reply<Template> = { rows: Template, schema: TemplateView, view: viewTemplate };
export const templatesReply: Reply<Template[]> = {
  rows: z.array(Template),
  schema: z.object({ templates: z.array(TemplateView) }),
  view: (templates) => ({ templates: templates.map(viewTemplate) }),
};

/** A template as programs see it. */
export function viewTemplate({ name, text, choose, match, changes }: Template): TemplateView {
  return {
    name,
    text: text ?? null,
    choose: choose ?? null,
    match: { repo: match?.repo ?? null, label: match?.label ?? null },
    changes: changes.map(({ did, by, at }) => ({ did, by: sayActor(by), at })),
  };
}
