import type { Hono } from "hono";
import { later } from "../../core/instant.ts";
import { Away, Person, Preferences, plainName } from "../../core/people/person.ts";
import { inZone } from "../../core/people/quiet-hours.ts";
import { INVITE_MS, signInPath } from "../../core/people/sign-in-link.ts";
import { type FormDraft, EMPTY_DRAFT, draftText } from "../../web/parts/form-draft.ts";
import { partOf } from "../../web/parts/paging.tsx";
import { type Invitation, PeoplePage } from "../../web/pages/people.tsx";
import { type PageReader, tell } from "../../web/parts/page-reader.ts";
import { isMessageKey } from "../../web/words/words.ts";
import type { SignedIn } from "../credential.ts";
import type { PageCall, PagesDeps } from "./deps.ts";
import { readDraft } from "./form/read-draft.ts";
import { languageOf, readPageOffset, readReader } from "./read/read-reader.ts";
import { sayRefusal, sendFramedPage } from "./send-page.tsx";
import { redirectTo } from "./redirect.ts";

const MOST_SHOWN = 50;
const FIELDS = ["name", "email", "slack", "github"] as const;

/** Routes of the people page. An admin changes everybody, people their absence and how they are told. */
export function addPeople(pages: Hono<SignedIn>, deps: PagesDeps): void {
  pages.get("/settings/people", (context) => show(context, deps));
  pages.post("/settings/people", (context) => save(context, deps));
  pages.post("/settings/people/:id/invite", (context) => invite(context, deps));
  pages.post("/settings/people/:id/away", (context) => setAway(context, deps));
  pages.post("/settings/people/:id/preferences", (context) => setPreferences(context, deps));
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
    you: context.get("actor").id,
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

/** Records that a person is away, and who gets their questions meanwhile; or that they are back. */
async function setAway(context: PageCall, deps: PagesDeps) {
  const draft = await readDraft(context);
  const reader = await readReader(context, deps.engine);
  const day = draftText(draft, "until").trim();
  const delegate = plainName(draftText(draft, "delegate"));
  // A person who is away until a day is there on that day.
  const parsed = Away.safeParse({
    until: day === "" ? undefined : `${day}T00:00:00.000Z`,
    delegate: delegate === "" ? undefined : delegate,
  });
  if (!parsed.success) {
    const problem = tell(reader, "people.bad", { fields: tell(reader, "people.until") });
    return show(context, deps, { problem, status: 422 });
  }
  const away = draftText(draft, "back") === "" ? parsed.data : undefined;
  try {
    await deps.engine.setAway(context.req.param("id") ?? "", away, context.get("actor"));
  } catch (error) {
    return show(context, deps, sayRefusal(reader, error));
  }
  return redirectTo(context, "/settings/people");
}

/** Records where, when and how a person wants to be told. */
async function setPreferences(context: PageCall, deps: PagesDeps) {
  const draft = await readDraft(context);
  const reader = await readReader(context, deps.engine);
  const parsed = Preferences.safeParse(preferencesOf(draft, reader));
  if (!parsed.success) return show(context, deps, sayBadFields(reader, parsed.error));
  try {
    await deps.engine.setPreferences(context.req.param("id") ?? "", parsed.data, context.get("actor"));
  } catch (error) {
    return show(context, deps, sayRefusal(reader, error));
  }
  return redirectTo(context, "/settings/people");
}

/** The fields of a form that say how a person is told; hours are those of the reader's own day. */
function preferencesOf(draft: FormDraft, { zone = "UTC" }: PageReader) {
  const quiet = textOf(draft, "quiet");
  return {
    quiet: quiet === undefined ? undefined : inZone(quiet, zone),
    digest: textOf(draft, "digest"),
    interruptionsPerHour: numberOf(draft, "interruptions"),
    channels: wordsOf(draft, "channels"),
    muted: wordsOf(draft, "muted"),
    language: textOf(draft, "language"),
  };
}

/** Names the fields that have to be written in another way. */
function sayBadFields(reader: PageReader, { issues }: { issues: ReadonlyArray<{ path: readonly PropertyKey[] }> }) {
  const names = [...new Set(issues.map(({ path }) => String(path[0])))];
  const labels = names.map((name) => `people.${name === "interruptionsPerHour" ? "interruptions" : name}`);
  const fields = labels.map((label) => (isMessageKey(label) ? tell(reader, label) : label)).join(", ");
  return { problem: tell(reader, "people.bad", { fields }), status: 422 };
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
    ...Object.fromEntries(FIELDS.map((name) => [name, textOf(draft, name)])),
    ...preferencesOf(draft, reader),
    // An address that is saved anew counts again.
    bounced: undefined,
    groups: wordsOf(draft, "groups"),
  });
  if (!parsed.success) return show(context, deps, { draft, ...sayBadFields(reader, parsed.error) });
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

/** The names in a field, separated by commas. */
function wordsOf(draft: FormDraft, name: string): string[] {
  return draftText(draft, name)
    .split(",")
    .map(plainName)
    .filter((word) => word !== "");
}

function textOf(draft: FormDraft, name: string): string | undefined {
  return draftText(draft, name).trim() || undefined;
}

function numberOf(draft: FormDraft, name: string): number | undefined {
  const text = draftText(draft, name).trim();
  return text === "" ? undefined : Number(text);
}
