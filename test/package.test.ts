import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";

const Package = z.object({
  dependencies: z.record(z.string(), z.string()),
  optionalDependencies: z.record(z.string(), z.string()),
  repository: z.object({ url: z.string() }),
  files: z.array(z.string()),
  mcpName: z.string(),
});
const { dependencies, optionalDependencies, repository, files, mcpName } = Package.parse(
  JSON.parse(readFileSync("package.json", "utf8")),
);

test("only what cannot be bundled is installed beside the program", () => {
  // A WebAssembly module that few commands load, and the native driver that Node before 22.16 needs.
  expect(Object.keys(dependencies)).toEqual(["jq-wasm"]);
  expect(Object.keys(optionalDependencies)).toEqual(["@photostructure/sqlite"]);
});

test("names the repository that registries resolve the links of the README with, the one of its MCP name", () => {
  const [, owner, name] = /github\.com\/([^/]+)\/([^/.]+)\.git$/.exec(repository.url) ?? [];
  expect(mcpName).toBe(`io.github.${owner}/${name}`);
});

test("brings every page that its README and its messages name", () => {
  const named = [...readFileSync("README.md", "utf8").matchAll(/\]\((docs\/[^)#]+)/g)].map(([, path = ""]) => path);
  expect(named.length).toBeGreaterThan(20);
  expect(files).toContain("docs");
});

test("the recording of the demo is small, moves, and stands still for those who want that", () => {
  const svg = readFileSync("docs/demo.svg", "utf8");
  expect(svg.length).toBeLessThan(20_000);
  expect(svg).toContain("animation-delay");
  expect(svg).toContain("prefers-reduced-motion");
  expect(svg).toContain("question.given      the answer was delivered, once");
});
