import type { Hono } from "hono";
import { later } from "../../core/instant.ts";
import { Person, plainName } from "../../core/people/person.ts";
import { inZone } from "../../core/people/quiet-hours.ts";
import { INVITE_MS, signInPath } from "../../core/people/sign-in-link.ts";
import { type FormDraft, EMPTY_DRAFT, draftText } from "../../web/parts/form-draft.ts";
import { partOf } from "../../web/parts/paging.tsx";
import { type Invitation, PeoplePage } from "../../web/pages/people.tsx";
import { tell } from "../../web/parts/reader.ts";
import { isMessageKey } from "../../web/words/words.ts";
import type { SignedIn } from "../credential.ts";
import type { PageCall, PagesDeps } from "./deps.ts";
import { readDraft } from "./form/read-draft.ts";
import { languageOf, readPageOffset, readReader } from "./read/read-reader.ts";
import { sayRefusal, sendFramedPage } from "./send-page.tsx";
import { redirectTo } from "./redirect.ts";

const MOST_SHOWN = 50;
const FIELDS = ["name", "email", "slack", "github", "quiet"] as const;

/** Routes of the people page; only an admin can change it. */
export function addPeople(pages: Hono<SignedIn>, deps: PagesDeps): void {
  pages.get("/settings/people", (context) => show(context, deps));
  pages.post("/settings/people", (context) => save(context, deps));
  pages.post("/settings/people/:id/invite", (context) => invite(context, deps));
}

async function show(
  context: PageCall,
  deps: PagesDeps,
  again: { draft?: FormDraft; problem?: string; status?: number; invited?: Invitation } = {},
) {
  const reader = await readReader(context, deps.engine);
  const { items, part } = partOf(await deps.engine.listPeople(), readPageOffset(context) ?? 0, MOST_SHOWN);
  const view = {
    reader,
    people: items,
    part,
    draft: again.draft ?? EMPTY_DRAFT,
    problem: again.problem,
    invited: again.invited,
  };
  return sendFramedPage(context, deps, {
    reader,
    page: "settings",
    title: tell(reader, "people.title"),
    status: again.status ?? 200,
    main: <PeoplePage view={view} />,
  });
}

/** Makes a link that signs a person in. It is in this response and nowhere else. */
async function invite(context: PageCall, deps: PagesDeps) {
  const person = context.req.param("id") ?? "";
  const expiresAt = later(await deps.engine.now(), INVITE_MS);
  try {
    const input = { scope: "login", subject: person, expiresAt } as const;
    const { text } = await deps.engine.issueToken(input, context.get("actor"));
    const url = `${addressOf(context, deps)}${signInPath({ code: text, person })}`;
    return await show(context, deps, { invited: { person, url } });
  } catch (error) {
    return show(context, deps, sayRefusal({ language: languageOf(context) }, error));
  }
}

/** The public address, or the one that the admin uses. */
function addressOf(context: PageCall, { isSecure, rules: { publicUrl } }: PagesDeps) {
  if (publicUrl !== undefined) return publicUrl.replace(/\/+$/, "");
  return `${isSecure ? "https" : "http"}://${context.req.header("host") ?? ""}`;
}

async function save(context: PageCall, deps: PagesDeps) {
  const { engine } = deps;
  const draft = await readDraft(context);
  const reader = await readReader(context, engine);
  const changed = draftText(draft, "change");
  const id = changed === "" ? draftText(draft, "id").trim() : changed;
  // The form has not every field of a person; the others stay as they are.
  const before = changed === "" ? undefined : await engine.findPerson(id);
  const parsed = Person.safeParse({
    ...before,
    id,
    version: 0,
    ...Object.fromEntries(
      FIELDS.map((name) => {
        const text = draftText(draft, name).trim();
        return [name, text === "" ? undefined : name === "quiet" ? inZone(text, reader.zone ?? "UTC") : text];
      }),
    ),
    groups: draftText(draft, "groups")
      .split(",")
      .map(plainName)
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
