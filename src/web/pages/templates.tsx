import { actorName } from "../../core/people/actor.ts";
import type { Question } from "../../core/question/question.ts";
import { TEMPLATE_FIELDS, type Template } from "../../core/answer/template.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { type FormDraft, draftText } from "../parts/form-draft.ts";
import { Paging, type PagePart } from "../parts/paging.tsx";
import { type PageReader, tell } from "../parts/page-reader.ts";
import { TimeSince } from "../parts/time.tsx";

/** The answer of a template to a question, or why it has none. */
export interface TemplateTrial {
  name: string;
  title: string;
  answer?: string;
  note?: string | undefined;
  problem?: string;
}

export interface TemplatesView {
  reader: PageReader;
  templates: readonly Template[];
  part: PagePart;
  /** Open questions to try templates on. */
  questions: readonly Question[];
  trial?: TemplateTrial | undefined;
  /** Values to fill the form with. */
  draft: FormDraft;
  problem?: string | undefined;
}

/** The shared templates. */
export function TemplatesPage({ view }: { view: TemplatesView }) {
  const { reader, templates, part, questions, trial, problem } = view;
  return (
    <main id="main" class="page wide">
      <h1>{tell(reader, "tpl.title")}</h1>
      <p class="quiet">{tell(reader, "tpl.about")}</p>
      {templates.length === 0 ? <p>{tell(reader, "tpl.none")}</p> : null}
      <ul class="rows">
        {templates.map((template) => (
          <TemplateRow reader={reader} template={template} />
        ))}
      </ul>
      <Paging reader={reader} title={tell(reader, "tpl.title")} part={part} address="/templates" />
      {templates.length > 0 && questions.length === 0 ? <p class="quiet">{tell(reader, "tpl.try.none")}</p> : null}
      {templates.length > 0 && questions.length > 0 ? <TryForm view={view} /> : null}
      {trial ? <Trial reader={reader} trial={trial} /> : null}
      <section id="form" class="apart">
        <h2>{tell(reader, "tpl.add")}</h2>
        {problem === undefined ? null : (
          <p class="banner bad" role="alert">
            {problem}
          </p>
        )}
        <TemplateForm view={view} />
      </section>
    </main>
  );
}

function TemplateRow({ reader, template }: { reader: PageReader; template: Template }) {
  const { name, choose, text, match, changes } = template;
  const last = changes.at(-1);
  const where = [match?.repo, match?.label].filter((part) => part !== undefined);
  return (
    <li>
      <div>
        <p>
          <b>{name}</b>{" "}
          {choose ? (
            <span>
              {tell(reader, "tpl.chooses")} {choose.map(makeVisible).join(", ")}
            </span>
          ) : null}
        </p>
        {text === undefined ? null : <p class="said">{makeVisible(text.slice(0, 300))}</p>}
        <p class="quiet">
          {where.length > 0 ? `${tell(reader, "tpl.where")} ${where.map(makeVisible).join(", ")} · ` : null}
          {last ? (
            <>
              {tell(reader, "tpl.by", { name: makeVisible(actorName(last.by)) })},{" "}
              <TimeSince reader={reader} at={last.at} as="run.ago" />
            </>
          ) : null}
        </p>
      </div>
      <div class="run-acts">
        <a class="button" href={`/templates?edit=${encodeURIComponent(name)}#form`}>
          {tell(reader, "tpl.edit")}
          <span class="unseen"> {name}</span>
        </a>
        <details class="menu ends">
          <summary>
            {tell(reader, "tpl.remove")} …<span class="unseen"> {name}</span>
          </summary>
          <form class="panel" data-plain method="post" action={`/templates/${name}/remove`}>
            <input type="hidden" name="csrf" value={reader.csrf} />
            <p>{tell(reader, "tpl.remove.about")}</p>
            <button class="bad" type="submit">
              {tell(reader, "tpl.remove")}
              <span class="unseen"> {name}</span>
            </button>
          </form>
        </details>
      </div>
    </li>
  );
}

function TryForm({ view: { reader, templates, questions, trial } }: { view: TemplatesView }) {
  return (
    <form class="filters" method="get" action="/templates">
      <div>
        <label class="t" for="try">
          {tell(reader, "tpl.try")}
        </label>
        <select id="try" name="try">
          {templates.map(({ name }) => (
            <option value={name} selected={name === trial?.name}>
              {name}
            </option>
          ))}
        </select>
      </div>
      <div>
        <label class="t" for="on">
          {tell(reader, "tpl.try.on")}
        </label>
        <select id="on" name="on">
          {questions.map(({ id, title }) => (
            <option value={id} selected={title === trial?.title}>
              {makeVisible(title)}
            </option>
          ))}
        </select>
      </div>
      <button type="submit">{tell(reader, "tpl.try.do")}</button>
    </form>
  );
}

function Trial({ reader, trial }: { reader: PageReader; trial: TemplateTrial }) {
  const { name, title, answer, note, problem } = trial;
  if (problem !== undefined) {
    return (
      <p class="banner wait" role="status">
        {makeVisible(problem)}
      </p>
    );
  }
  return (
    <div class="banner ok" role="status">
      <p>{tell(reader, "tpl.try.gives", { name, title: makeVisible(title) })}</p>
      <p class="said">
        <b>{makeVisible(answer ?? "")}</b>
      </p>
      {note === undefined ? null : (
        <p class="said">
          {tell(reader, "tpl.try.note")} {makeVisible(note)}
        </p>
      )}
    </div>
  );
}

function TemplateForm({ view: { reader, draft } }: { view: TemplatesView }) {
  const of = (name: string) => draftText(draft, name);
  const fields = TEMPLATE_FIELDS.map((field) => `{{${field}}}`).join(" ");
  return (
    <form data-plain method="post" action="/templates">
      <input type="hidden" name="csrf" value={reader.csrf} />
      <div class="fields two">
        <div class="all">
          <label class="t" for="name">
            {tell(reader, "tpl.name")} <span class="quiet">{tell(reader, "tpl.name.about")}</span>
          </label>
          <input id="name" name="name" type="text" required autocomplete="off" maxlength={40} value={of("name")} />
        </div>
        <div>
          <label class="t" for="choose">
            {tell(reader, "tpl.choose")} <span class="quiet">{tell(reader, "tpl.choose.about")}</span>
          </label>
          <textarea id="choose" name="choose" rows={3}>
            {of("choose")}
          </textarea>
        </div>
        <div>
          <label class="t" for="text">
            {tell(reader, "tpl.text")} <span class="quiet">{tell(reader, "tpl.text.about", { fields })}</span>
          </label>
          <textarea id="text" name="text" rows={3}>
            {of("text")}
          </textarea>
        </div>
        <div>
          <label class="t" for="repo">
            {tell(reader, "tpl.repo")} <span class="quiet">{tell(reader, "optional")}</span>
          </label>
          <input id="repo" name="repo" type="text" placeholder="acme/*" maxlength={200} value={of("repo")} />
        </div>
        <div>
          <label class="t" for="label">
            {tell(reader, "tpl.label")} <span class="quiet">{tell(reader, "optional")}</span>
          </label>
          <input id="label" name="label" type="text" maxlength={200} value={of("label")} />
        </div>
      </div>
      <button class="p" type="submit">
        {tell(reader, "page.save")}
      </button>
    </form>
  );
}
