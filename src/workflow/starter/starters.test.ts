import { Ajv2020 } from "ajv/dist/2020.js";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { OWN_TOOLS } from "../../core/workflow/definition/scope-name.ts";
import { workflowSchemaText } from "../definition/json-schema.ts";
import { readWorkflow } from "../definition/read-workflow.ts";
import { STARTERS } from "./starters.ts";

/** The tools of askd, and those of the MCP servers that the design document names. */
const TOOLS = { names: [...OWN_TOOLS, "analyze_issue", "apply_code_fix", "run_checks"], mayHaveMore: false };
const PUBLISHED: unknown = JSON.parse(readFileSync(new URL("../../../workflow.schema.json", import.meta.url), "utf8"));
const isValid = new Ajv2020({ strict: false }).compile(PUBLISHED as object);

describe("each starting point", () => {
  test.each(Object.entries(STARTERS))("%s has no mistakes and has its own name", (name, { text }) => {
    const { definition, problems } = readWorkflow(text, `${name}.yml`, TOOLS);
    expect(problems).toEqual([]);
    expect(definition?.name).toBe(name);
  });

  test.each(Object.entries(STARTERS))("%s is valid by the schema that editors read", (_name, { text }) => {
    isValid(parse(text));
    expect(isValid.errors ?? []).toEqual([]);
  });
});

describe("the schema that editors read", () => {
  test("is the published one", () => {
    expect(JSON.parse(workflowSchemaText())).toEqual(PUBLISHED); // if not: npm run schema && npm run format
  });

  test.each([
    [{ name: "w", steps: [{ id: "a", tol: "shell" }] }],
    [{ name: "w", steps: [] }],
    [{ name: "w", steps: [{ id: "a", tool: "shell" }], trigers: [] }],
    [{ name: "w", steps: [{ id: "a", parallel: [{ id: "b", tool: "shell", retry: "often" }] }] }],
  ])("refuses %j", (definition) => {
    expect(isValid(definition)).toBe(false);
  });
});
