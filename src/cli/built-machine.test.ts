import { cpSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BuiltScene } from "../../test/built.ts";
import { makeSilent } from "../../test/machines.ts";
import { HOUR_MS } from "../core/instant.ts";

const ASKS = `#!/bin/sh
if [ -n "$ASKD_ANSWER_FILE" ]; then
  echo "all done"
  exit 0
fi
echo '<<ASK_HUMAN>> {"question": "Redis or Memcached?", "options": ["Redis", "Memcached"]} <</ASK_HUMAN>>'
`;

/** Makes a program believe that its host has another name. */
const RENAME = `import os from "node:os";
import { syncBuiltinESMExports } from "node:module";
os.hostname = () => process.env.TEST_HOST_NAME;
syncBuiltinESMExports();
`;

/** The environment of a program on a host of that name, where nothing goes on in the background. */
function hostNamed(at: BuiltScene, name: string): Record<string, string> {
  const file = join(at.home, "rename.mjs");
  writeFileSync(file, RENAME);
  return { ASKD_NO_SERVICE: "1", NODE_OPTIONS: `--import=${file}`, TEST_HOST_NAME: name };
}

test("a run goes on after its host was given another name, as containers are", async () => {
  const at = new BuiltScene();
  at.program("agent.sh", ASKS);
  const before = hostNamed(at, "f3a9c1d2e4b5");
  expect(await at.typeWith(before, "run", "--", "./agent.sh")).toMatchObject({ exit: 0 });
  await at.typeWith(before, "worker", "--idle", "1s");
  expect(await at.show("1")).toMatchObject({ status: "awaiting_input" });
  const after = hostNamed(at, "0b1c2d3e4f50");
  expect(await at.typeWith(after, "answer", "1", "Redis")).toMatchObject({ exit: 0 });
  await at.typeWith(after, "worker", "--idle", "1s");
  expect(await at.show("1")).toMatchObject({ status: "completed", host: expect.stringMatching(/^f3a9c1d2e4b5~/) });
});

test("a run whose machine is away says so, goes on elsewhere with what was carried along, and is left alone by the old machine", async () => {
  const at = new BuiltScene();
  at.program("agent.sh", ASKS);
  const file = join(at.home, "data", "askd.db");
  const off = { ASKD_NO_SERVICE: "1" };
  const other = join(at.home, "other");
  const there = { ...off, ASKD_HOME: other, ASKD_STORE: `sqlite:${file}` };
  await at.typeWith(off, "run", "--", "./agent.sh");
  await at.typeWith(off, "worker", "--idle", "1s");
  const { id, host } = await at.show("1");
  await makeSilent(file, 3 * HOUR_MS);

  const name = hostname();
  const answered = await at.typeWith(there, "answer", "1", "Redis");
  expect(answered.stdout.toString()).toContain(`#1 continues when ${name} is back (last heard of 3h ago)`);
  expect((await at.typeWith(there, "status")).stdout.toString()).toContain("WAITING FOR A MACHINE:");
  const missing = await at.typeWith(there, "runs", "resume", "1", "--elsewhere");
  expect(missing).toMatchObject({ exit: 5, stderr: expect.stringContaining("its launch record is not here") });

  cpSync(join(at.home, "state", "runs", String(id)), join(other, "state", "runs", String(id)), { recursive: true });
  const moved = await at.typeWith(there, "runs", "resume", "1", "--elsewhere");
  expect(moved).toMatchObject({ exit: 0, stderr: "Resume it with: askd worker\n" });
  expect(moved.stdout.toString()).toBe(`✓ #1 agent-sh continues on this machine; it is resuming (it was on ${name})\n`);

  await at.typeWith(off, "worker", "--idle", "1s");
  expect(await at.show("1")).toMatchObject({ status: "resuming" });
  await at.typeWith(there, "worker", "--idle", "1s");
  const ended = await at.show("1");
  expect(ended).toMatchObject({ status: "completed", host: expect.stringMatching(/~[0-9a-f]{6}$/) });
  expect(ended["host"]).not.toBe(host);
  expect(ended["session"]).toBeNull();
});
