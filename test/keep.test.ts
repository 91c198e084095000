import { expect, test } from "vitest";
import { killWhileKeeping } from "./proof/keep/kills.ts";
import { moveAround } from "./proof/keep/moves.ts";

test("a store with every state moves to PostgreSQL and back under writes, and goes on there", async () => {
  const moved = await moveAround({ turns: 20, hops: 2, busyHops: [2] });
  const { hops, acknowledged, pendingInExports, importedBusy, answered, problems } = moved;
  expect(problems).toEqual([]);
  expect(hops).toBe(2);
  for (const count of [acknowledged, pendingInExports, importedBusy, answered]) expect(count).toBeGreaterThan(9);
}, 300_000);

test("a backup, export, import or restore that is killed leaves nothing half and loses nothing", async () => {
  const killed = await killWhileKeeping("sqlite", 1);
  expect(killed.flatMap(({ problems }) => problems)).toEqual([]);
  expect(killed.map(({ operation }) => operation)).toEqual(["backup", "export", "import", "restore"]);
}, 180_000);
