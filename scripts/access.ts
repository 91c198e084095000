// Writes the table of who may do what into docs/security.md: npm run access
import { readFileSync, writeFileSync } from "node:fs";
import { accessTable } from "../src/core/people/access-table.ts";

const FILE = "docs/security.md";
const TABLE = /(?<=<!-- who may do what -->\n\n)(\|.*\n)*(?=\n<!-- end -->)/;

writeFileSync(FILE, readFileSync(FILE, "utf8").replace(TABLE, accessTable()));
