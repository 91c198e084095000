import { Refusal } from "../../../core/refusal.ts";
import { unreachable } from "../../../core/unreachable.ts";
import { listRecords, type UndoResult, recordsFor, undoRecord } from "../../../setup/undo.ts";
import type { Context } from "../../context.ts";
import { nameOf } from "./init-view.ts";
import { printResult } from "../../output.ts";
import { oneLine } from "../../view/sanitise.ts";

const EXIT_ERROR = 1;
const FIELDS = ["version", "dir", "scope", "clients", "files", "written"];

/** Puts back what init changed for this project, the newest change first. */
export async function undoInit(dir: string, root: string, context: Context): Promise<number> {
  const records = await recordsFor(root, dir);
  if (records.length === 0) throw await nothingToUndo(dir, root);
  const undone: UndoResult[] = [];
  for (const record of records) undone.push(...(await undoRecord(record)));
  const last = [...new Map(undone.map((one) => [one.file, one])).values()];
  printResult(context, FIELDS, {
    page: () => last.map((one) => `${say(one, dir, context)}\n`).join(""),
    json: () => ({ dir, files: last }),
  });
  return last.some(({ is }) => is === "failed") ? EXIT_ERROR : 0;
}

async function nothingToUndo(dir: string, root: string): Promise<Refusal> {
  const others = [...new Set((await listRecords(root)).map((record) => record.dir))];
  const hint = others.length > 0 ? `It was used in ${others.map(oneLine).join(", ")}` : "Wire your agents: askd init";
  return new Refusal("not_found", `init has changed nothing for ${oneLine(dir)}`, { hint });
}

function say(one: UndoResult, dir: string, { style, homeDir }: Context): string {
  const name = nameOf(one.file, { dir, homeDir });
  const done = style.green("✓");
  switch (one.is) {
    case "restored":
      return `${done} ${name} is as it was`;
    case "removed":
      return `${done} ${name} is gone again`;
    case "taken_out":
      return `${done} ${name} was changed since; only what is of askd was taken out`;
    case "kept":
      return `${done} ${name} was changed since; it stays`;
    case "failed":
      return `${style.red("✗")} ${name} was left as it is: ${oneLine(one.why)}`;
    default:
      return unreachable(one);
  }
}
