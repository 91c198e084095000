import { z } from "zod";
import { requireAccess } from "../people/access.ts";
import { Actor } from "../people/actor.ts";
import { type AnswerInput, readChoices } from "./answer-input.ts";
import type { DecisionContext, Changes, Entry, QuestionSnapshot } from "../changes.ts";
import { recommendedOption } from "../question/content.ts";
import { findVerifiedRepo, isUnverified, verifiedLabels } from "../trail/fact-source.ts";
import { Instant } from "../instant.ts";
import { matchAnswer } from "./match.ts";
import { requirePlain } from "../text/plain-text.ts";
import { Refusal } from "../refusal.ts";
import type { Limits } from "../rules.ts";
import { changeEntry } from "../trail/store-event.ts";

const MOST_CHANGES = 50;
const FIELD = /\{\{([^{}]*)\}\}/g;

/** The fields a template can use, with their values for a question. */
const FIELDS: Readonly<Record<string, (read: QuestionSnapshot) => string | undefined>> = {
  "run.name": ({ run }) => run.name,
  "run.number": ({ run }) => String(run.number),
  // Unverified claims of the asker do not enter a person's answer.
  agent: ({ run }) => (isUnverified(run, "agent") ? undefined : run.agent),
  repo: ({ run }) => findVerifiedRepo(run),
  branch: ({ run }) => run.branch,
  issue: ({ run, question }) => formatIssueNumber(question.issue ?? run.issue),
  question: ({ question }) => question.title,
  recommended: ({ content }) => content.items[0] && recommendedOption(content.items[0])?.label,
};
export const TEMPLATE_FIELDS: readonly string[] = Object.keys(FIELDS);

export const TemplateName = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,39}$/);

/** The runs a template applies to; without conditions, all. Unverified claims of the asker do not match. */
const TemplateMatch = z.object({
  /** A repository, `*` for any characters: `acme/*`. */
  repo: z.string().min(1).max(200).optional(),
  /** A label of the run. */
  label: z.string().min(1).max(200).optional(),
});

/** A canned answer: choices, or text; text beside choices is a note. */
export const TemplateInput = z.object({
  name: TemplateName,
  text: z
    .string()
    .min(1)
    .max(64 * 1024)
    .optional(),
  choose: z.array(z.string().min(1).max(500)).min(1).max(50).optional(),
  match: TemplateMatch.optional(),
});
export type TemplateInput = z.infer<typeof TemplateInput>;

/** A canned answer shared by a team, with its change history, newest last. */
export const Template = TemplateInput.extend({
  version: z.int(),
  changes: z.array(z.object({ did: z.enum(["added", "changed", "removed"]), by: Actor, at: Instant })),
});
export type Template = z.infer<typeof Template>;

/** Adds a template or replaces the one with that name. */
export function putTemplate(before: Template | undefined, input: TemplateInput, at: DecisionContext): Template {
  requireAccess("change_template", at.by);
  if (input.text === undefined && input.choose === undefined) {
    throw new Refusal("bad_input", "A template needs a text or a choice", {
      hint: "Give it --text or --choose",
      fact: { is: "empty_template" },
    });
  }
  for (const text of [input.text ?? "", ...(input.choose ?? [])]) {
    requirePlain(text, at.rules.limits.answerBytes, "template");
    requireKnownFields(text);
  }
  const did = before && !isTemplateRemoved(before) ? "changed" : "added";
  return withChange({ ...input, version: before?.version ?? 0, changes: before?.changes ?? [] }, did, at);
}

/** Removes a template; its history stays. */
export function removeTemplate(before: Template | undefined, name: string, at: DecisionContext): Template {
  requireAccess("change_template", at.by);
  if (!before || isTemplateRemoved(before)) throw templateNotFound(name);
  return withChange(before, "removed", at);
}

export function isTemplateRemoved({ changes }: Template): boolean {
  return changes.at(-1)?.did === "removed";
}

