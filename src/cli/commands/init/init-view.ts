import { pluralize } from "../../../core/text/plural.ts";
import { relative } from "node:path";
import type { Scope } from "../../../agents/wiring.ts";
import type { FoundClient } from "../../../setup/clients.ts";
import { textOf } from "../../../setup/config-file.ts";
import { unifiedDiff } from "../../../setup/diff.ts";
import { type FilePlan, isChange } from "../../../setup/plan.ts";
import type { Context } from "../../context.ts";
import { asTyped } from "../../program.ts";
import { oneLine, sanitise } from "../../view/sanitise.ts";
import { cellsOf, padCells } from "../../terminal/terminal.ts";

const WIDEST_NAME = 40;

/** The clients that init found, and its plan for each. */
export interface Wired {
  version: string;
  /** The top folder of the project. */
  dir: string;
  homeDir: string;
  isRepository: boolean;
  repo: string | undefined;
  scope: Scope;
  clients: readonly FoundClient[];
  plans: readonly FilePlan[];
}

/** Renders the found clients and the planned changes, before the confirmation. */
export function renderPlan(wired: Wired, { style, program }: Pick<Context, "style" | "program">): string {
  const due = wired.plans.filter(isChange);
  return [
    `askd ${wired.version}`,
    "",
    `${style.bold("Found")}   ${wired.clients.map(sayFound).join(", ")}`,
    `${style.bold("Repo")}    ${oneLine(wired.repo ?? wired.dir)} (${wired.isRepository ? "git" : "no git"})`,
    "",
    ...(due.length > 0 ? [style.bold("Will change"), ...renderFiles(due, wired), ""] : []),
    ...(due.length > 0 ? sayHints(due, wired).map((line) => asTyped(line, program)) : []),
  ]
    .map((line) => `${line}\n`)
    .join("");
}

/** The files and what is new in them, in two columns. */
function renderFiles(plans: readonly FilePlan[], wired: Wired) {
  const names = plans.map(({ file }) => nameOf(file, wired));
  const width = Math.min(WIDEST_NAME, Math.max(...names.map(cellsOf)));
  return plans.flatMap(({ says, notes }, index) => {
    const name = names[index] ?? "";
    const isLong = cellsOf(name) > width;
    const note = notes.length > 0 ? ` (${[...new Set(notes)].join(", ")})` : "";
    const lines = says.map((text, at) => `${text}${at === 0 ? note : ""}`);
    return [
      ...(isLong ? [`  ${name}`] : []),
      ...lines.map((text, at) => `  ${padCells(at === 0 && !isLong ? name : "", width)}  ${oneLine(text)}`),
    ];
  });
}

function sayHints(due: readonly FilePlan[], { scope, dir, isRepository }: Wired) {
  const shared = due.filter(
    ({ file, how }) => how.kind === "settings" && isInside(file, dir) && !/\.local\./.test(file),
  );
  if (scope === "project") {
    return [
      "These files are for everybody: commit them. Each of your team approves the server once in Claude Code.",
      "",
    ];
  }
  if (!isRepository || shared.length === 0) return [];
  return ["Files in the project name askd on this machine. For files to commit: askd init --scope project", ""];
}

/** Every change as a diff that `patch` takes. */
export function renderDiffs({ plans, dir }: Wired, { stdout }: Pick<Context, "stdout">): string {
  const diffs = plans
    .filter(isChange)
    .map(({ file, before, after }) =>
      unifiedDiff(isInside(file, dir) ? relative(dir, file) : file, before && textOf(before), after && textOf(after)),
    );
  // A program gets the bytes as they are; on a terminal nothing may act.
  return stdout.isTty ? sanitise(diffs.join("")) : diffs.join("");
}

/** Renders the changes that were made, and those that failed. */
export function renderApplied(
  result: Wired & { written: readonly FilePlan[]; failed: ReadonlyArray<{ plan: FilePlan; why: string }> },
  { style, program, isQuiet }: Context,
): string {
  const { plans, written, failed } = result;
  const left = [
    ...plans.flatMap(({ file, problem }) => (problem ? [{ file, why: problem.why, snippet: problem.snippet }] : [])),
    ...failed.map(({ plan, why }) => ({ file: plan.file, why, snippet: undefined })),
  ];
  const titles = new Set(plans.filter((plan) => !plan.problem).flatMap((plan) => plan.titles));
  for (const title of [...plans.filter(({ problem }) => problem), ...failed.map(({ plan }) => plan)].flatMap(
    (plan) => plan.titles,
  )) {
    titles.delete(title);
  }
  titles.delete("all agents");
  const count = pluralize(titles.size, "agent");
  const done =
    written.length > 0
      ? `${style.green("✓")} ${count} wired. Comments and formatting kept. Undo: ${program} init --undo`
      : `${style.green("✓")} ${count} already wired. Nothing to change.`;
  return [
    ...(isQuiet || titles.size === 0 ? [] : [done]),
    ...left.flatMap(({ file, why, snippet }) => [
      `${style.red("✗")} ${nameOf(file, result)} was left as it is: ${oneLine(why)}`,
      ...(snippet === undefined ? [] : ["  Put this into it by hand:", ...indent(snippet)]),
    ]),
  ]
    .map((line) => `${line}\n`)
    .join("");
}

/** The same for programs. */
export function viewPlans({ version, dir, scope, clients, plans }: Wired): object {
  return {
    version,
    dir,
    scope,
    clients: clients.map(({ client, program, version: own, home }) => ({
      name: client.name,
      title: client.title,
      program: program ?? null,
      version: own ?? null,
      home: home ?? null,
    })),
    files: plans.map((plan) => ({
      file: plan.file,
      clients: plan.titles,
      says: plan.says,
      notes: plan.notes,
      status: plan.problem ? "left_alone" : isChange(plan) ? (plan.before ? "change" : "create") : "wired",
      problem: plan.problem?.why ?? null,
      snippet: plan.problem?.snippet ?? null,
    })),
  };
}

function sayFound({ client, version, program, home }: FoundClient) {
  if (version !== undefined) return `${client.title} ${oneLine(version)}`;
  if (program === undefined && home === undefined) return `${client.title} (not found here)`;
  return program === undefined ? `${client.title} (by its settings)` : client.title;
}

/** As a person writes it: from the project, or from home. */
export function nameOf(file: string, { dir, homeDir }: { dir: string; homeDir: string }): string {
  if (isInside(file, dir)) return oneLine(relative(dir, file));
  return oneLine(isInside(file, homeDir) ? `~/${relative(homeDir, file)}` : file);
}

function isInside(file: string, dir: string) {
  const way = relative(dir, file);
  return way !== "" && !way.startsWith("..") && !/^[/\\]|^\w:/.test(way);
}

function indent(text: string) {
  return sanitise(text)
    .trimEnd()
    .split("\n")
    .map((line) => `    ${line}`);
}
