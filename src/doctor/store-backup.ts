import { existsSync } from "node:fs";
import { sayDuration } from "../core/text/duration.ts";
import { instant, msBetween } from "../core/instant.ts";
import { findLastBackup } from "../store/sqlite/backup.ts";
import type { Finding } from "./finding.ts";
import type { Patient } from "./doctor-context.ts";

/** When the store was last copied, as far as that is known. */
export async function checkBackup({ store, nowMs }: Pick<Patient, "store" | "nowMs">): Promise<Finding[]> {
  const backup = store.kind === "sqlite" ? await findLastBackup(store.file) : undefined;
  if (!backup) return [];
  const age = `${sayDuration(Math.max(0, msBetween(backup.at, instant(nowMs()))))} ago`;
  if (existsSync(backup.file)) return [{ code: "backup", area: "store", level: "ok", text: `last backup ${age}` }];
  return [
    {
      ...{ code: "backup_gone", area: "store", level: "warning", fix: "askd backup" },
      text: `the last backup, made ${age}, is no longer at ${backup.file}`,
    },
  ];
}
