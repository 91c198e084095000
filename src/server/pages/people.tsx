import type { Hono } from "hono";
import { Person } from "../../core/people/person.ts";
import { type FormDraft, EMPTY_DRAFT, draftText } from "../../web/parts/form-draft.ts";
import { partOf } from "../../web/parts/paging.tsx";
import { PeoplePage } from "../../web/pages/people.tsx";
import { tell } from "../../web/parts/reader.ts";
import { isMessageKey } from "../../web/words/words.ts";
import type { SignedIn } from "../credential.ts";
import type { PageCall, PagesDeps } from "./deps.ts";
import { readDraft } from "./form/read-draft.ts";
import { readPageOffset, readReader } from "./read/read-reader.ts";
import { sayRefusal, sendFramedPage } from "./send-page.tsx";
import { redirectTo } from "./redirect.ts";

const MOST_SHOWN = 50;
const FIELDS = ["name", "email", "slack", "github"] as const;

/** Routes of the people page; only an admin can change it. */
export function addPeople(pages: Hono<SignedIn>, deps: PagesDeps): void {
  pages.get("/settings/people", (context) => show(context, deps));
  pages.post("/settings/people", (context) => save(context, deps));
}

async function show(
  context: PageCall,
  deps: PagesDeps,
  again: { draft?: FormDraft; problem?: string; status?: number } = {},
) {
  const reader = await readReader(context, deps.engine);
  const { items, part } = partOf(await deps.engine.listPeople(), readPageOffset(context) ?? 0, MOST_SHOWN);
  const view = {
    reader,
    people: items,
    part,
    draft: again.draft ?? EMPTY_DRAFT,
    problem: again.problem,
  };
  return sendFramedPage(context, deps, {
    reader,
    page: "settings",
    title: tell(reader, "people.title"),
    status: again.status ?? 200,
    main: <PeoplePage view={view} />,
  });
}

async function save(context: PageCall, deps: PagesDeps) {
  const { engine } = deps;
  const draft = await readDraft(context);
  const reader = await readReader(context, engine);
  const changed = draftText(draft, "change");
  const id = changed === "" ? draftText(draft, "id").trim() : changed;
  const parsed = Person.safeParse({
    id,
    version: 0,
    ...Object.fromEntries(
      FIELDS.flatMap((name) => {
        const text = draftText(draft, name).trim();
        return text === "" ? [] : [[name, text]];
      }),
    ),
    groups: draftText(draft, "groups")
      .split(",")
      .map((group) => group.trim().replace(/^@/, ""))
      .filter((group) => group !== ""),
  });
  if (!parsed.success) {
    const names = [...new Set(parsed.error.issues.map(({ path }) => `people.${String(path[0])}`))];
    const fields = names.map((name) => (isMessageKey(name) ? tell(reader, name) : name)).join(", ");
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
  return redirectTo(context, "/settings/people");
}
