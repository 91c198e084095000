// Records `askd demo` as an animated picture of a terminal: docs/demo.svg. What it shows is what the program printed.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const OUT = join(ROOT, "docs", "demo.svg");
const COLUMNS = 92;
/** Nobody watches a program wait: longer pauses are cut to this. */
const LONGEST_PAUSE_MS = 900;
const LINE_MS = 60;
const ROW = 19;
const CHAR = 8.2;
const MARGIN = 16;
/** The lines from the first command to the end of the run. */
const FIRST = /^\$ askd run/;
const LAST = /^Next$/;
/** Lines with addresses of one recording. */
const LEFT_OUT = /^In another terminal:|^ {2}ASKD_HOME=/;

const lines = shorten(await record());
writeFileSync(OUT, draw(lines));
process.stdout.write(`${OUT}: ${lines.length} lines\n`);

/** The lines that the program prints, each with its time. */
async function record() {
  const home = mkdtempSync(join(tmpdir(), "askd-record-"));
  const env = { ...process.env, ASKD_HOME: home, COLUMNS: String(COLUMNS), NO_COLOR: "1" };
  env.PATH = `${join(ROOT, "bin")}${delimiter}${process.env.PATH}`;
  try {
    const program = join(ROOT, "bin", "askd");
    const child = spawn(program, ["demo", "--answer", "1"], { env, stdio: ["ignore", "pipe", "inherit"] });
    const printed = [];
    let rest = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      const parts = (rest + text).split("\n");
      rest = parts.pop() ?? "";
      for (const line of parts) printed.push({ line, atMs: performance.now() });
    });
    const exit = await new Promise((resolve) => child.once("close", resolve));
    if (exit !== 0) throw new Error(`askd demo ended with ${exit}`);
    return printed;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** The part to show, with short pauses. The name of the user of this machine is nobody's business. */
function shorten(printed) {
  const start = printed.findIndex(({ line }) => FIRST.test(line));
  const end = printed.findIndex(({ line }) => LAST.test(line));
  let showMs = 0;
  let beforeMs = printed[start].atMs;
  return printed
    .slice(start, end)
    .filter(({ line }) => !LEFT_OUT.test(line))
    .map(({ line, atMs }) => {
      showMs += Math.min(LONGEST_PAUSE_MS, Math.max(LINE_MS, atMs - beforeMs));
      beforeMs = atMs;
      return { line: line.replaceAll(`by ${userInfo().username} (cli)`, "by you (cli)"), showMs };
    });
}

function draw(shown) {
  const width = Math.ceil(COLUMNS * CHAR + 2 * MARGIN);
  const height = shown.length * ROW + 2 * MARGIN;
  const rows = shown.map(({ line, showMs }, index) => {
    const y = MARGIN + (index + 1) * ROW - 5;
    const kind = line.startsWith("$ ") ? "c" : line.startsWith("✓") ? "g" : line.startsWith(" askd") ? "q" : "t";
    const at = `style="animation-delay:${(showMs / 1000).toFixed(1)}s"`;
    return line === "" ? "" : `<text class="${kind}" x="${MARGIN}" y="${y}" ${at}>${escape(line)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="askd demo: an agent asks, is stopped, and resumes with the answer">
<style>text{font:13.6px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre;opacity:0;animation:s .1s forwards}@keyframes s{to{opacity:1}}.t{fill:#ececea}.q{fill:#a6a8ad}.c{fill:#8fb0ff;font-weight:600}.g{fill:#86d9a5}@media(prefers-reduced-motion:reduce){text{animation:none;opacity:1}}</style>
<rect width="100%" height="100%" rx="8" fill="#131416"/>
${rows.filter((row) => row !== "").join("\n")}
</svg>
`;
}

function escape(text) {
  return text.replace(/[&<>]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign]);
}
