import type { Hono } from "hono";
import { Person } from "../../core/people/person.ts";
import { type Draft, NO_DRAFT, draftedText } from "../../web/parts/form-draft.ts";
import { partOf } from "../../web/parts/paging.tsx";
import { PeoplePage } from "../../web/pages/people.tsx";
import { tell } from "../../web/parts/reader.ts";
import { isKey } from "../../web/words/words.ts";
import type { Signed } from "../credential.ts";
import type { Call, PagesDeps } from "./deps.ts";
import { readDraft } from "./form/read-draft.ts";
import { readFrom } from "./page-offset.ts";
import { sayRefusal, sendFramed } from "./send-framed-page.tsx";
import { goTo } from "./redirect.ts";
import { readReader } from "./read/read-reader.ts";

const MOST_SHOWN = 50;
const FIELDS = ["name", "email", "slack", "github"] as const;

/** Everybody who answers; only an admin changes anything. */
export function addPeople(pages: Hono<Signed>, deps: PagesDeps): void {
  pages.get("/settings/people", (context) => show(context, deps));
  pages.post("/settings/people", (context) => save(context, deps));
}

async function show(
  context: Call,
  deps: PagesDeps,
  again: { draft?: Draft; problem?: string; status?: number } = {},
): Promise<Response> {
  const reader = await readReader(context, deps.engine);
  const { items, part } = partOf(await deps.engine.listPeople(), readFrom(context) ?? 0, MOST_SHOWN);
  const view = {
    ...{ reader, people: items, part },
    ...{ draft: again.draft ?? NO_DRAFT, problem: again.problem },
  };
  return sendFramed(context, deps, {
    ...{ reader, page: "settings", title: tell(reader, "people.title"), status: again.status ?? 200 },
    main: <PeoplePage view={view} />,
  });
}

async function save(context: Call, deps: PagesDeps): Promise<Response> {
  const { engine } = deps;
  const draft = await readDraft(context);
  const reader = await readReader(context, engine);
  const changed = draftedText(draft, "change");
  const id = changed === "" ? draftedText(draft, "id").trim() : changed;
  const parsed = Person.safeParse({
    ...{ id, version: 0 },
    ...Object.fromEntries(
      FIELDS.flatMap((name) => {
        const text = draftedText(draft, name).trim();
        return text === "" ? [] : [[name, text]];
      }),
    ),
    groups: draftedText(draft, "groups")
      .split(",")
      .map((group) => group.trim().replace(/^@/, ""))
      .filter((group) => group !== ""),
  });
  if (!parsed.success) {
    const names = [...new Set(parsed.error.issues.map(({ path }) => `people.${String(path[0])}`))];
    const fields = names.map((name) => (isKey(name) ? tell(reader, name) : name)).join(", ");
    return show(context, deps, { draft, problem: tell(reader, "people.bad", { fields }), status: 422 });
  }
  if (changed === "" && (await engine.findPerson(id))) {
    return show(context, deps, { draft, problem: tell(reader, "people.there", { name: id }), status: 409 });
  }
  try {
    await engine.putPerson(parsed.data, context.get("actor"));
  } catch (error) {
    return show(context, deps, { draft, ...sayRefusal(reader, error) });
  }
  return goTo(context, "/settings/people");
}
