import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
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

/** A clone of the last commit in which nothing is built: packing has to build it. */
function freshClone(): string {
  const clone = join(root, "clone");
  execFileSync("git", ["clone", "--quiet", resolve("."), clone], { stdio: "pipe" });
  symlinkSync(resolve("node_modules"), join(clone, "node_modules"));
  // Older than what is installed: otherwise it would be installed anew, through the link.
  utimesSync(join(clone, "package-lock.json"), 0, 0);
  return clone;
}

function install(dir: string, ...flags: string[]): void {
  mkdirSync(dir);
  writeFileSync(join(dir, "package.json"), '{"private":true}');
  const tarball = readdirSync(root).find((name) => name.endsWith(".tgz")) ?? "";
  const quiet = ["--silent", "--no-audit", "--no-fund"];
  execFileSync("npm", ["install", ...quiet, ...flags, join(root, tarball)], { cwd: dir, stdio: "pipe" });
}

// What a person gets who types npm install askd: nothing of this tree but what the package contains.
beforeAll(() => {
  execFileSync("npm", ["pack", "--silent", "--pack-destination", root], { cwd: freshClone(), stdio: "pipe" });
  install(app);
}, 240_000);

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

test("without its optional package it is small, and works where Node has SQLite", () => {
  const lean = join(root, "lean");
  install(lean, "--omit=optional");
  expect(megabytes(join(lean, "node_modules"))).toBeLessThanOrEqual(MOST_OWN_MEGABYTES);
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major < 22 || (major === 22 && minor < 16)) return;
  const ask = () => execFileSync(join(lean, "node_modules/.bin/askd"), ["ask", "Ready?"], { cwd: lean, env });
  expect(ask).not.toThrow();
});
