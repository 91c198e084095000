import { expect, test } from "vitest";
import { aRun } from "../../../test/builders.ts";
import { WorkflowDefinition } from "../../core/workflow/definition/definition.ts";
import type { Run } from "../../core/run/run.ts";
import type { Store } from "../../store/store.ts";
import { mayStartNow } from "./start-limit.ts";

const LIVE = 2_000;

function definition(over: object) {
  return WorkflowDefinition.parse({ name: "fix", steps: [{ id: "a", tool: "shell" }], ...over });
}

/** A store with these runs, that counts how many it was asked for. */
function aStore(runs: readonly Run[]) {
  const sorted = runs.toSorted((one, other) => (one.id < other.id ? -1 : 1));
  const read = { rows: 0 };
  const listRuns: Store["listRuns"] = ({ after, limit }) => {
    const page = sorted.filter(({ id }) => after === undefined || id > after).slice(0, limit);
    read.rows += page.length;
    return Promise.resolve(page);
  };
  // Nothing else is read.
  return { store: { listRuns } as Store, read };
}

const workflow = (key?: string) => ({ name: "fix", definition: "hash", tree: "tree", ...(key && { key }) });

test("a run that has to wait reads few of those that are before it", async () => {
  const runs = Array.from({ length: LIVE }, () => aRun({ status: "awaiting_input", workflow: workflow() }));
  const last = aRun({ status: "queued", workflow: workflow() });
  const { store, read } = aStore([...runs, last]);
  expect(await mayStartNow(last, { definition: definition({ max_running: 3 }), isReopened: false }, { store })).toBe(
    false,
  );
  expect(read.rows).toBeLessThan(LIVE / 10);
});

test("a run reads none of those that are after it", async () => {
  const first = aRun({ status: "queued", workflow: workflow("shop") });
  const runs = Array.from({ length: LIVE }, () => aRun({ status: "queued", workflow: workflow("shop") }));
  const { store, read } = aStore([first, ...runs]);
  expect(await mayStartNow(first, { definition: definition({ max_running: 3 }), isReopened: false }, { store })).toBe(
    true,
  );
  expect(read.rows).toBeLessThan(LIVE / 10);
});

test("a key waits for an older run that has it, wherever that is", async () => {
  const others = Array.from({ length: LIVE }, () => aRun({ workflow: { ...workflow("shop"), name: "other" } }));
  const same = aRun({ status: "running", workflow: workflow("shop") });
  const run = aRun({ status: "queued", workflow: workflow("shop") });
  const free = aRun({ status: "queued", workflow: workflow("mail") });
  const { store } = aStore([...others, same, run, free]);
  expect(await mayStartNow(run, { definition: definition({}), isReopened: false }, { store })).toBe(false);
  expect(await mayStartNow(free, { definition: definition({}), isReopened: false }, { store })).toBe(true);
});

test("a key and the most runs at a time are those of one project", async () => {
  const other = aRun({ status: "running", dir: "/other", workflow: workflow("shop") });
  const run = aRun({ status: "queued", dir: "/project", workflow: workflow("shop") });
  const { store } = aStore([other, run]);
  expect(await mayStartNow(run, { definition: definition({ max_running: 1 }), isReopened: false }, { store })).toBe(
    true,
  );
});
