// Writes askd.schema.json, which editors read: npm run schema
import { writeFileSync } from "node:fs";
import { schemaText } from "../src/config/json-schema.ts";

writeFileSync("askd.schema.json", schemaText());
