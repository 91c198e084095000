import { z } from "zod";
import { actorName } from "../people/actor.ts";
import { shortId } from "../id.ts";
import { Instant } from "../instant.ts";
import { SimilarQuestion } from "../answer/similar.ts";
import { Stats, StatsView, viewStats } from "../stats/stats.ts";
import { Template } from "../answer/template.ts";
import type { Reply } from "./route.ts";
import { MaybeText } from "./view.ts";

const TemplateView = z.object({
  name: z.string(),
  text: MaybeText,
  choose: z.array(z.string()).nullable(),
  match: z.object({ repo: MaybeText, label: MaybeText }),
  changes: z.array(z.object({ did: z.string(), by: z.string(), at: Instant })),
});
export type TemplateView = z.infer<typeof TemplateView>;
export const TEMPLATE_VIEW_FIELDS: readonly string[] = Object.keys(TemplateView.shape);

const SimilarView = z.object({
  id: z.string(),
  short_id: z.string(),
  title: z.string(),
  answer: z.string(),
  note: MaybeText,
  answered_by: z.string(),
  answered_at: Instant,
  channel: z.string(),
  repo: MaybeText,
  same_repo: z.boolean(),
  score: z.number(),
});

export const similarReply: Reply<SimilarQuestion[]> = {
  rows: z.array(SimilarQuestion),
  schema: z.object({ similar: z.array(SimilarView) }),
  view: (similar) => ({ similar: similar.map(viewSimilar) }),
};
export const statsReply: Reply<Stats> = { rows: Stats, schema: StatsView, view: viewStats };
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
    changes: changes.map(({ did, by, at }) => ({ did, by: actorName(by), at })),
  };
}

/** A past answer as programs see it. */
export function viewSimilar({ id, title, answer, note, by, at, repo, isSameRepo, score }: SimilarQuestion): object {
  return {
    id,
    short_id: shortId(id),
    title,
    answer,
    note: note ?? null,
    answered_by: actorName(by),
    answered_at: at,
    channel: by.channel,
    repo: repo ?? null,
    same_repo: isSameRepo,
    score,
  };
}
