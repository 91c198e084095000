import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ADA, AGENT, IDS, NOON, aContent, aQuestion, aRun } from "../../../test/builders.ts";
import type { DecisionContext, QuestionSnapshot } from "../changes.ts";
import { DEFAULT_LIMITS, DEFAULT_RULES } from "../rules.ts";
import {
  TEMPLATE_FIELDS,
  type Template,
  type TemplateInput,
  fillTemplate,
  isTemplateRemoved,
  listMatchingTemplates,
  putTemplate,
  removeTemplate,
} from "./template.ts";

const AT: DecisionContext = { now: NOON, by: ADA, ids: IDS, rules: DEFAULT_RULES };

function aTemplate(input: Partial<TemplateInput> = {}): Template {
  return putTemplate(undefined, { name: "one", ...(input.choose ? {} : { text: "Yes" }), ...input }, AT);
}

function aRead(over: { run?: object; content?: QuestionSnapshot["content"] } = {}): QuestionSnapshot {
  return {
    run: aRun({ name: "add-caching", number: 42, repo: "acme/api", branch: "main", labels: ["db"], ...over.run }),
    question: aQuestion({ title: "Which cache?", issue: { number: 7 } }),
    content: over.content ?? aContent(),
  };
}

describe("a template", () => {
  test("that makes a choice is refused for a question without options", () => {
    const content = aContent();
    const open = { ...content, items: content.items.map((item) => ({ ...item, options: [] })) };
    expect(() => fillTemplate(aTemplate({ choose: ["redis"] }), aRead({ content: open }))).toThrow("has no options");
  });

  test("says what the question and its run are called", () => {
    const text = "{{run.name}} {{ run.number }} {{agent}} {{repo}} {{branch}} {{issue}} {{question}}";
    expect(fillTemplate(aTemplate({ text }), aRead())).toEqual({
      answer: "add-caching 42 claude acme/api main #7 Which cache?",
    });
  });

  test("can take what the agent recommends", () => {
    const content = aContent();
    content.items[0]!.options[1]!.recommended = true;
    const filled = fillTemplate(aTemplate({ choose: ["{{recommended}}"], text: "as you say" }), aRead({ content }));
    expect(filled).toEqual({ items: { q1: { values: [], text: "Memcached" } }, note: "as you say" });
  });

  test.each(["{{constructor}}", "{{ run.secret }}", "{{}}", "a {{branch}} b {{nope}}"])(
    "with the unknown field in %j is refused when it is made",
    (text) => {
      expect(() => aTemplate({ text })).toThrow("There is no field");
    },
  );

  test("without words is refused, and one by an agent is", () => {
    expect(() => putTemplate(undefined, { name: "one" }, AT)).toThrow("needs a text or a choice");
    expect(() => putTemplate(undefined, { name: "one", text: "x" }, { ...AT, by: AGENT })).toThrow("a person has to");
  });

  test("is not sent half filled", () => {
    expect(() => fillTemplate(aTemplate({ text: "on {{branch}}" }), aRead({ run: { branch: undefined } }))).toThrow(
      "needs {{branch}}, which this question does not have",
    );
  });

  test("never reads the words of an agent as fields", () => {
    fc.assert(
      fc.property(fc.constantFrom(...TEMPLATE_FIELDS), fc.string({ minLength: 1 }), (field, text) => {
        const name = `${text}{{${field}}}{{repo}}`;
        const filled = fillTemplate(aTemplate({ text: "<{{run.name}}>" }), aRead({ run: { name } }));
        expect(filled.answer).toBe(`<${name}>`);
      }),
    );
  });

  test("remembers who added, changed and removed it, and can come back", () => {
    const added = aTemplate();
    const changed = putTemplate(added, { name: "one", text: "No" }, AT);
    const removed = removeTemplate(changed, "one", AT);
    expect(removed.changes.map(({ did, by }) => [did, by.id])).toEqual([
      ["added", "ada"],
      ["changed", "ada"],
      ["removed", "ada"],
    ]);
    expect(isTemplateRemoved(removed)).toBe(true);
    expect(() => removeTemplate(removed, "one", AT)).toThrow('There is no template "one"');
    expect(isTemplateRemoved(putTemplate(removed, { name: "one", text: "Maybe" }, AT))).toBe(false);
  });
});

describe("offered templates", () => {
  const names = (templates: Template[], read = aRead()): string[] =>
    listMatchingTemplates(templates, read, DEFAULT_LIMITS).map(({ name }) => name);

  test("are those made for the repository and label first, then those for any", () => {
    const templates = [
      aTemplate({ name: "any" }),
      aTemplate({ name: "label", match: { label: "db" } }),
      aTemplate({ name: "repo", match: { repo: "acme/*" } }),
      aTemplate({ name: "both", match: { repo: "ACME/a*i", label: "db" } }),
      aTemplate({ name: "elsewhere", match: { repo: "acme/web" } }),
      aTemplate({ name: "unlabelled", match: { label: "ui" } }),
    ];
    expect(names(templates)).toEqual(["both", "label", "repo", "any"]);
  });

  test("can answer the question", () => {
    const content = aContent();
    content.items[0]!.allowText = false;
    const templates = [
      aTemplate({ name: "text", text: "Use what you like" }),
      aTemplate({ name: "label", text: "redis" }),
      aTemplate({ name: "choice", choose: ["Memcached"] }),
      aTemplate({ name: "other", choose: ["Etcd"] }),
      aTemplate({ name: "branch", text: "{{issue}}", choose: ["a"] }),
    ];
    expect(names(templates, aRead({ content }))).toEqual(["branch", "choice", "label"]);
  });

  test.each([
    ["acme/api", "*", true],
    ["acme/api", "acme/*", true],
    ["acme/api", "*/api", true],
    ["acme/api", "a*e/a*i", true],
    ["acme/api", "acme/api*api", false],
    ["acme", "acme*acme", false],
    ["acme/api", "acme", false],
    ["acme/api", "a.me/*", false],
  ])("made for %s by the pattern %s: %s", (repo, pattern, isOffered) => {
    const offered = names([aTemplate({ match: { repo: pattern } })], aRead({ run: { repo } }));
    expect(offered.length === 1).toBe(isOffered);
  });
});
