import { expect, test } from "vitest";
import { Refusal } from "../core/refusal.ts";
import { toSnakeCase } from "../core/api/snake-case.ts";
import { parseJsonChoice, renderJson } from "./json.ts";

const run = { id: "r_1", askedAt: "2026", answer: { items: { dbChoice: { values: ["a"], freeText: "x" } } } };
const fields = ["id", "asked_at", "answer", "due_at"];

test("everything is printed in one line with names in snake_case", () => {
  expect(renderJson(run, parseJsonChoice(""), { fields })).toBe(
    '{"id":"r_1","asked_at":"2026","answer":{"items":{"dbChoice":{"values":["a"],"free_text":"x"}}}}\n',
  );
});

test("names that people and agents chose stay as they are", () => {
  expect(toSnakeCase({ items: [{ itemId: 1 }] })).toEqual({ items: [{ item_id: 1 }] });
  expect(toSnakeCase({ schema: { properties: { maxTTL: { minLength: 1 } } } })).toEqual({
    schema: { properties: { maxTTL: { minLength: 1 } } },
  });
  expect(toSnakeCase({ result: { output: { bestWay: 1 } } })).toEqual({ result: { output: { bestWay: 1 } } });
  expect(toSnakeCase({ questionContext: "x" })).toEqual({ questionContext: "x" });
});

test("a list of fields selects them, and what is absent is null", () => {
  expect(renderJson([run], parseJsonChoice("id,due_at"), { fields })).toBe('[{"id":"r_1","due_at":null}]\n');
});

test("a question mark lists the fields", () => {
  expect(renderJson(run, parseJsonChoice("?"), { fields })).toBe("id\nasked_at\nanswer\ndue_at\n");
});

test("an unknown field is refused with the names of all", () => {
  const select = (): string => renderJson(run, parseJsonChoice("id,titel"), { fields });
  expect(select).toThrow(Refusal);
  expect(select).toThrow("There is no field titel");
});

test("control characters are escaped and mean the same", () => {
  const json = renderJson({ title: "\x1b[31m\u009b\u202e\u007f" }, { show: "all" }, { fields: ["title"] });
  expect(json).toBe('{"title":"\\u001b[31m\\u009b\\u202e\\u007f"}\n');
});
