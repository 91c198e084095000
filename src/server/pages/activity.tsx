import type { Hono } from "hono";
import { actorName } from "../../core/people/actor.ts";
import { Cursor } from "../../core/api/run-route.ts";
import type { KeptEvent } from "../../core/trail/event.ts";
import type { RunId } from "../../core/id.ts";
import { Refusal } from "../../core/refusal.ts";
import type { Run } from "../../core/run/run.ts";
import type { Engine, Verified } from "../../engine/engine.ts";
import { ActivityPage, type ActivityView, type ActivityFilter } from "../../web/pages/activity.tsx";
import { type PageReader, tell } from "../../web/parts/page-reader.ts";
import { flawWords } from "../../web/words/refusal-words.ts";
import type { SignedIn } from "../credential.ts";
import { maySee } from "../events/filter.ts";
import type { PageCall, PagesDeps } from "./deps.ts";
import { getRun } from "./read/get-run.ts";
import { sendFramedPage } from "./send-page.tsx";
import { readReader } from "./read/read-reader.ts";

const PAGE = 50;
/** Number of events that a filter searches. */
const SEARCHED = 500;
const FILTER_CHARS = 200;

/** Routes of the audit trail page. */
export function addActivity(pages: Hono<SignedIn>, deps: PagesDeps): void {
  // Verifying takes a while, so concurrent requests share one result.
  let verifying: Promise<Verified> | undefined;
  const verify = () => {
    verifying ??= deps.engine.verify().finally(() => (verifying = undefined));
    return verifying;
  };
  pages.get("/activity", (context) => show(context, deps));
  pages.post("/activity/verify", async (context) => show(context, deps, await verify()));
}

async function show(context: PageCall, deps: PagesDeps, check?: Verified) {
  const cursor = await deps.feed.findEnd();
  const reader = await readReader(context, deps.engine);
  const filter = readActivityFilter(context);
  const before = Cursor.safeParse(context.req.query("before"));
  const view = await readTrail(deps, reader, filter, before.data);
  return sendFramedPage(context, deps, {
    reader,
    page: "activity",
    title: tell(reader, "act.title"),
    // Older pages do not change, so they get no live updates.
    cursor: before.success || check ? undefined : cursor,
    main: <ActivityPage view={{ ...view, check: check && checkOf(reader, check) }} />,
  });
}

function checkOf(reader: PageReader, { flaws, ...check }: Verified): ActivityView["check"] {
  return { ...check, problems: flaws?.map((flaw) => flawWords(reader, flaw)) ?? check.problems };
}

function readActivityFilter({ req }: PageCall): ActivityFilter {
  const of = (name: string) => (req.query(name) ?? "").trim().slice(0, FILTER_CHARS);
  return { run: of("run"), kind: of("kind"), person: of("person") };
}

async function readTrail(
  { engine, feed }: PagesDeps,
  reader: PageReader,
  filter: ActivityFilter,
  before: string | undefined,
): Promise<ActivityView> {
  const run = filter.run === "" ? undefined : await findRun(engine, filter.run);
  const isFiltered = filter.kind !== "" || filter.person !== "";
  const limit = isFiltered ? SEARCHED : PAGE;
  const isRunMissing = filter.run !== "" && !run;
  const page = isRunMissing ? [] : await feed.readBack({ limit, runId: run?.id, before });
  const found = page.filter((kept) => maySee(reader, kept.event) && isWanted(kept, filter)).slice(0, PAGE);
  const isMore = found.length === PAGE || page.length === limit;
  const last = found.length === PAGE ? found.at(-1) : page.at(-1);
  const [runs, titles] = await Promise.all([findRuns(engine, found), readTitles(engine, found)]);
  return {
    reader,
    filter,
    searched: page.length,
    isFirst: before === undefined,
    isRunMissing,
    events: found.map(({ event }) => ({ event, run: runs.get(event.runId) })),
    titles,
    runNumbers: new Map([...runs].map(([id, { number }]) => [id, number])),
    next: isMore ? last?.cursor : undefined,
  };
}

function isWanted({ event }: KeptEvent, { kind, person }: ActivityFilter) {
  return (kind === "" || event.type === kind) && (person === "" || actorName(event.by) === person);
}

async function findRun(engine: Engine, name: string) {
  try {
    return await getRun(engine, name);
  } catch (error) {
    if (error instanceof Refusal && error.code === "not_found") return undefined;
    throw error;
  }
}

async function readTitles(engine: Engine, events: readonly KeptEvent[]): Promise<ActivityView["titles"]> {
  const ids = new Set(events.flatMap(({ event }) => event.questionId ?? []));
  try {
    return new Map((await engine.readMany([...ids])).map(({ question }) => [question.id, question.title]));
  } catch (error) {
    // The trail must be readable above all when something it names is gone.
    if (error instanceof Refusal && error.code === "not_found") return new Map();
    throw error;
  }
}

async function findRuns(engine: Engine, events: readonly KeptEvent[]): Promise<Map<RunId, Run>> {
  // An agent may act on a question of another run.
  const ids = [...new Set(events.flatMap(({ event }) => [event.runId, ...(event.by.runId ? [event.by.runId] : [])]))];
  const runs = await Promise.all(ids.map((id) => engine.findRun(id)));
  return new Map(runs.flatMap((run) => (run ? [[run.id, run]] : [])));
}
