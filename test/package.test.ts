import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const { dependencies, optionalDependencies } = JSON.parse(readFileSync("package.json", "utf8")) as Record<
  string,
  Record<string, string>
>;

test("only what cannot be bundled is installed beside the program", () => {
  // A WebAssembly module that few commands load, and the native driver that Node before 22.16 needs.
  expect(Object.keys(dependencies ?? {})).toEqual(["jq-wasm"]);
  expect(Object.keys(optionalDependencies ?? {})).toEqual(["@photostructure/sqlite"]);
});
