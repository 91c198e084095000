// Writes askd.schema.json and workflow.schema.json, which editors read: npm run schema
import { writeFileSync } from "node:fs";
import { schemaText } from "../src/config/json-schema.ts";
import { workflowSchemaText } from "../src/workflow/definition/json-schema.ts";

writeFileSync("askd.schema.json", schemaText());
writeFileSync("workflow.schema.json", workflowSchemaText());
