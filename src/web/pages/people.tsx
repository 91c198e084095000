import type { Person } from "../../core/people/person.ts";
import { LANGUAGES } from "../../core/text/language.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { type FormDraft, EMPTY_DRAFT, draftText } from "../parts/form-draft.ts";
import { Paging, type PagePart } from "../parts/paging.tsx";
import { type PageReader, tell } from "../parts/page-reader.ts";
import { AdminOnly, SettingsTabs } from "../parts/settings-tabs.tsx";
import { ShownOnce } from "../parts/shown-once.tsx";

export interface PeopleView {
  reader: PageReader;
  people: readonly Person[];
  part: PagePart;
  draft: FormDraft;
  problem?: string | undefined;
  invited?: Invitation | undefined;
  /** The reader's own id. */
  you: string;
}

/** A link that signs a person in, shown once. */
export interface Invitation {
  person: string;
  url: string;
}

/** People who answer, with their addresses in the channels. */
export function PeoplePage({ view }: { view: PeopleView }) {
  const { reader, people, part, draft, problem, invited, you } = view;
  const mayChange = reader.scope === "admin";
  return (
    <main id="main" class="page">
      <h1>{tell(reader, "people.title")}</h1>
      <SettingsTabs reader={reader} tab="people" />
      <AdminOnly reader={reader} />
      {invited ? (
        <ShownOnce
          reader={reader}
          about={tell(reader, "people.invited", { name: makeVisible(invited.person) })}
          text={invited.url}
        />
      ) : null}
      {people.length === 0 ? <p class="quiet">{tell(reader, "people.none")}</p> : null}
      <ul class="rows">
        {people.map((person) => (
          <PersonRow reader={reader} person={person} mayChange={mayChange} isYou={person.id === you} />
        ))}
      </ul>
      <Paging reader={reader} title={tell(reader, "people.title")} part={part} address="/settings/people" />
      {!mayChange && problem !== undefined ? (
        <p class="banner bad" role="alert">
          {problem}
        </p>
      ) : null}
      {mayChange ? (
        <section id="form" class="apart">
          <h2>{tell(reader, "people.add")}</h2>
          {problem === undefined ? null : (
            <p class="banner bad" role="alert">
              {problem}
            </p>
          )}
          <PersonForm reader={reader} draft={draft} />
        </section>
      ) : null}
    </main>
  );
}

interface PersonRowView {
  reader: PageReader;
  person: Person;
  mayChange: boolean;
  isYou: boolean;
}

function PersonRow({ reader, person, mayChange, isYou }: PersonRowView) {
  const { away, bounced, channels = [], muted = [] } = person;
  const addresses = [
    person.email,
    bounced && tell(reader, "people.bounced", { why: makeVisible(bounced.why) }),
    person.slack,
    person.github,
    person.quiet,
    channels.length > 0 ? tell(reader, "people.prefers", { names: channels.join(", ") }) : undefined,
    muted.length > 0 ? tell(reader, "people.mutes", { names: muted.join(", ") }) : undefined,
    person.language,
    away && tell(reader, "people.isAway", { until: away.until?.slice(0, 10) ?? "…", delegate: away.delegate ?? "–" }),
  ].filter((part) => part !== undefined);
  return (
    <li>
      <div>
        <p>
          <b>{person.id}</b> {person.name === undefined ? null : makeVisible(person.name)}
        </p>
        <p class="quiet">{addresses.map(makeVisible).join(" · ")}</p>
      </div>
      <p class="quiet">{person.groups.map((group) => `@${makeVisible(group)}`).join(" ")}</p>
      {mayChange || isYou ? <AwayForm reader={reader} person={person} /> : null}
      {isYou && !mayChange ? <OwnPreferences reader={reader} person={person} /> : null}
      {mayChange ? (
        <details class="fold under">
          <summary>{tell(reader, "people.edit", { name: person.id })}</summary>
          <PersonForm reader={reader} person={person} draft={EMPTY_DRAFT} />
          <form data-plain method="post" action={`/settings/people/${encodeURIComponent(person.id)}/invite`}>
            <input type="hidden" name="csrf" value={reader.csrf} />
            <button type="submit">{tell(reader, "people.invite", { name: person.id })}</button>
          </form>
        </details>
      ) : null}
    </li>
  );
}

/** Says that a person is away, and who gets their questions meanwhile. */
function AwayForm({ reader, person: { id, away } }: { reader: PageReader; person: Person }) {
  return (
    <details class="fold under">
      <summary>{tell(reader, "people.away", { name: id })}</summary>
      <form data-plain method="post" action={`/settings/people/${encodeURIComponent(id)}/away`}>
        <input type="hidden" name="csrf" value={reader.csrf} />
        <div class="fields">
          <div>
            <label class="t" for={`${id}-until`}>
              {tell(reader, "people.until")} <span class="quiet">{tell(reader, "optional")}</span>
            </label>
            <input id={`${id}-until`} name="until" type="date" value={away?.until?.slice(0, 10) ?? ""} />
          </div>
          <div>
            <label class="t" for={`${id}-delegate`}>
              {tell(reader, "people.delegate")} <span class="quiet">{tell(reader, "optional")}</span>
            </label>
            <input id={`${id}-delegate`} name="delegate" type="text" autocomplete="off" value={away?.delegate ?? ""} />
          </div>
        </div>
        <button class="p" type="submit">
          {tell(reader, "page.save")}
        </button>
        {away ? (
          <button type="submit" name="back" value="1">
            {tell(reader, "people.back")}
          </button>
        ) : null}
      </form>
    </details>
  );
}

