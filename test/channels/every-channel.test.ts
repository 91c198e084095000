import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** What a channel is able to do decides which cases apply to it. */
const BY_ABILITY = /\btest\.runIf\(traits\.\w+\)/g;
const SKIPPED = /\b(?:test|it|describe|suite|context|ctx)\s*\.\s*(?:skip|skipIf|runIf|only|todo|fails)\b/;

function read(...path: string[]) {
  return readFileSync(join(ROOT, ...path), "utf8");
}

test("every channel runs the shared suite, which nothing leaves out", () => {
  const channels = readdirSync(join(ROOT, "src/channels"), { withFileTypes: true })
    .filter((each) => each.isDirectory())
    .map(({ name }) => name);
  expect(channels.length).toBeGreaterThanOrEqual(3);
  const without = channels.filter((name) => {
    const text = read("test/channels", `${name}.test.ts`);
    return !/^ *channelSuite\(/m.test(text) || !text.includes(`"./channel.suite.ts"`);
  });
  expect(without).toEqual([]);
});

test("no case of a channel is skipped, and all of them are part of npm test and of .ci/run", () => {
  const files = readdirSync(join(ROOT, "test/channels")).filter(
    (name) => name.endsWith(".ts") && name !== "every-channel.test.ts",
  );
  const skipping = files.filter((name) => SKIPPED.test(read("test/channels", name).replaceAll(BY_ABILITY, "")));
  expect(skipping).toEqual([]);
  expect(["test.skip(", "describe.only(", "test.skipIf(x)(", "it.todo("].every((text) => SKIPPED.test(text))).toBe(
    true,
  );
  expect(JSON.parse(read("package.json"))).toMatchObject({ scripts: { test: "vitest run" } });
  expect(read(".ci/run")).toMatch(/^npm test$/m);
  const config = read("vitest.config.ts");
  expect(config).toContain('"test/**/*.test.ts"');
  expect(config).not.toMatch(/exclude:[^\n]*channels/);
});
