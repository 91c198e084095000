import { existsSync } from "node:fs";
import { sayDuration } from "../../core/text/duration.ts";
import { MINUTE_MS, SECOND_MS, epochMs } from "../../core/instant.ts";
import { Refusal } from "../../core/refusal.ts";
import type { Look } from "../../store/inspection.ts";
import { sayError } from "../run-checks.ts";
import type { Finding } from "../finding.ts";
import type { Patient } from "../doctor-context.ts";

/** Clocks this far apart are as good as the same; farther, and what people are told of times is wrong. */
const NEAR_MS = 5 * SECOND_MS;
const FAR_MS = MINUTE_MS;

/** The store as it was found, and what is to be said of it. */
export interface Looked {
  look: Look | undefined;
  findings: Finding[];
}

/** Looks into the store without changing anything about it. */
export async function lookIntoStore(patient: Pick<Patient, "store" | "nowMs">): Promise<Looked> {
  const { store, nowMs } = patient;
  if (store.kind === "server") {
    return { look: undefined, findings: [{ code: "store", area: "store", level: "ok", text: `behind ${store.url}` }] };
  }
  if (store.kind === "sqlite" && !existsSync(store.file)) {
    const text = "sqlite, made when the first question is asked";
    return { look: undefined, findings: [{ code: "store_new", area: "store", level: "ok", text }] };
  }
  const from = nowMs();
  const startedAt = performance.now();
  try {
    const look = await openLook(store);
    const ms = performance.now() - startedAt;
    const clock = store.kind === "postgres" ? checkClock(look, { from, to: nowMs() }) : [];
    return { look, findings: [...describe(look, store.kind === "postgres" ? ms : undefined), ...clock] };
  } catch (error) {
    const fix = error instanceof Refusal ? error.hint : undefined;
    const code = error instanceof Refusal ? error.code : "store_unusable";
    return {
      look: undefined,
      findings: [{ code, area: "store", level: "problem", text: sayError(error), ...(fix !== undefined && { fix }) }],
    };
  }
}

/** Only the library of the store that is used gets loaded. */
async function openLook(store: Exclude<Patient["store"], { kind: "server" }>): Promise<Look> {
  if (store.kind === "sqlite") return (await import("../../store/sqlite/inspection.ts")).lookAtSqlite(store.file);
  return (await import("../../store/postgres/inspection.ts")).lookAtPostgres(store.url);
}

function describe(look: Look, ms: number | undefined): Finding[] {
  const findings: Finding[] = [];
  if (look.schema === "newer") {
    findings.push({
      ...{ code: "newer_schema", area: "store", level: "problem" },
      text: "a newer askd has changed the store, and this one may not write to it",
      fix: "npm install -g askd@latest",
    });
  }
  if (!look.isDurable) {
    findings.push({
      ...{ code: "not_durable", area: "store", level: "problem" },
      text: `${look.keeper} runs with ${look.durability}: an answer could be lost with the power`,
      fix: look.keeper.startsWith("sqlite")
        ? "put the store on a local disk"
        : "alter database … set synchronous_commit = on",
    });
  }
  if (look.heldBy) findings.push(...checkHolder(look.heldBy));
  const isGood = look.isDurable && look.schema !== "newer";
  const parts = [look.keeper, look.durability, ...(ms === undefined ? [] : [`${Math.round(ms)} ms`])];
  const later = look.schema === "current" || look.schema === "newer" ? [] : ["tables made at the next use"];
  findings.push({
    code: "store",
    area: "store",
    level: "ok",
    text: [...(isGood ? parts : [look.keeper]), ...later].join(", "),
  });
  return findings;
}

/** Somebody's transaction that keeps the feed from going on. */
export function checkHolder({ pid, ms }: NonNullable<Look["heldBy"]>): Finding[] {
  return [
    {
      ...{ code: "feed_held", area: "store", level: "warning" },
      text: `process ${pid} of the database has had a transaction open for ${sayDuration(ms)}: live updates wait for it`,
      fix: `select pg_terminate_backend(${pid})`,
    },
  ];
}

/** Compares the store's clock with the one of this machine, which showed these times before and after it was read. */
function checkClock(look: Look, { from, to }: { from: number; to: number }): Finding[] {
  return compareClocks(epochMs(look.now), { from, to }, "the database");
}

/** What is to be said of a clock elsewhere that was read between two times of this machine's. */
export function compareClocks(
  there: number,
  { from, to }: { from: number; to: number },
  where: "the database" | "the server",
): Finding[] {
  const area = where === "the server" ? "server" : "store";
  const apartMs = there < from ? from - there : there > to ? there - to : 0;
  if (apartMs < NEAR_MS) return [{ code: "clock", area, level: "ok", text: "clock ok" }];
  const which = there < from ? "ahead of" : "behind";
  return [
    {
      ...{ code: "clock_off", area, level: apartMs < FAR_MS ? "warning" : "problem" },
      text: `this machine's clock is ${sayDuration(apartMs)} ${which} the one of ${where}: deadlines come at other times than shown`,
      fix: "set the clock: timedatectl set-ntp true",
    },
  ];
}
