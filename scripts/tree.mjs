// Measures the shape of src: `npm run tree`, or `node scripts/tree.mjs <root>` for another checkout.
// Fails if a folder is too full, or where import cycles, `...{ }` packing or `any` are found.
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, normalize, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseSync } from "vite";

const MAX_FILES = 25;
const SMALL_LINES = 40;
const SHOWN = 5;
const NOT_SOURCE = /\.(test|suite|child)\.tsx?$|\/suite\//;
const TOKEN =
  /[\p{L}_$][\p{L}\p{N}_$]*|\d[\w.]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`|=>|\.\.\.|[^\s]/gsu;
const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

const root = resolve(process.argv[2] ?? dirname(dirname(fileURLToPath(import.meta.url))));
const files = new Map(listSources().map((path) => [path, measure(path)]));
const problems = [];
report();
process.exitCode = problems.length > 0 ? 1 : 0;

function listSources() {
  return readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .map((name) => `src/${name.replaceAll("\\", "/")}`)
    .filter((path) => /\.tsx?$/.test(path) && !NOT_SOURCE.test(path))
    .sort();
}

/** What one file holds: its lines, functions, imports, tokens and the places to avoid. */
function measure(path) {
  const text = readFileSync(join(root, path), "utf8");
  const { program, comments, errors } = parseSync(path, text, { sourceType: "module" });
  if (errors.length > 0) throw new Error(`${path}: ${errors[0].message}`);
  const found = { lines: countLines(text), functions: [], imports: [], packing: 0, conditional: 0, any: 0, tokens: 0 };
  visit(program, (node, parent) => inspect(node, parent, { path, text, found }));
  found.tokens = countTokens(text, comments);
  return found;
}

function inspect(node, parent, { path, text, found }) {
  if (FUNCTIONS.has(node.type) && node.body?.type === "BlockStatement") {
    found.functions.push({ path, name: nameOf(node, parent), lines: countLines(text.slice(node.start, node.end)) + 1 });
  }
  if (node.type === "SpreadElement" && parent?.type === "ObjectExpression") {
    const inner = node.argument.type === "ParenthesizedExpression" ? node.argument.expression : node.argument;
    if (inner.type === "ObjectExpression") found.packing += 1;
    if (inner.type === "LogicalExpression" && inner.right.type === "ObjectExpression") found.conditional += 1;
  }
  if (node.type === "TSAnyKeyword") found.any += 1;
  if (/^(Import|ExportNamed|ExportAll)Declaration$/.test(node.type) && node.source) {
    found.imports.push({ target: targetOf(path, node.source.value), isType: isTypeOnly(node) });
  }
  if (node.type === "ImportExpression" && node.source.type === "Literal") {
    found.imports.push({ target: targetOf(path, node.source.value), isDynamic: true });
  }
}

function nameOf(node, parent) {
  const named = node.id ?? parent?.key ?? parent?.id;
  return named?.name ?? "(anonymous)";
}

function targetOf(path, specifier) {
  return specifier.startsWith(".") ? normalize(join(dirname(path), specifier)).replaceAll("\\", "/") : undefined;
}

/** Says whether nothing of an import is left when the program runs. */
function isTypeOnly(node) {
  if (node.importKind === "type" || node.exportKind === "type") return true;
  return node.specifiers?.length > 0 && node.specifiers.every(({ importKind }) => importKind === "type");
}

function visit(node, look, parent) {
  look(node, parent);
  for (const [key, value] of Object.entries(node)) {
    if (key === "parent") continue;
    for (const child of Array.isArray(value) ? value : [value]) {
      if (child && typeof child === "object" && typeof child.type === "string") visit(child, look, node);
    }
  }
}

function countLines(text) {
  return text.split("\n").length - 1;
}

function countTokens(text, comments) {
  let code = "";
  let end = 0;
  for (const comment of comments) {
    code += text.slice(end, comment.start);
    end = comment.end;
  }
  return [...(code + text.slice(end)).matchAll(TOKEN)].length;
}

function report() {
  const folders = groupByFolder();
  const fullest = [...folders].sort(([, one], [, other]) => other.length - one.length);
  const lines = [...files].sort(([, one], [, other]) => other.lines - one.lines);
  const functions = [...files.values()].flatMap((file) => file.functions).sort((one, other) => other.lines - one.lines);
  const single = [...files].filter(([path]) => importersOf(path).length === 1);
  const small = single.filter(([, file]) => file.lines <= SMALL_LINES);
  const cycles = findCycles();
  show("files", files.size);
  show("folders", `${folders.size}, the fullest ${fullest[0][1].length} (${fullest[0][0]})`);
  show(
    "lines",
    `${sum("lines")}; per file median ${median(lines.map(([, file]) => file.lines))}, most ${lines[0][1].lines} (${lines[0][0]})`,
  );
  show(
    "functions",
    `${functions.length}; longest ${functions[0].lines} lines (${functions[0].name} in ${functions[0].path})`,
  );
  show("single-importer files", `${single.length}, of at most ${SMALL_LINES} lines ${small.length}`);
  show("import cycles", cycles.length);
  show("...{ packing", sum("packing"));
  show("conditional spreads", sum("conditional"));
  show("any", sum("any"));
  show("tokens outside comments", sum("tokens"));
  for (const [folder, members] of fullest) {
    if (members.length > MAX_FILES) problems.push(`${folder} has ${members.length} files; at most ${MAX_FILES}`);
  }
  addProblems(cycles.map((cycle) => `import cycle: ${cycle.join(" -> ")}`));
  for (const kind of ["packing", "any"]) {
    const found = [...files].filter(([, file]) => file[kind] > 0);
    addProblems(found.map(([path, file]) => `${path}: ${kind} ${file[kind]}`));
  }
  for (const problem of problems) process.stderr.write(`${problem}\n`);
}

/** Adds the first few of a kind, and how many more there are. */
function addProblems(all) {
  problems.push(...all.slice(0, SHOWN));
  if (all.length > SHOWN) problems.push(`  and ${all.length - SHOWN} more`);
}

function groupByFolder() {
  const folders = new Map();
  for (const path of files.keys()) {
    const members = folders.get(dirname(path)) ?? [];
    folders.set(dirname(path), [...members, path]);
  }
  return folders;
}

function show(name, value) {
  process.stdout.write(`${name.padEnd(25)}${value}\n`);
}

function sum(key) {
  return [...files.values()].reduce((total, file) => total + file[key], 0);
}

function median(values) {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];
}

function importersOf(path) {
  return [...files].filter(([, { imports }]) => imports.some(({ target }) => target === path)).map(([from]) => from);
}

/** One cycle of static runtime imports for each group of files that import each other. */
function findCycles() {
  const done = new Set();
  const cycles = [];
  const path = [];
  const walk = (file) => {
    const at = path.indexOf(file);
    if (at >= 0) {
      cycles.push([...path.slice(at), file]);
      return;
    }
    if (done.has(file)) return;
    path.push(file);
    for (const { target, isType, isDynamic } of files.get(file).imports) {
      if (!isType && !isDynamic && files.has(target)) walk(target);
    }
    path.pop();
    done.add(file);
  };
  for (const file of files.keys()) walk(file);
  return cycles;
}
