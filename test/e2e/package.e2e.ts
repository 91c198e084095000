import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

/** With the binaries of SQLite for all systems, which are optional; askd itself and the rest are a third of it. */
const MOST_MEGABYTES = 45;
const MOST_OWN_MEGABYTES = 15;

const root = mkdtempSync(join(tmpdir(), "askd-package-"));
const app = join(root, "app");
const modules = join(app, "node_modules");
const env = { PATH: process.env["PATH"], HOME: root, ASKD_HOME: root, ASKD_NO_SERVICE: "1" };

function askd(...argv: string[]): string {
  return execFileSync(join(modules, ".bin", "askd"), argv, { cwd: app, env, encoding: "utf8" });
}

function megabytes(...folders: string[]): number {
  const sizes = execFileSync("du", ["--summarize", "--block-size=1M", ...folders], { encoding: "utf8" });
  return sizes
    .trim()
    .split("\n")
    .reduce((sum, line) => sum + Number.parseInt(line, 10), 0);
}

// What a person gets who types npm install askd: nothing of this tree but what the package contains.
beforeAll(() => {
  mkdirSync(app);
  writeFileSync(join(app, "package.json"), '{"private":true}');
  const quiet = ["--silent", "--no-audit", "--no-fund"];
  execFileSync("npm", ["pack", "--silent", "--pack-destination", root], { cwd: resolve("."), stdio: "pipe" });
  const tarball = readdirSync(root).find((name) => name.endsWith(".tgz")) ?? "";
  execFileSync("npm", ["install", ...quiet, join(root, tarball)], { cwd: app, stdio: "pipe" });
}, 120_000);

afterAll(() => rmSync(root, { recursive: true, force: true }));

test("the installed package asks, answers and verifies", () => {
  const { version } = JSON.parse(readFileSync(resolve("package.json"), "utf8")) as { version: string };
  expect(askd("--version")).toContain(version);
  const id = askd("ask", "Redis or Memcached?", "-o", "Redis", "-o", "Memcached").trim();
  askd("answer", id, "Memcached");
  expect(JSON.parse(askd("check", id, "--json"))).toMatchObject({ status: "answered", answer: "Memcached" });
  expect(askd("audit", "--verify")).toMatch(/✓/);
  expect(askd("workflow", "init", "autofix")).toContain("autofix");
  expect(askd("workflow", "validate")).toMatch(/✓/);
});

test("it is as small as the documentation says", () => {
  expect(megabytes(modules)).toBeLessThanOrEqual(MOST_MEGABYTES);
  const own = readdirSync(modules).filter((name) => !name.startsWith(".") && name !== "@photostructure");
  expect(megabytes(...own.map((name) => join(modules, name)))).toBeLessThanOrEqual(MOST_OWN_MEGABYTES);
});