/** Builds the answer a template gives to this question, or refuses. Field values are never expanded again. */
export function fillTemplate(
  template: Template,
  read: QuestionSnapshot,
): Pick<AnswerInput, "answer" | "items" | "note"> {
  const fill = (text: string) => text.replace(FIELD, (_, name: string) => fieldValue(name.trim(), template, read));
  const text = template.text === undefined ? undefined : fill(template.text);
  if (template.choose === undefined) return { answer: text ?? "" };
  const [only, ...others] = read.content.items;
  if (only && others.length === 0 && only.options.length === 0) {
    throw new Refusal(
      "no_such_option",
      `Template "${template.name}" makes a choice, and this question has no options`,
      {
        hint: "Answer in your own words, or use a template with a text: askd template list",
      },
    );
  }
  return {
    items: readChoices(read.content, template.choose.map(fill)),
    note: text,
  };
}

/** Lists the templates that can answer this question: those with conditions first, then by name. */
export function listMatchingTemplates(
  templates: readonly Template[],
  read: QuestionSnapshot,
  limits: Limits,
): Template[] {
  const usable = templates.filter((template) => matchesRun(template, read) && canAnswer(template, read, limits));
  const rank = ({ match }: Template) => -Number(match?.repo !== undefined) - Number(match?.label !== undefined);
  return usable.sort((one, other) => rank(one) - rank(other) || (one.name < other.name ? -1 : 1));
}

export function templateNotFound(name: string): Refusal {
  return new Refusal("not_found", `There is no template "${name}"`, { hint: "See all: askd template list" });
}

/** Stores a template with its event. The text of the template stays out of the trail. */
export function changeTemplate(template: Template, at: { now: Instant; by: Actor }): Changes {
  const { name, version, ...body } = template;
  const entry: Entry = { kind: "template", id: name, version, body };
  const [type, to] = isTemplateRemoved(template)
    ? (["template.removed", "removed"] as const)
    : (["template.saved", "usable"] as const);
  return changeEntry({ type, entry, from: undefined, to, detail: { template: name } }, at);
}

export function parseTemplate({ id, version, body }: Entry): Template {
  return Template.parse({ ...body, name: id, version });
}

function matchesRun({ match }: Template, { run }: QuestionSnapshot) {
  const repo = findVerifiedRepo(run);
  const isHere = match?.repo === undefined || (repo !== undefined && matchesGlob(repo, match.repo));
  return isHere && (match?.label === undefined || verifiedLabels(run).includes(match.label));
}

function canAnswer(template: Template, read: QuestionSnapshot, limits: Limits) {
  try {
    const { answer, items } = fillTemplate(template, read);
    matchAnswer(read.content, { answer, items }, limits);
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

function fieldValue(field: string, { name }: Template, read: QuestionSnapshot) {
  const value = Object.hasOwn(FIELDS, field) ? FIELDS[field]?.(read) : undefined;
  if (value !== undefined && value !== "") return value;
  throw new Refusal("bad_input", `Template ${name} needs {{${field}}}, which this question does not have`, {
    hint: "Answer in your own words, or use another template",
    fact: { is: "lacking_field", name, field: `{{${field}}}` },
  });
}

function requireKnownFields(text: string) {
  for (const [, field = ""] of text.matchAll(FIELD)) {
    if (Object.hasOwn(FIELDS, field.trim())) continue;
    const fields = TEMPLATE_FIELDS.map((name) => `{{${name}}}`);
    throw new Refusal("bad_input", `There is no field {{${field}}}`, {
      hint: `Use ${fields.join(", ")}`,
      fact: { is: "unknown_field", field: `{{${field}}}`, fields },
    });
  }
}

function withChange(
  template: Template,
  did: Template["changes"][number]["did"],
  { by, now }: Pick<DecisionContext, "by" | "now">,
): Template {
  return { ...template, changes: [...template.changes, { did, by, at: now }].slice(-MOST_CHANGES) };
}

function formatIssueNumber(issue: { number: number } | undefined) {
  return issue && `#${issue.number}`;
}

/** Matches a pattern in which `*` stands for any characters, in time bounded by the product of both lengths. */
function matchesGlob(text: string, pattern: string) {
  const parts = pattern.toLowerCase().split("*");
  const whole = text.toLowerCase();
  const first = parts[0] ?? "";
  const last = parts.at(-1) ?? "";
  if (parts.length === 1) return whole === first;
  if (!whole.startsWith(first) || !whole.endsWith(last) || whole.length < first.length + last.length) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = whole.indexOf(part, at);
    if (found < 0 || found + part.length > whole.length - last.length) return false;
    at = found + part.length;
  }
  return true;
}
