import type { Actor } from "../core/people/actor.ts";
import type { DecisionContext, Entry } from "../core/changes.ts";
import { Refusal } from "../core/refusal.ts";
import {
  type Template,
  type TemplateInput,
  isTemplateRemoved,
  parseTemplate,
  putTemplate,
  removeTemplate,
  changeTemplate,
} from "../core/answer/template.ts";
import type { Store } from "../store/store.ts";
import { memoize } from "./memoize.ts";

const MOST_TEMPLATES = 500;

interface TemplateDeps {
  store: Store;
  at: (by: Actor) => DecisionContext;
}

/** The canned answers that everybody on a store shares. */
export class Templates {
  readonly #deps: TemplateDeps;
  readonly #known = new WeakMap<Entry, Template>();

  constructor(deps: TemplateDeps) {
    this.#deps = deps;
  }

  async putTemplate(input: TemplateInput, by: Actor): Promise<Template> {
    const before = await this.#find(input.name);
    const isNew = !before || isTemplateRemoved(before);
    if (isNew && (await this.listTemplates()).length >= MOST_TEMPLATES) {
      throw new Refusal("too_many", `There are ${MOST_TEMPLATES} templates already`, {
        hint: "Remove some: askd template remove <name>",
        fact: { is: "many_templates", count: MOST_TEMPLATES },
      });
    }
    return this.#write(putTemplate(before, input, this.#deps.at(by)), by);
  }

  async removeTemplate(name: string, by: Actor): Promise<Template> {
    return this.#write(removeTemplate(await this.#find(name), name, this.#deps.at(by)), by);
  }

  /** All that can be used, by name. */
  async listTemplates(): Promise<Template[]> {
    const entries = await this.#deps.store.listEntries("template");
    return entries
      .map((entry) => memoize(this.#known, entry, parseTemplate))
      .filter((template) => !isTemplateRemoved(template));
  }

  async #find(name: string) {
    const entry = await this.#deps.store.findEntry("template", name);
    return entry && parseTemplate(entry);
  }

  async #write(template: Template, by: Actor): Promise<Template> {
    const committed = await this.#deps.store.commit(changeTemplate(template, this.#deps.at(by)));
    if (committed.ok) return { ...template, version: template.version + 1 };
    throw new Refusal("moved", `Template ${template.name} was changed meanwhile; try again`);
  }
}
