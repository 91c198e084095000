import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { serveForSuite } from "./server.ts";

const REVISIONS = ["2025-11-25", "2026-07-28"] as const;
const SUITE = resolve("node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js");
const SHIM = pathToFileURL(resolve("test", "conformance", "node20.mjs")).href;
const LIST = resolve("test", "conformance", "not-applicable.json");

const Checks = z.array(z.looseObject({ id: z.string(), status: z.string(), errorMessage: z.string().optional() }));
/** By revision: checks that say nothing about us, and why. */
const NotApplicable = z.record(
  z.string(),
  z.array(z.strictObject({ reason: z.string().min(1), checks: z.array(z.string()).min(1) })),
);

interface Check {
  /** The scenario and the check in it, as `scenario:check`. */
  name: string;
  status: "passed" | "failed";
  problem: string;
}

/** Runs the official suite against our server; whatever fails has to be on the list, and only that. */
async function main(): Promise<number> {
  const list = NotApplicable.parse(JSON.parse(readFileSync(LIST, "utf8")));
  let wrong = 0;
  for (const revision of REVISIONS) {
    const checks = await runSuite(revision);
    if (checks.length === 0) throw new Error(`the suite ran nothing for ${revision}`);
    wrong += report(
      revision,
      checks,
      new Map((list[revision] ?? []).flatMap(({ reason, checks: names }) => names.map((name) => [name, reason]))),
    );
  }
  return wrong === 0 ? 0 : 1;
}

async function runSuite(revision: string): Promise<Check[]> {
  const server = await serveForSuite();
  const dir = mkdtempSync(join(tmpdir(), "askd-conformance-"));
  try {
    const args = ["--import", SHIM, SUITE, "server", "--url", server.url, "--requirements", revision, "-o", dir];
    await new Promise<void>((done, fail) => {
      const child = spawn(process.execPath, args, { cwd: dir, stdio: process.env["VERBOSE"] ? "inherit" : "ignore" });
      child.once("error", fail);
      child.once("close", () => done());
    });
    return readChecks(dir);
  } finally {
    await server.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** One folder for each scenario, named after it and the time. A check that ran more than once has passed if none failed. */
function readChecks(dir: string): Check[] {
  const files = readdirSync(dir, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith("checks.json"));
  const found = new Map<string, Check>();
  for (const file of files.sort()) {
    const scenario = /server-(.+)-\d{4}-\d\d-\d\dT/.exec(file)?.[1] ?? file;
    for (const { id, status, errorMessage = "" } of Checks.parse(JSON.parse(readFileSync(join(dir, file), "utf8")))) {
      const name = `${scenario}:${id}`;
      if (status === "FAILURE") found.set(name, { name, status: "failed", problem: errorMessage });
      if (status === "SUCCESS" && !found.has(name)) found.set(name, { name, status: "passed", problem: "" });
    }
  }
  return [...found.values()];
}

function report(revision: string, checks: readonly Check[], list: ReadonlyMap<string, string>): number {
  const passed = checks.filter(({ status, name }) => status === "passed" && !list.has(name));
  const excused = checks.filter(({ status, name }) => status === "failed" && list.has(name));
  const failures = checks.filter(({ status, name }) => status === "failed" && !list.has(name));
  const stale = [...list.keys()].filter((name) => !excused.some((check) => check.name === name));
  console.log(`\n${revision}: ${passed.length} passed, ${excused.length} not applicable, ${failures.length} failed`);
  for (const { name } of passed) console.log(`  passed          ${name}`);
  for (const { name } of excused) console.log(`  not applicable  ${name}: ${list.get(name)}`);
  for (const { name, problem } of failures) console.log(`  FAILED          ${name}: ${problem}`);
  for (const name of stale) console.log(`  STALE           ${name} does not fail: take it off the list`);
  return failures.length + stale.length;
}

process.exitCode = await main();
