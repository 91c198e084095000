import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const MAX_LINES = 400;
/** One line for each verb of the engine, and nothing else: to split it would hide the list. */
const LONGER: Readonly<Record<string, number>> = { "src/engine/local-engine.ts": 500 };
/** A question passes at most this many places between the agent and its answer. */
const MAX_STATIONS = 8;

/** What each part of src may import besides itself. Changing this table changes the design. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  core: [],
  config: ["core"],
  store: ["core", "sqlite.ts"],
  engine: ["core", "store"],
  agents: ["core", "store", "engine", "sqlite.ts"],
  workflow: ["core", "store", "engine"],
  channels: ["core"],
  web: ["core"],
  server: ["core", "store", "engine", "web"],
  setup: ["core", "config", "agents"],
  doctor: ["core", "config", "store", "engine", "agents", "server", "setup"],
  cli: ["core", "config", "store", "engine", "agents", "workflow", "server", "setup", "doctor"],
  "sqlite.ts": [],
  "app.ts": ["core", "config", "store", "engine", "agents", "workflow", "channels", "server", "web", "sqlite.ts"],
  "index.ts": ["core", "store", "engine", "agents", "workflow", "channels", "server", "app.ts"],
};

/** Files that may import app.ts, which puts the parts together: where the command line meets the process. */
const MAY_IMPORT_APP = ["src/cli/process.ts"];

/** Outside modules that core may use: it has no clock, no randomness, no files and no network. */
const CORE_MODULES = ["zod", "node:crypto"];

const files = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => `src/${name.replaceAll("\\", "/")}`)
  .sort();
const textOf = new Map(files.map((file) => [file, readFileSync(join(ROOT, file), "utf8")]));
const isTest = (file: string): boolean => /\.(test|suite|child)\.tsx?$|\/suite\//.test(file);

function partOf(file: string): string {
  return file.split("/")[1] ?? file;
}

/** Relative imports of a file, as paths from the root. */
function ownImports(file: string): string[] {
  return importsOf(textOf.get(file) ?? "")
    .filter((name) => name.startsWith("."))
    .map((name) => normalize(join(dirname(file), name)).replaceAll("\\", "/"));
}

describe("imports", () => {
  test.each([
    ['import { a } from "./a.ts";', ["./a.ts"]],
    ['import type { A } from "./a.ts";', ["./a.ts"]],
    ['import {\n  a,\n  type B,\n} from "./a.ts";', ["./a.ts"]],
    ['import "./a.ts";', ["./a.ts"]],
    ['import fc from "fast-check";', ["fast-check"]],
    ['export * from "./a.ts";', ["./a.ts"]],
    ['const a = await import("./a.ts");', ["./a.ts"]],
    ['export function a() {\n  return "./b.ts";\n}', []],
    ['// import "./a.ts";', []],
  ])("are found in %j", (source, names) => {
    expect(importsOf(source)).toEqual(names);
  });

  test("every part of src is in the table of import directions", () => {
    expect(files.map(partOf).filter((part) => !Object.hasOwn(MAY_IMPORT, part))).toEqual([]);
  });

  test("point one way", () => {
    const wrong = files
      .filter((file) => !isTest(file))
      .flatMap((file) => ownImports(file).map((target) => ({ file, target })))
      .filter(({ file, target }) => {
        if (target === "src/app.ts") return partOf(file) !== "index.ts" && !MAY_IMPORT_APP.includes(file);
        return partOf(target) !== partOf(file) && !MAY_IMPORT[partOf(file)]?.includes(partOf(target));
      })
      .map(({ file, target }) => `${file} imports ${target}`);
    expect(wrong).toEqual([]);
  });

  test("of core are zod, node:crypto and core", () => {
    const wrong = files
      .filter((file) => partOf(file) === "core" && !isTest(file))
      .flatMap((file) => importsOf(textOf.get(file) ?? "").map((name) => ({ file, name })))
      .filter(({ name }) => !name.startsWith(".") && !CORE_MODULES.includes(name))
      .map(({ file, name }) => `${file} imports ${name}`);
    expect(wrong).toEqual([]);
  });

  test("carry the extension of the file and lead to a file that is there", () => {
    const wrong = files.flatMap((file) =>
      ownImports(file)
        .filter((target) => !textOf.has(target) && !target.startsWith("test/"))
        .map((target) => `${file} imports ${target}`),
    );
    expect(wrong).toEqual([]);
  });
});

describe("files", () => {
  test(`have at most ${MAX_LINES} lines`, () => {
    const long = files.filter((file) => (textOf.get(file) ?? "").split("\n").length - 1 > (LONGER[file] ?? MAX_LINES));
    expect(long).toEqual([]);
  });

  test("export by name only", () => {
    const wrong = files.filter((file) => /^export (default\b|\{[^}]*\bas default\b)/m.test(textOf.get(file) ?? ""));
    expect(wrong).toEqual([]);
  });

  test("re-export nothing, except index.ts", () => {
    const wrong = files.filter(
      (file) => file !== "src/index.ts" && /^export (type )?(\*|\{[^}]*\}) .*\bfrom\b/m.test(textOf.get(file) ?? ""),
    );
    expect(wrong).toEqual([]);
  });

  test("are not named after nothing in particular", () => {
    expect(files.filter((file) => /\/(utils?|helpers?|types|common)\.tsx?$/.test(file))).toEqual([]);
  });
});

describe("ARCHITECTURE.md", () => {
  const stations = findStations(readFileSync(join(ROOT, "ARCHITECTURE.md"), "utf8"));

  test(`follows a question over one to ${MAX_STATIONS} stations`, () => {
    expect(stations.length).toBeGreaterThan(0);
    expect(stations.length).toBeLessThanOrEqual(MAX_STATIONS);
  });

  test("names stations that exist", () => {
    const missing = stations.filter(({ file, name }) => !isDefined(textOf.get(file) ?? "", name));
    expect(missing.map(({ file, name }) => `${file}:${name}`)).toEqual([]);
  });
});

/** One place that a question passes: a function or method in a file. */
interface Station {
  file: string;
  name: string;
}

/** The modules that a source text imports, in any of the ways to write it. */
function importsOf(source: string): string[] {
  const code = source.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
  const statements = code.matchAll(/^(?:import|export)\s+(?:[\w*{][^"';(=]*?\sfrom\s*)?["']([^"']+)["']/gm);
  const calls = code.matchAll(/\bimport\(\s*["']([^"']+)["']\s*\)/g);
  return [...statements, ...calls].flatMap((match) => match[1] ?? []);
}

/** The stations of a question: the numbered lines of a Markdown text that start with `path/file.ts:function`. */
function findStations(markdown: string): Station[] {
  return [...markdown.matchAll(/^\d+\. `([\w./-]+\.tsx?):([\w.]+)`/gm)].flatMap(([, file, name]) =>
    file && name ? [{ file, name }] : [],
  );
}

/** Says whether a source text has that exported function or constant, or a class method, by its name. */
function isDefined(source: string, name: string): boolean {
  const method = name.split(".").at(-1) ?? name;
  const exported = new RegExp(`^export (?:async )?(?:function\\*?|const) ${method}\\b`, "m");
  const inClass = new RegExp(`^  (?:async )?\\*?${method}(?:<[^>]*>)?\\(`, "m");
  return exported.test(source) || (/^export class /m.test(source) && inClass.test(source));
}
