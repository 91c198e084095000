import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const MAX_LINES = 400;
/** The lives that ARCHITECTURE.md follows, by the title of their section, and the most files that each may pass. */
const LIVES = [
  { title: "The life of a question", mostFiles: 24 },
  { title: "The life of a run", mostFiles: 30 },
  { title: "The life of an answer in the browser", mostFiles: 20 },
  { title: "The life of a message", mostFiles: 20 },
  { title: "The life of a workflow step", mostFiles: 15 },
] as const;
/** Where a process begins: a command of this table, the script of a page, or a request to a server. */
const COMMAND_TABLE = "src/cli/command.ts";
const PAGE_SCRIPT = "src/web/client/main.ts";
const REQUEST_ENTRY = "src/server/server.ts";

/** What each part of src may import besides itself. Changing this table changes the design. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  core: [],
  edit: [],
  config: ["core", "edit"],
  store: ["core", "sqlite.ts"],
  engine: ["core", "store"],
  agents: ["core", "store", "engine", "edit", "sqlite.ts"],
  workflow: ["core", "store", "engine"],
  channels: ["core"],
  web: ["core"],
  server: ["core", "store", "engine", "web"],
  setup: ["core", "config", "edit", "agents"],
  doctor: ["core", "config", "store", "engine", "agents", "server", "setup"],
  cli: ["core", "config", "store", "engine", "agents", "workflow", "server", "setup", "doctor"],
  "sqlite.ts": [],
  "app.ts": ["core", "config", "store", "engine", "agents", "workflow", "channels", "server", "web", "sqlite.ts"],
  "index.ts": ["core", "store", "engine", "agents", "workflow", "channels", "server", "app.ts"],
};

/** The folders of agents: everything but the registry and the command line gets at them through the registry. */
const AGENT_FOLDER = /^src\/agents\/(?:claude|codex|command|gemini|opencode)\//;
const MAY_IMPORT_AGENT = /^src\/(?:agents\/agents\.ts$|cli\/)/;

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

  test("of an agent's folder are made by the registry, by other agents and by the command line alone", () => {
    const wrong = files
      .filter((file) => !isTest(file) && !AGENT_FOLDER.test(file) && !MAY_IMPORT_AGENT.test(file))
      .flatMap((file) => ownImports(file).map((target) => ({ file, target })))
      .filter(({ target }) => AGENT_FOLDER.test(target))
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

describe("tests", () => {
  test("import no other test file, except those that repeat its tests and share no modules with it", () => {
    const importing = files.filter((file) => ownImports(file).some((target) => /\.test\.tsx?$/.test(target)));
    expect(importing).toEqual(["src/cli/remote.test.ts", "src/engine/remote/remote-engine.test.ts"]);
  });
});

describe("files", () => {
  test(`have at most ${MAX_LINES} lines`, () => {
    const long = files
      .filter((file) => !isTest(file))
      .filter((file) => (textOf.get(file) ?? "").split("\n").length - 1 > MAX_LINES);
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

  test("have comments that begin with a noun or a verb, not with What or Who in its place", () => {
    const wrong = files.flatMap((file) =>
      [...(textOf.get(file) ?? "").matchAll(/(?:^|\s)(?:\/\/|\/\*\*|\*) ?(?:What|Who|Whoever|Whom|Whose)\b.*/g)].map(
        ([comment]) => `${file}: ${comment.trim()}`,
      ),
    );
    expect(wrong).toEqual([]);
  });

  test("pass scripts/tree.mjs: no full folder, no import cycle, no packing, no any", () => {
    const { status, stderr } = spawnSync(process.execPath, [join(ROOT, "scripts/tree.mjs")], { encoding: "utf8" });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  }, 120_000);

  test("are not named after nothing in particular", () => {
    expect(files.filter((file) => /\/(utils?|helpers?|types|common)\.tsx?$/.test(file))).toEqual([]);
  });
});

describe("ARCHITECTURE.md", () => {
  const text = readFileSync(join(ROOT, "ARCHITECTURE.md"), "utf8");
  const lives = LIVES.map(({ title, mostFiles }) => ({ title, mostFiles, stations: findStations(text, title) }));
  /** The other lives take up from here and do not repeat it. */
  const question = lives[0]?.stations ?? [];

  test.each(lives)("follows $title over at most $mostFiles files", ({ stations, mostFiles }) => {
    const passed = new Set(stations.map(({ file }) => file));
    expect(passed.size).toBeGreaterThan(8);
    expect(passed.size).toBeLessThanOrEqual(mostFiles);
  });

  test.each(lives)("names stations of $title that exist", ({ stations }) => {
    const missing = stations.filter(({ file, name }) => !isDefined(textOf.get(file) ?? "", name));
    expect(missing.map(({ file, name }) => `${file}:${name}`)).toEqual([]);
  });

  test.each(lives)("skips no station of $title", ({ stations }) => {
    const before = stations === question ? [] : question.map(({ file }) => file);
    const unreached = stations.filter(
      (station, index) => !isReached(station, [...before, ...stations.slice(0, index).map(({ file }) => file)]),
    );
    expect(unreached.map(({ file, name }) => `${file}:${name}`)).toEqual([]);
  });

  test("names files that exist", () => {
    const named = [...text.matchAll(/`((?:src|test)\/[\w./-]+)(?::\w+)?`/g)].map(([, path = ""]) => path);
    expect(named.length).toBeGreaterThan(80);
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  test.each([
    ["a file that nobody before it imports", { file: "src/core/question/close.ts", name: "closeWith" }, false],
    ["a file that one before it imports", { file: "src/core/question/settle.ts", name: "settleOrClose" }, true],
    [
      "a name that the importing file does not use",
      { file: "src/core/question/settle.ts", name: "dueAfterUndo" },
      false,
    ],
    ["a new process that is no entry", { file: "src/core/question/close.ts", name: "close", begins: true }, false],
    ["a command as a new process", { file: "src/cli/commands/ask/ask.ts", name: "command", begins: true }, true],
    [
      "an interface that both import",
      { file: "src/engine/questions.ts", name: "ask", through: "src/core/answer/answer-input.ts" },
      true,
    ],
    [
      "an interface that only one of them imports",
      { file: "src/engine/waiters.ts", name: "wake", through: "src/core/answer/answer-input.ts" },
      false,
    ],
  ])("tells whether a station is reached: %s", (_case, station, expected) => {
    expect(isReached(station, ["src/core/answer/answer.ts"])).toBe(expected);
  });
});

/** One place that a question, run or answer passes: a function, class or method in a file. */
interface Station {
  file: string;
  name: string;
  /** The interface through which an earlier station reaches it. */
  through?: string | undefined;
  /** A process begins here. */
  begins?: boolean;
}
/** The modules that a source text imports, in any of the ways to write it. */
function importsOf(source: string): string[] {
  const code = source.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
  const statements = code.matchAll(/^(?:import|export)\s+(?:[\w*{][^"';(=]*?\sfrom\s*)?["']([^"']+)["']/gm);
  const calls = code.matchAll(/\bimport\(\s*["']([^"']+)["']\s*\)/g);
  return [...statements, ...calls].flatMap((match) => match[1] ?? []);
}

/** The stations of a section: its numbered lines that start with `path/file.ts:function`. */
function findStations(markdown: string, title: string): Station[] {
  const section = markdown.split(/^## /m).find((part) => part.startsWith(`${title}\n`)) ?? "";
  const lines = section.matchAll(/^\d+\. `([\w./-]+\.tsx?):(\w+)`(?: \((through `([\w./-]+)`|new process[^)]*)\))?/gm);
  return [...lines].map(([, file = "", name = "", mark, through]) => ({
    file,
    name,
    through,
    begins: mark?.startsWith("new process") ?? false,
  }));
}

/** Says whether the station is where the ones before it lead: nothing between them is left out. */
function isReached({ file, name, through, begins }: Station, before: readonly string[]): boolean {
  if (begins) {
    return file === REQUEST_ENTRY || [COMMAND_TABLE, PAGE_SCRIPT].some((entry) => ownImports(entry).includes(file));
  }
  const leadsTo = (target: string): string[] =>
    before.filter((earlier) => earlier === target || ownImports(earlier).includes(target));
  if (through !== undefined) {
    return leadsTo(through).length > 0 && (file === through || ownImports(file).includes(through));
  }
  return leadsTo(file).some((earlier) => new RegExp(`\\b${name}\\b`).test(textOf.get(earlier) ?? ""));
}

/** Says whether a source text has that exported function, class or constant, or a class method, by its name. */
function isDefined(source: string, name: string): boolean {
  const exported = new RegExp(`^export (?:async )?(?:function\\*?|const|class) ${name}\\b`, "m");
  const inClass = new RegExp(`^  (?:async )?\\*?${name}(?:<[^>]*>)?\\(`, "m");
  return exported.test(source) || (/^(?:export )?class /m.test(source) && inClass.test(source));
}
