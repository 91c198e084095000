import { findChangedFiles } from "../../../agents/runner/local-run.ts";
import type { QuestionSnapshot } from "../../../core/changes.ts";
import type { QuestionId } from "../../../core/id.ts";
import { answerText, matchAnswer } from "../../../core/answer/match.ts";
import type { Run } from "../../../core/run/run.ts";
import { fillTemplate, listMatchingTemplates } from "../../../core/answer/template.ts";
import type { Engine } from "../../../engine/engine.ts";
import { findBrowser } from "../../terminal/browser.ts";
import type { Context } from "../../context.ts";
import { getDiff } from "../run/diff.ts";
import { questionPath } from "../service/open.ts";
import { oneLine, sanitise } from "../../view/sanitise.ts";
import { renderShow } from "../inspect/show-view.ts";
import { textWidth } from "../../terminal/terminal.ts";
import { readUsage } from "../../run-usage.ts";
import { colourDiff, countChanged, listNew } from "../../view/work-view.ts";
import { showUntilClosed } from "../../terminal/pager.ts";
import type { RunCounts, OfferedTemplate } from "./next-state.ts";

/** Details of a question besides its card: work, full page, templates. */
export class Evidence {
  readonly #engine: Engine;
  readonly #context: Context;

  constructor(engine: Engine, context: Context) {
    this.#engine = engine;
    this.#context = context;
  }

  /** The usage of the run, and the lines that its agent changed. */
  async count(id: QuestionId): Promise<RunCounts> {
    const { run } = await this.#engine.read(id);
    const usage = (await readUsage(this.#engine, [run])).get(run.id);
    return { usage, work: await this.#countWork(run) };
  }

  /** Shows the work so far, or the full question, in the pager. */
  async show(what: "diff" | "view", id: QuestionId): Promise<void> {
    const read = await this.#engine.read(id);
    await showUntilClosed(what === "diff" ? await this.#diffOf(read.run) : await this.#pageOf(read), this.#context);
  }

  /** Opens the page of a question in the browser, and returns a message with its address. */
  async open(id: QuestionId): Promise<string> {
    const context = this.#context;
    const server = await context.findServer();
    if (server === undefined) return `No server is running. Start it with: ${context.program} serve`;
    const url = `${server}${questionPath(id)}`;
    const browser = findBrowser(context);
    const isOpen =
      browser && (await context.runChild({ argv: [...browser.argv, url], stdio: "pipe" }).catch(() => undefined));
    return isOpen?.exitCode === 0 ? `Opened ${url}` : `Open it yourself: ${url}`;
  }

  /** The templates that match a question, filled in; none for typed answers. */
  async templates(id: QuestionId): Promise<readonly OfferedTemplate[]> {
    const read = await this.#engine.read(id);
    if (read.content.items.some(({ schema }) => schema !== undefined)) return [];
    const { limits } = this.#context.rules;
    return listMatchingTemplates(await this.#engine.listTemplates(), read, limits).map((template) => {
      const { note, ...said } = fillTemplate(template, read);
      const items = matchAnswer(read.content, said, limits);
      return { name: template.name, says: answerText(read.content, items), items, note };
    });
  }

  async #countWork(run: Run): Promise<RunCounts["work"]> {
    const changed = await findChangedFiles(run, await this.#context.host(), { isStat: true }).catch(() => undefined); // not available: nothing to count
    if (!changed) return undefined;
    const { added, removed } = countChanged(changed);
    return added + removed > 0 ? { added, removed } : undefined;
  }

  async #diffOf(run: Run) {
    const changed = await getDiff(run, { isStat: false }, this.#context);
    if (changed.diff === "" && changed.untracked.length === 0) {
      return `No changes in ${oneLine(run.dir ?? "")}\n`;
    }
    return listNew(changed) + colourDiff(sanitise(changed.diff), this.#context.style);
  }

  /** The full page of a question, with previews and comments. */
  async #pageOf(read: QuestionSnapshot) {
    const { ahead, program, stdout, style } = this.#context;
    const view = { now: await this.#engine.now(), ahead, program, width: textWidth(stdout.columns) };
    const page = renderShow({ ...view, run: read.run, questions: [read] }, style);
    const previews = read.content.items.flatMap(({ options }) =>
      options.flatMap(({ label, preview }) =>
        preview === undefined ? [] : ["", style.bold(`PREVIEW of ${oneLine(label)}:`), sanitise(preview)],
      ),
    );
    const comments = read.question.comments.map(({ by, text }) => `  ${oneLine(by.id)}: ${sanitise(text)}`);
    const said = comments.length > 0 ? ["", style.bold("COMMENTS:"), ...comments] : [];
    return [page.trimEnd(), ...previews, ...said, ""].join("\n");
  }
}
