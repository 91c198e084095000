import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { VERBS } from "../core/api/table.ts";
import { openapi } from "./openapi.ts";

const description = openapi("1.2.3");

test("the description of the API is valid OpenAPI 3.1", async () => {
  const validator = new Validator();
  const copy: Record<string, unknown> = JSON.parse(JSON.stringify(description));
  const result = await validator.validate(copy);
  expect(result).toMatchObject({ valid: true });
  expect(validator.version).toBe("3.1");
});

test("operations are named after the verbs, and every parameter of a path is described", () => {
  const { paths } = description as { paths: Record<string, Record<string, Operation>> };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.values(methods).map((operation) => ({ path, ...operation })),
  );
  expect(operations.map(({ operationId }) => operationId).sort()).toEqual([...VERBS].sort());
  for (const { path, parameters } of operations) {
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    expect(parameters.filter((each) => each.in === "path").map(({ name }) => name)).toEqual(named);
  }
});

interface Operation {
  operationId: string;
  parameters: Array<{ name: string; in: string }>;
}
