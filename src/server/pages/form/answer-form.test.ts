import { describe, expect, test } from "vitest";
import type { Content, Item } from "../../../core/question/content.ts";
import { matchAnswer } from "../../../core/answer/match.ts";
import { DEFAULT_LIMITS } from "../../../core/rules.ts";
import { draftFromChoice, draftFromAnswer, readAnswerForm, writtenText } from "./answer-form.ts";

const options = (...labels: string[]): Item["options"] =>
  labels.map((label, index) => ({ key: String.fromCharCode(65 + index), value: label, label }));
const item = (over: Partial<Item> = {}): Item => ({
  id: "q1",
  text: "Which?",
  options: options("Redis", "Memcached"),
  multiple: false,
  allowText: true,
  ...over,
});
const form = (fields: Record<string, string | string[]>) =>
  new Map(Object.entries(fields).map(([name, value]) => [name, Array.isArray(value) ? value : [value]]));

function answered(content: Content, fields: Record<string, string | string[]>) {
  const input = readAnswerForm(content, form({ do: "answer", ...fields }));
  return input && matchAnswer(content, input, DEFAULT_LIMITS);
}

describe("a form", () => {
  test("chooses the option at its place, whatever the options are called", () => {
    expect(answered({ items: [item()] }, { "i.0": "1" })).toEqual({ q1: { values: ["Memcached"] } });
    const numbers = item({ options: options("2", "3", "1") });
    expect(answered({ items: [numbers] }, { "i.0": "0" })).toEqual({ q1: { values: ["2"] } });
    const letters = item({ options: options("B", "A") });
    expect(() => answered({ items: [letters] }, { "i.0": "0" })).toThrow("could mean");
  });

  test("takes own words beside or instead of options", () => {
    expect(answered({ items: [item()] }, { "i.0": "other", "t.0": "Neither" })).toEqual({
      q1: { values: [], text: "Neither" },
    });
    const several = item({ multiple: true });
    expect(answered({ items: [several] }, { "i.0": ["0", "other"], "t.0": "and a file" })).toEqual({
      q1: { values: ["Redis"], text: "and a file" },
    });
    expect(answered({ items: [several] }, { "i.0": ["0", "1"] })).toEqual({ q1: { values: ["Redis", "Memcached"] } });
  });

  test("answers several items at once, or none", () => {
    const content = { items: [item(), item({ id: "q2", options: [] })] };
    expect(answered(content, { "i.0": "0", "t.1": "cache" })).toEqual({
      q1: { values: ["Redis"] },
      q2: { values: [], text: "cache" },
    });
    expect(answered(content, { "i.0": "0" })).toBeUndefined();
  });

  test("has typed fields as their schema wants them", () => {
    const schema = {
      type: "object" as const,
      properties: { size: { type: "integer" as const }, tls: { type: "boolean" as const } },
    };
    const content = { items: [item({ options: [], schema })] };
    expect(answered(content, { "f.0.size": "7", "f.0.tls": "true" })).toEqual({
      q1: { values: [], text: '{"size":7,"tls":true}' },
    });
    expect(() => answered(content, { "f.0.size": "many" })).toThrow("must be a number");
  });

  test("asks back with its own field, or with the note", () => {
    expect(readAnswerForm({ items: [item()] }, form({ do: "clarify", back: "Why?" }))).toMatchObject({ note: "Why?" });
    expect(readAnswerForm({ items: [item()] }, form({ do: "clarify", note: "Why?" }))).toMatchObject({ note: "Why?" });
    expect(readAnswerForm({ items: [item()] }, form({ do: "clarify" }))).toBeUndefined();
  });

  test("gives back what was written", () => {
    expect(writtenText({ items: [item()] }, form({ "t.0": "own", note: " note ", "i.0": "0" }))).toBe("own\nnote");
  });
});

describe("a link", () => {
  test("chooses an option by any of its names, or fills in words", () => {
    expect(draftFromChoice({ items: [item()] }, "memcached")).toEqual(form({ "i.0": "1" }));
    expect(draftFromChoice({ items: [item()] }, "B")).toEqual(form({ "i.0": "1" }));
    expect(draftFromChoice({ items: [item()] }, "A file")).toEqual(form({ "i.0": "other", "t.0": "A file" }));
    expect(draftFromChoice({ items: [item({ allowText: false })] }, "A file")).toEqual(new Map());
  });

  test("fills the form as a canned answer says", () => {
    expect(draftFromAnswer({ items: [item()] }, { items: { q1: { values: ["Redis"] } }, note: "as ever" })).toEqual(
      form({ "i.0": "0", note: "as ever" }),
    );
  });
});
