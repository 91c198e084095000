import type { AnswerField, AnswerSchema } from "../../core/answer/answer-schema.ts";
import { type Item, type Option, recommendedOption } from "../../core/question/content.ts";
import { ALLOW_CHANGED } from "../../core/question/run-permission.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { type FormDraft, OTHER_CHOICE, draftText, itemFieldNames } from "../parts/form-draft.ts";
import { MarkdownText } from "../parts/markdown.tsx";
import { aboutWords, labelWords } from "../words/answer-words.ts";
import { type PageReader, tell } from "../parts/page-reader.ts";

export interface ItemView {
  reader: PageReader;
  item: Item;
  index: number;
  /** The only item of the question: the card's heading already shows its text. */
  isOnly: boolean;
  draft: FormDraft;
  /** High risk: nothing is preselected or recommended. */
  isRisky: boolean;
  /** The typed field that was rejected. */
  wrong?: string | undefined;
}

/** Fields that answer one item: options, free text or typed fields. */
export function ItemFields({ view }: { view: ItemView }) {
  const { reader, item, isOnly } = view;
  return (
    <fieldset class="item">
      <legend>
        {isOnly ? tell(reader, "answer.yours") : null}
        {!isOnly && item.header !== undefined ? <span class="header">{makeVisible(item.header)}</span> : null}
        {!isOnly ? makeVisible(item.text) : null}
        {item.multiple ? <span class="quiet"> {tell(reader, "answer.several")}</span> : null}
      </legend>
      {item.schema ? <TypedFields view={view} schema={item.schema} /> : <Choices view={view} />}
    </fieldset>
  );
}

function Choices({ view }: { view: ItemView }) {
  const { reader, item, index, draft } = view;
  const names = itemFieldNames(index);
  const text = draftText(draft, names.text);
  if (item.options.length === 0) {
    return (
      <textarea
        name={names.text}
        rows={3}
        aria-label={tell(reader, "answer.words")}
        placeholder={item.placeholder === undefined ? undefined : makeVisible(item.placeholder)}
        data-words
      >
        {text}
      </textarea>
    );
  }
  return (
    <>
      {item.options.map((option, place) => (
        <Choice view={view} option={option} place={place} />
      ))}
      {item.allowText ? (
        <div class="opt">
          <label>
            <Button
              view={view}
              value={OTHER_CHOICE}
              name={`${item.options.length + 1} ${tell(reader, "answer.other")}`}
            />
            <span class="l">
              <kbd>{item.options.length + 1}</kbd>
              {tell(reader, "answer.other")}
            </span>
            <span class="c">{tell(reader, "answer.otherAbout")}</span>
          </label>
          <textarea name={names.text} rows={2} aria-label={tell(reader, "answer.words")} data-words>
            {text}
          </textarea>
        </div>
      ) : null}
    </>
  );
}

function Choice({ view, option, place }: { view: ItemView; option: Option; place: number }) {
  const { reader, item, index, isRisky } = view;
  const label = labelWords(reader, item, option);
  const about = aboutWords(reader, item, option);
  const isShownBest = option.recommended === true && !isRisky;
  const best = isShownBest ? `, ${tell(reader, "answer.recommended").toLowerCase()}` : "";
  const name = `${place + 1} ${label}${best}`;
  const aboutId = about === undefined ? undefined : `about-${index}-${place}`;
  return (
    <div class="opt">
      <label>
        <Button view={view} value={String(place)} label={label} name={name} about={aboutId} />
        <span class="l">
          <kbd>{place + 1}</kbd>
          {label}
          {isShownBest ? <span class="rec">{tell(reader, "answer.recommended")}</span> : null}
        </span>
        {about === undefined ? null : (
          <span class="c" id={aboutId}>
            {about}
          </span>
        )}
      </label>
      {option.value === ALLOW_CHANGED && item.change !== undefined ? <ChangedCommand view={view} /> : null}
      {option.preview === undefined ? null : (
        <details class="preview">
          <summary>{tell(reader, "answer.preview")}</summary>
          <MarkdownText text={option.preview} />
        </details>
      )}
    </div>
  );
}

