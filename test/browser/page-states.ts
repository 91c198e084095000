import { mkdtempSync, renameSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { SYSTEM, type Actor } from "../../src/core/people/actor.ts";
import { AnswerInput } from "../../src/core/answer/answer-input.ts";
import { parseAsk } from "../../src/core/question/ask-input.ts";
import type { Run } from "../../src/core/run/run.ts";
import type { RunInput } from "../../src/engine/engine.ts";
import { ROOMY } from "../scene.ts";
import type { WebStage } from "./stage.ts";
import { workedRun } from "./scripted-claude.ts";
import { LENA, type State, ask } from "./states.ts";

const CLAUDE: Actor = { scope: "agent", id: "claude", channel: "mcp", strength: "none" };
const MARKER = '<<ASK_HUMAN>> {"question": "Apple or pear?", "options": ["Apple", "Pear"]} <</ASK_HUMAN>>';
/** A command that works a little, asks once, and says what it was told. */
export const FRUIT = `if [ -n "$ASKD_ANSWER_FILE" ]; then echo "Thank you."; cat "$ASKD_ANSWER_FILE"; exit 0; fi
for i in 1 2 3 4 5 6; do echo "Looking at basket $i of 6"; done; echo '${MARKER}'`;

/** A run of an agent that askd started, elsewhere. */
export async function startedRun(stage: WebStage, over: RunInput = {}): Promise<Run> {
  const engine = await stage.engine();
  const run = await engine.createRun(
    { agent: "claude", host: "elsewhere", giveBack: "worker", repo: "acme/api", branch: "main", ...over },
    CLAUDE,
  );
  return engine.startRun(run.id, CLAUDE);
}

/** A run whose answer was stored without resuming it. */
export async function storedOnly(stage: WebStage): Promise<Run> {
  const engine = await stage.engine();
  const run = await startedRun(stage, { name: "rename-module" });
  const raw = { question: "Rename it to cache-client?", options: ["Yes", "No"] };
  const asked = await engine.ask(parseAsk(raw, { via: "mcp" }, ROOMY, await engine.now()), CLAUDE, { runId: run.id });
  await engine.endRun(run.id, { status: "completed" }, SYSTEM);
  await engine.answer(asked.question.id, AnswerInput.parse({ answer: "Yes", resume: false }), LENA);
  return run;
}

async function manyRuns(stage: WebStage): Promise<void> {
  const engine = await stage.engine();
  await ask(
    stage,
    { question: "Redis or Memcached for the caching layer?", options: ["Redis", "Memcached"] },
    { name: "add-caching" },
  );
  await split(stage);
  const deploy = await startedRun(stage, { name: "deploy" });
  await engine.endRun(deploy.id, { status: "failed", reason: "agent_error" }, SYSTEM);
  await storedOnly(stage);
}

/** A run that was split into parts, of which one asks and one is done. */
async function split(stage: WebStage): Promise<Run> {
  const engine = await stage.engine();
  const parent = await startedRun(stage, { name: "payments", externalId: "tm-xyz", branch: "feature/payments" });
  const auth = await startedRun(stage, { name: "auth", externalId: "tm-abc", parentId: parent.id });
  const raw = { question: "Should the API use JWT tokens or session cookies?", options: ["JWT", "Cookies"] };
  await engine.ask(parseAsk(raw, { via: "mcp" }, ROOMY, await engine.now()), CLAUDE, { runId: auth.id });
  await engine.endRun(auth.id, { status: "completed" }, SYSTEM);
  const tests = await startedRun(stage, { name: "tests", externalId: "tm-def", parentId: parent.id });
  await engine.endRun(tests.id, { status: "completed", summary: "32 tests" }, SYSTEM);
  return parent;
}

/** Starts the fruit command and comes back when its question is there. */
export async function askingRun(stage: WebStage, name: string): Promise<Run> {
  await stage.typeIn(stage.home, "run", "--name", name, "--", "sh", "-c", FRUIT);
  const engine = await stage.engine();
  return stage.until("the run asks", async () => {
    const [run] = (await engine.lookUp({ by: "name", text: name }, 1)).runs;
    return run?.status === "awaiting_input" ? run : undefined;
  });
}

/** A run whose directory is no longer there when it is answered, so that it cannot be started again. */
export async function missingRun(stage: WebStage): Promise<Run> {
  const dir = mkdtempSync(join(stage.home, "gone-"));
  await stage.typeIn(dir, "run", "--name", basename(dir), "--", "sh", "-c", `echo '${MARKER}'`);
  const engine = await stage.engine();
  const run = await stage.until("the run asks", async () => {
    const [found] = (await engine.lookUp({ by: "name", text: basename(dir) }, 1)).runs;
    return found?.status === "awaiting_input" ? found : undefined;
  });
  await stage.until("its directory is gone", async () => replaceByFile(dir));
  await engine.answer(run.pendingId!, AnswerInput.parse({ answer: "Pear" }), LENA);
  return run;
}

/** Puts a file where a directory was, so that nobody makes it again; who writes into it meanwhile may be faster once. */
function replaceByFile(dir: string): true | undefined {
  renameSync(dir, mkdtempSync(`${dir}-moved-`));
  try {
    writeFileSync(dir, "", { flag: "wx" });
    return true;
  } catch {
    return undefined;
  }
}

/** Pages beside the inbox where there is nothing yet. */
export const EMPTY_PAGES: readonly State[] = [
  { name: "runs-first", open: (page, stage) => page.goto(`${stage.url}/runs`) },
  { name: "activity-first", open: (page, stage) => page.goto(`${stage.url}/activity`) },
  { name: "templates-first", isTall: true, open: (page, stage) => page.goto(`${stage.url}/templates`) },
  { name: "people-first", open: (page, stage) => page.goto(`${stage.url}/settings/people`) },
  { name: "channels-first", open: (page, stage) => page.goto(`${stage.url}/channels`) },
  { name: "insights-first", open: (page, stage) => page.goto(`${stage.url}/insights`) },
  { name: "batch-first", open: (page, stage) => page.goto(`${stage.url}/batch`) },
];

/** Pages beside the inbox in the states that people meet. */
export const PAGES: readonly State[] = [
  {
    name: "runs",
    isTall: true,
    open: async (page, stage) => {
      await manyRuns(stage);
      await page.goto(`${stage.url}/runs`);
    },
  },
  {
    name: "runs-cancel",
    open: async (page, stage) => {
      await page.goto(`${stage.url}/runs?state=waiting`);
      await page.click(".ends > summary >> nth=0");
    },
  },
  {
    name: "runs-none",
    open: (page, stage) => page.goto(`${stage.url}/runs?state=ended&after=r_00000000000000000000000000`),
  },
  {
    name: "run-asks",
    isTall: true,
    open: async (page, stage) => page.goto(`${stage.url}/r/${(await askingRun(stage, "fruit-asks")).id}`),
  },
  {
    name: "run-done",
    isTall: true,
    open: async (page, stage) => {
      const run = await askingRun(stage, "fruit-done");
      const engine = await stage.engine();
      await engine.answer(run.pendingId!, AnswerInput.parse({ answer: "Pear", note: "a ripe one" }), LENA);
      await stage.until("it is done", async () => (await engine.findRun(run.id))?.status === "completed" || undefined);
      await page.goto(`${stage.url}/r/${run.id}`);
    },
  },
  {
    name: "run-worked",
    isTall: true,
    open: async (page, stage) => {
      const run = await workedRun(stage, "add-caching");
      await page.goto(`${stage.url}/r/${run.id}`);
      await page.waitForSelector("#work details");
      await page.evaluate(`document.querySelector("#work details").open = true`);
    },
  },
  {
    name: "run-work-page",
    open: async (page, stage) => page.goto(`${stage.url}/r/${(await workedRun(stage, "add-caching-plain")).id}/work`),
  },
  {
    name: "run-works",
    open: async (page, stage) => page.goto(`${stage.url}/r/${(await startedRun(stage, { name: "refactor" })).id}`),
  },
  {
    name: "run-parts",
    open: async (page, stage) => page.goto(`${stage.url}/r/${(await split(stage)).id}`),
  },
  {
    name: "run-failed",
    open: async (page, stage) => {
      const run = await startedRun(stage, { name: "deploy", labels: ["infra", "nightly"] });
      const result = { status: "failed", reason: "agent_error", summary: "The API said 529: overloaded." } as const;
      await (await stage.engine()).endRun(run.id, result, SYSTEM);
      await page.goto(`${stage.url}/r/${run.id}`);
    },
  },
  { name: "run-missing", open: (page, stage) => page.goto(`${stage.url}/r/r_00000000000000000000000000`) },
  {
    name: "run-stored",
    isTall: true,
    open: async (page, stage) => page.goto(`${stage.url}/r/${(await storedOnly(stage)).id}`),
  },
  {
    name: "run-refused",
    open: async (page, stage) => {
      const run = await storedOnly(stage);
      await page.goto(`${stage.url}/r/${run.id}`);
      await (await stage.engine()).cancelRun(run.id, LENA, "not needed");
      await page.waitForSelector("[data-going=''] #head .badge:not(.wait)");
    },
  },
  {
    name: "run-tries",
    open: async (page, stage) => {
      const run = await missingRun(stage);
      await page.goto(`${stage.url}/r/${run.id}`);
      await page.waitForSelector("#resumes li >> nth=2", { timeout: 20_000 });
    },
  },
  { name: "activity", open: (page, stage) => page.goto(`${stage.url}/activity`) },
  {
    name: "activity-filtered",
    isTall: true,
    open: async (page, stage) => {
      await page.goto(`${stage.url}/activity?kind=question.asked`);
      await page.click(".trail summary >> nth=0");
    },
  },
  { name: "activity-none", open: (page, stage) => page.goto(`${stage.url}/activity?person=nobody`) },
  {
    name: "activity-verified",
    open: async (page, stage) => {
      await page.goto(`${stage.url}/activity`);
      await page.click("main .head button");
      await page.waitForSelector("main .banner.ok");
    },
  },
  {
    name: "templates",
    isTall: true,
    open: async (page, stage) => {
      const engine = await stage.engine();
      const asked = await ask(stage, { question: "Redis or Memcached for sessions?", options: ["Redis", "Memcached"] });
      await engine.putTemplate({ name: "prefer-redis", choose: ["Redis"], text: "As everywhere in {{repo}}." }, LENA);
      await engine.putTemplate(
        { name: "not-now", text: "Leave it as it is; open an issue.", match: { repo: "acme/*", label: "cleanup" } },
        LENA,
      );
      await page.goto(`${stage.url}/templates?try=prefer-redis&on=${asked.id}`);
    },
  },
  {
    name: "templates-refused",
    isTall: true,
    open: async (page, stage) => {
      await page.goto(`${stage.url}/templates`);
      await page.fill("#name", "odd");
      await page.fill("#text", "{{nothing}}");
      await page.click("#form button.p");
      await page.waitForSelector("#form [role=alert]");
    },
  },
  {
    name: "settings-keys",
    isTall: true,
    open: async (page, stage) => {
      await page.goto(`${stage.url}/settings`);
      await page.click("main .fold summary");
    },
  },
  {
    name: "settings-refused",
    open: async (page, stage) => {
      await page.goto(`${stage.url}/settings`);
      await page.click("main .fold summary");
      await page.fill("[name='key.n']", "g");
      await page.click("main button.p");
      await page.waitForSelector("main [role=alert]");
    },
  },
  { name: "policies", isTall: true, open: (page, stage) => page.goto(`${stage.url}/settings/policies`) },
  {
    name: "people",
    open: async (page, stage) => {
      await somePeople(stage);
      await page.goto(`${stage.url}/settings/people`);
    },
  },
  {
    name: "people-admin",
    isTall: true,
    seenBy: "admin",
    open: async (page, stage) => {
      await somePeople(stage);
      await page.goto(`${stage.url}/settings/people`);
      await page.click(".rows summary >> nth=0");
    },
  },
  { name: "tokens", open: (page, stage) => page.goto(`${stage.url}/settings/tokens`) },
  {
    name: "tokens-refused",
    open: async (page, stage) => {
      await page.goto(`${stage.url}/settings/tokens`);
      await page.fill("#subject", "a b");
      await page.click("main .filters button");
      await page.waitForSelector("main [role=alert]");
    },
  },
  {
    name: "tokens-admin",
    isTall: true,
    seenBy: "admin",
    open: async (page, stage) => {
      await page.goto(`${stage.url}/settings/tokens`);
      await page.fill("#subject", "ci");
      await page.click("main .filters button");
      await page.waitForSelector("#shown-once");
    },
  },
  {
    name: "people-refused",
    seenBy: "admin",
    open: async (page, stage) => {
      await page.goto(`${stage.url}/settings/people`);
      await page.fill("#new-id", "lena");
      await page.click("#form button.p");
      await page.waitForSelector("main [role=alert]");
    },
  },
];

async function somePeople(stage: WebStage): Promise<void> {
  const engine = await stage.engine();
  const lena = { id: "lena", version: 0, name: "Lena Lindqvist", email: "lena@example.com", slack: "U024BE7LH" };
  await engine.putPerson({ ...lena, groups: ["platform", "api"] }, SYSTEM);
  await engine.putPerson({ id: "mika", version: 0, name: "Mika Korhonen", github: "mikak", groups: ["api"] }, SYSTEM);
}
