import type { Hono } from "hono";
import { sayActor } from "../../core/people/actor.ts";
import { Cursor } from "../../core/api/run-route.ts";
import type { KeptEvent } from "../../core/trail/event.ts";
import type { RunId } from "../../core/id.ts";
import { Refusal } from "../../core/refusal.ts";
import type { Run } from "../../core/run/run.ts";
import type { Engine, Verified } from "../../engine/engine.ts";
import { ActivityPage, type ActivityView, type TrailWish } from "../../web/pages/activity.tsx";
import { type Reader, tell } from "../../web/parts/reader.ts";
import { flawWords } from "../../web/words/refusal-words.ts";
import type { Signed } from "../credential.ts";
import { maySee } from "../events/filter.ts";
import type { Call, PagesDeps } from "./deps.ts";
import { getRun } from "./read/get-run.ts";
import { sendFramed } from "./send-framed-page.tsx";
import { readReader } from "./read/read-reader.ts";

const PAGE = 50;
/** How many events are looked at for those that a filter wants. */
const SEARCHED = 500;
const WISH_CHARS = 200;

/** The audit trail, and whether it is whole. */
export function addActivity(pages: Hono<Signed>, deps: PagesDeps): void {
  // Reading everything takes a while; who asks meanwhile gets the same result.
  let verifying: Promise<Verified> | undefined;
  const verify = (): Promise<Verified> => {
    verifying ??= deps.engine.verify().finally(() => (verifying = undefined));
    return verifying;
  };
  pages.get("/activity", (context) => show(context, deps));
  pages.post("/activity/verify", async (context) => show(context, deps, await verify()));
}

async function show(context: Call, deps: PagesDeps, check?: Verified): Promise<Response> {
  const cursor = await deps.feed.findEnd();
  const reader = await readReader(context, deps.engine);
  const wish = readWish(context);
  const before = Cursor.safeParse(context.req.query("before"));
  const view = await readTrail(deps, reader, wish, before.data);
  return sendFramed(context, deps, {
    ...{ reader, page: "activity", title: tell(reader, "act.title") },
    // A page further back stays as it is.
    ...(!before.success && !check && { cursor }),
    main: <ActivityPage view={{ ...view, check: check && checkOf(reader, check) }} />,
  });
}

function checkOf(reader: Reader, { flaws, ...check }: Verified): ActivityView["check"] {
  return { ...check, problems: flaws?.map((flaw) => flawWords(reader, flaw)) ?? check.problems };
}

function readWish({ req }: Call): TrailWish {
  const of = (name: string): string => (req.query(name) ?? "").trim().slice(0, WISH_CHARS);
  return { run: of("run"), kind: of("kind"), person: of("person") };
}

async function readTrail(
  { engine, feed }: PagesDeps,
  reader: Reader,
  wish: TrailWish,
  before: string | undefined,
): Promise<ActivityView> {
  const run = wish.run === "" ? undefined : await findRun(engine, wish.run);
  const isFiltered = wish.kind !== "" || wish.person !== "";
  const limit = isFiltered ? SEARCHED : PAGE;
  const isNowhere = wish.run !== "" && !run;
  const page = isNowhere
    ? []
    : await feed.readBack({ limit, ...(run && { runId: run.id }), ...(before !== undefined && { before }) });
  const found = page.filter((kept) => maySee(reader, kept.event) && isWanted(kept, wish)).slice(0, PAGE);
  const isMore = found.length === PAGE || page.length === limit;
  const last = found.length === PAGE ? found.at(-1) : page.at(-1);
  const [runs, titles] = await Promise.all([findRuns(engine, found), readTitles(engine, found)]);
  return {
    ...{ reader, wish, looked: page.length, isFirst: before === undefined, isNowhere },
    events: found.map(({ event }) => ({ event, run: runs.get(event.runId) })),
    titles,
    next: isMore ? last?.cursor : undefined,
  };
}

function isWanted({ event }: KeptEvent, { kind, person }: TrailWish): boolean {
  return (kind === "" || event.type === kind) && (person === "" || sayActor(event.by) === person);
}

async function findRun(engine: Engine, name: string): Promise<Run | undefined> {
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
    // The trail is to be read above all where something that it tells of is gone.
    if (error instanceof Refusal && error.code === "not_found") return new Map();
    throw error;
  }
}

async function findRuns(engine: Engine, events: readonly KeptEvent[]): Promise<Map<RunId, Run>> {
  const ids = [...new Set(events.map(({ event }) => event.runId))];
  const runs = await Promise.all(ids.map((id) => engine.findRun(id)));
  return new Map(runs.flatMap((run) => (run ? [[run.id, run]] : [])));
}