/** The command of an approval, to be changed before it is allowed. */
function ChangedCommand({ view: { reader, item, index, draft } }: { view: ItemView }) {
  const { text } = itemFieldNames(index);
  return (
    <textarea
      name={text}
      class="command"
      rows={Math.min(8, (item.change ?? "").split("\n").length + 1)}
      aria-label={tell(reader, "approval.command")}
      spellcheck={false}
      data-words
    >
      {draft.has(text) ? draftText(draft, text) : (item.change ?? "")}
    </textarea>
  );
}

/** The button of an option. Its name is spoken with spaces, which the parts of its label do not have. */
function Button(given: { view: ItemView; value: string; name: string; label?: string; about?: string | undefined }) {
  const { view, value, name, label, about } = given;
  const { item, index, draft, isRisky } = view;
  const field = itemFieldNames(index).choice;
  const drafted = draft.get(field);
  const lean = recommendedOption(item);
  const isLean = !isRisky && lean !== undefined && String(item.options.indexOf(lean)) === value;
  return (
    <input
      type={item.multiple ? "checkbox" : "radio"}
      name={field}
      value={value}
      checked={drafted ? drafted.includes(value) : isLean}
      aria-label={name}
      aria-describedby={about}
      data-label={label}
      data-writes={item.options[Number(value)]?.value === ALLOW_CHANGED || value === OTHER_CHOICE ? "yes" : undefined}
      data-denies={item.options[Number(value)]?.value === "deny" ? "yes" : undefined}
    />
  );
}

function TypedFields({ view, schema }: { view: ItemView; schema: AnswerSchema }) {
  const { reader, index, draft, wrong } = view;
  const names = itemFieldNames(index);
  if (schema.type !== "object") {
    const label = makeVisible(schema.title ?? tell(reader, "answer.words"));
    const isWrong = wrong === "";
    return (
      <TypedField
        reader={reader}
        field={schema}
        name={names.text}
        label={label}
        draft={draft}
        isRequired
        isWrong={isWrong}
      />
    );
  }
  return (
    <>
      {Object.entries(schema.properties).map(([property, field]) => (
        <TypedField
          reader={reader}
          field={field}
          name={names.part(property)}
          label={makeVisible(field.title ?? property)}
          draft={draft}
          isRequired={schema.required?.includes(property) ?? false}
          isWrong={property === wrong}
        />
      ))}
    </>
  );
}

interface TypedView {
  reader: PageReader;
  field: AnswerField;
  name: string;
  label: string;
  draft: FormDraft;
  isRequired: boolean;
  isWrong: boolean;
}

const INPUT_TYPES = { email: "email", uri: "url", date: "date", "date-time": "text" } as const;

function TypedField({ reader, field, name, label, draft, isRequired, isWrong }: TypedView) {
  const id = `field-${name}`;
  const about = [isWrong ? "problem" : "", field.description === undefined ? "" : `${id}-about`].join(" ").trim();
  const described = { "aria-invalid": isWrong ? "true" : undefined, "aria-describedby": about || undefined };
  const value = draftText(draft, name);
  const choices = field.type === "boolean" ? ["true", "false"] : field.enum;
  return (
    <div class="field">
      <label class="t" for={id}>
        {label}
        {isRequired ? null : <span class="quiet"> {tell(reader, "optional")}</span>}
      </label>
      {field.description === undefined ? null : (
        <p class="quiet" id={`${id}-about`}>
          {makeVisible(field.description)}
        </p>
      )}
      {choices ? (
        <select id={id} name={name} required={isRequired} {...described} data-words>
          <option value="">{tell(reader, "answer.unset")}</option>
          {choices.map((choice) => (
            <option value={choice} selected={choice === value}>
              {field.type === "boolean" ? tell(reader, choice === "true" ? "yes" : "no") : makeVisible(choice)}
            </option>
          ))}
        </select>
      ) : (
        <input
          id={id}
          name={name}
          value={value}
          required={isRequired}
          type={field.type === "string" ? (field.format ? INPUT_TYPES[field.format] : "text") : "number"}
          step={field.type === "integer" ? "1" : field.type === "number" ? "any" : undefined}
          min={field.minimum}
          max={field.maximum}
          minlength={field.minLength}
          maxlength={field.maxLength}
          {...described}
          data-words
        />
      )}
    </div>
  );
}