/** Lets people who are no admin say where, when and how they are told. */
function OwnPreferences({ reader, person }: { reader: PageReader; person: Person }) {
  return (
    <details class="fold under">
      <summary>{tell(reader, "people.preferences")}</summary>
      <form data-plain method="post" action={`/settings/people/${encodeURIComponent(person.id)}/preferences`}>
        <input type="hidden" name="csrf" value={reader.csrf} />
        <div class="fields">
          <PreferenceFields reader={reader} person={person} draft={EMPTY_DRAFT} />
        </div>
        <button class="p" type="submit">
          {tell(reader, "page.save")}
        </button>
      </form>
    </details>
  );
}

interface PersonFormView {
  reader: PageReader;
  person?: Person | undefined;
  draft: FormDraft;
}

function PersonForm({ reader, person, draft }: PersonFormView) {
  const id = (name: string) => `${person?.id ?? "new"}-${name}`;
  return (
    <form data-plain method="post" action="/settings/people">
      <input type="hidden" name="csrf" value={reader.csrf} />
      <div class="fields">
        {person ? (
          <input type="hidden" name="change" value={person.id} />
        ) : (
          <div>
            <label class="t" for={id("id")}>
              {tell(reader, "people.id")} <span class="quiet">{tell(reader, "people.id.about")}</span>
            </label>
            <input
              id={id("id")}
              name="id"
              type="text"
              required
              maxlength={64}
              autocomplete="off"
              value={draftText(draft, "id")}
            />
          </div>
        )}
        {(["name", "email", "slack", "github"] as const).map((name) => (
          <TextField reader={reader} person={person} draft={draft} name={name} />
        ))}
        <ListField reader={reader} person={person} draft={draft} name="groups" />
        <PreferenceFields reader={reader} person={person} draft={draft} />
      </div>
      <button class="p" type="submit">
        {tell(reader, "page.save")}
      </button>
    </form>
  );
}

type TextName = "name" | "email" | "slack" | "github" | "quiet" | "digest";

function TextField({ reader, person, draft, name }: PersonFormView & { name: TextName }) {
  const id = `${person?.id ?? "new"}-${name}`;
  return (
    <div>
      <label class="t" for={id}>
        {tell(reader, `people.${name}`)} <span class="quiet">{tell(reader, "optional")}</span>
      </label>
      <input
        id={id}
        name={name}
        type={name === "email" ? "email" : "text"}
        autocomplete="off"
        value={person?.[name] ?? draftText(draft, name)}
      />
    </div>
  );
}

function ListField({ reader, person, draft, name }: PersonFormView & { name: "groups" | "channels" | "muted" }) {
  const id = `${person?.id ?? "new"}-${name}`;
  return (
    <div>
      <label class="t" for={id}>
        {tell(reader, `people.${name}`)} <span class="quiet">{tell(reader, "people.groups.about")}</span>
      </label>
      <input
        id={id}
        name={name}
        type="text"
        autocomplete="off"
        value={person ? (person[name] ?? []).join(", ") : draftText(draft, name)}
      />
    </div>
  );
}

/** Where, when and how a person wants to be told. */
function PreferenceFields({ reader, person, draft }: PersonFormView) {
  const id = (name: string) => `${person?.id ?? "new"}-${name}`;
  return (
    <>
      {(["quiet", "digest"] as const).map((name) => (
        <TextField reader={reader} person={person} draft={draft} name={name} />
      ))}
      {(["channels", "muted"] as const).map((name) => (
        <ListField reader={reader} person={person} draft={draft} name={name} />
      ))}
      <div>
        <label class="t" for={id("interruptions")}>
          {tell(reader, "people.interruptions")} <span class="quiet">{tell(reader, "optional")}</span>
        </label>
        <input
          id={id("interruptions")}
          name="interruptions"
          type="number"
          min={1}
          max={1000}
          value={person?.interruptionsPerHour ?? draftText(draft, "interruptions")}
        />
      </div>
      <div>
        <label class="t" for={id("language")}>
          {tell(reader, "people.language")} <span class="quiet">{tell(reader, "optional")}</span>
        </label>
        <select id={id("language")} name="language">
          <option value=""></option>
          {LANGUAGES.map((language) => (
            <option value={language} selected={(person?.language ?? draftText(draft, "language")) === language}>
              {language}
            </option>
          ))}
        </select>
      </div>
    </>
  );
}
