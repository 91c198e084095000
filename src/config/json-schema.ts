import { z } from "zod";
import { isTable, valueAt } from "../edit/table.ts";
import { DEFAULTS, Values } from "./schema.ts";

/** The URL of the JSON Schema for editors; the first line of a generated file names it. */
export const SCHEMA_URL = "https://cdn.jsdelivr.net/npm/askd/askd.schema.json";
export const FIRST_LINE = `#:schema ${SCHEMA_URL}`;

/** The schema of our files as JSON Schema, for editors. */
export function jsonSchema(): object {
  const { $schema, ...rest } = z.toJSONSchema(Values, {
    io: "input",
    override: ({ jsonSchema: made, path }) => {
      // Unknown keys are only warnings here; an editor may mark them as errors.
      if (made.type === "object" && made.properties) made.additionalProperties = false;
      const value = valueAt(DEFAULTS, path.filter((name) => name !== "properties").map(String));
      if (value !== undefined && !isTable(value)) Object.assign(made, { default: value });
    },
  });
  return {
    $schema,
    $id: SCHEMA_URL,
    title: "askd",
    description: "Settings of askd: askd.toml and config.toml",
    ...rest,
  };
}

/** The text of the file that is published with the package. */
export function schemaText(): string {
  return `${JSON.stringify(jsonSchema(), undefined, 2)}\n`;
}
