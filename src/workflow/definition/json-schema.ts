import { z } from "zod";
import { WorkflowDefinition } from "../../core/workflow/definition/definition.ts";

/** The URL of the JSON Schema for editors; the first line of a new workflow names it. */
export const WORKFLOW_SCHEMA_URL = "https://cdn.jsdelivr.net/npm/askd/workflow.schema.json";
/** Editors with a YAML language server read this line. */
export const SCHEMA_LINE = `# yaml-language-server: $schema=${WORKFLOW_SCHEMA_URL}`;

/** The text of the schema file that is published with the package. */
export function workflowSchemaText(): string {
  const { $schema, ...rest } = z.toJSONSchema(WorkflowDefinition, { io: "input", reused: "inline" });
  const schema = {
    $schema,
    $id: WORKFLOW_SCHEMA_URL,
    title: "askd workflow",
    description: "A workflow of askd: .askd/workflows/*.yml",
    ...rest,
  };
  return `${JSON.stringify(schema, undefined, 2)}\n`;
}
