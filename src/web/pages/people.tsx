import type { Person } from "../../core/people/person.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { type FormDraft, EMPTY_DRAFT, draftText } from "../parts/form-draft.ts";
import { Paging, type PagePart } from "../parts/paging.tsx";
import { type PageReader, tell } from "../parts/reader.ts";
import { AdminOnly, SettingsTabs } from "../parts/settings-tabs.tsx";
import { ShownOnce } from "../parts/shown-once.tsx";

export interface PeopleView {
  reader: PageReader;
  people: readonly Person[];
  part: PagePart;
  draft: FormDraft;
  problem?: string | undefined;
  invited?: Invitation | undefined;
}

/** A link that signs a person in, shown once. */
export interface Invitation {
  person: string;
  url: string;
}

/** People who answer, with their addresses in the channels. */
export function PeoplePage({ view }: { view: PeopleView }) {
  const { reader, people, part, draft, problem, invited } = view;
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
          <PersonRow reader={reader} person={person} mayChange={mayChange} />
        ))}
      </ul>
      <Paging reader={reader} title={tell(reader, "people.title")} part={part} address="/settings/people" />
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

function PersonRow({ reader, person, mayChange }: { reader: PageReader; person: Person; mayChange: boolean }) {
  const addresses = [person.email, person.slack, person.github, person.quiet].filter((part) => part !== undefined);
  return (
    <li>
      <div>
        <p>
          <b>{person.id}</b> {person.name === undefined ? null : makeVisible(person.name)}
        </p>
        <p class="quiet">{addresses.map(makeVisible).join(" · ")}</p>
      </div>
      <p class="quiet">{person.groups.map((group) => `@${makeVisible(group)}`).join(" ")}</p>
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

const FIELDS = ["name", "email", "slack", "github", "quiet"] as const;

function PersonForm({ reader, person, draft }: { reader: PageReader; person?: Person; draft: FormDraft }) {
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
        {FIELDS.map((name) => (
          <div>
            <label class="t" for={id(name)}>
              {tell(reader, `people.${name}`)} <span class="quiet">{tell(reader, "optional")}</span>
            </label>
            <input
              id={id(name)}
              name={name}
              type={name === "email" ? "email" : "text"}
              autocomplete="off"
              value={person?.[name] ?? draftText(draft, name)}
            />
          </div>
        ))}
        <div>
          <label class="t" for={id("groups")}>
            {tell(reader, "people.groups")} <span class="quiet">{tell(reader, "people.groups.about")}</span>
          </label>
          <input
            id={id("groups")}
            name="groups"
            type="text"
            autocomplete="off"
            value={person?.groups.join(", ") ?? draftText(draft, "groups")}
          />
        </div>
      </div>
      <button class="p" type="submit">
        {tell(reader, "page.save")}
      </button>
    </form>
  );
}
