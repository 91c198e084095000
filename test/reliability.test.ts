import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PAGE = readFileSync(join(ROOT, "docs/reliability.md"), "utf8");

test("every promise is on the page with the names of its tests, and each of these exists", () => {
  const promises = [...PAGE.matchAll(/\*\*(I\d+)\*\*/g)].map(([, name]) => name);
  expect(promises).toEqual(Array.from({ length: 20 }, (_, index) => `I${index + 1}`));
  const named = [...PAGE.matchAll(/`((?:src|test)\/[^`]+\.(?:test|suite|e2e)\.ts)`(?: "([^"]+)")?/g)];
  expect(named.length).toBeGreaterThanOrEqual(promises.length);
  expect(named.filter(([, , name]) => name === undefined).map(([text]) => text)).toEqual([]);
  const missing = named.filter(([, file = "", name]) => {
    const path = join(ROOT, file);
    return !existsSync(path) || !readFileSync(path, "utf8").includes(`"${name}"`);
  });
  expect(missing.map(([text]) => text)).toEqual([]);
});
