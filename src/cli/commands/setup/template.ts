import { TEMPLATE_VIEW_FIELDS, viewTemplate } from "../../../core/api/memory-reply.ts";
import { describeIssue } from "../../../core/question/ask-input.ts";
import { Refusal } from "../../../core/refusal.ts";
import { TEMPLATE_FIELDS, type Template, TemplateInput, templateNotFound } from "../../../core/answer/template.ts";
import type { Engine } from "../../../engine/engine.ts";
import { actorName } from "../../../core/people/actor.ts";
import { whoTypes } from "../../actor.ts";
import { unknownVerb, requireOneArgument, wrongUsage } from "../../arguments.ts";
import { type Command, isListOrShow } from "../../command.ts";
import type { Context } from "../../context.ts";
import type { Flags, Values } from "../../flags.ts";
import { readFileArg } from "../../terminal/read-file-arg.ts";
import { printResult } from "../../output.ts";
import { oneLine, sanitise } from "../../view/sanitise.ts";
import { textWidth, cutCells, padCells } from "../../terminal/terminal.ts";
import { type ClockOffset, sayMoment } from "../../view/relative-time.ts";

const TEXT_BYTES = 64 * 1024;

const flags = {
  text: { type: "string", short: "m", value: "text", about: "add: the text; with --choose it is the note" },
  choose: { type: "string", short: "c", multiple: true, value: "key", about: "add: the option to choose" },
  file: { type: "string", short: "F", value: "file", about: "add: read the text from a file, or - for stdin" },
  repo: { type: "string", value: "pattern", about: "add: offer it first for these repositories, such as acme/*" },
  label: { type: "string", value: "label", about: "add: offer it first for runs with this label" },
} as const satisfies Flags;
type FlagValues = Values<typeof flags>;

export const command: Command<typeof flags> = {
  usage: "template add|list|show|remove [<name>] [<text>]",
  isLong: () => true,
  isLooking: isListOrShow,
  flags,
  fields: TEMPLATE_VIEW_FIELDS,
  examples: [
    'askd template add tests "Yes, and write tests for {{branch}} first"',
    "askd template add cache -c redis -m 'we run it already' --repo 'acme/*'",
    "askd answer 42 -t tests",
    `Fields: ${TEMPLATE_FIELDS.map((name) => `{{${name}}}`).join(" ")}`,
  ],
  async run(args, context) {
    const [what = "list", ...rest] = args.positionals;
    const engine = await context.engine();
    if (what === "list" && rest.length === 0) return list(engine, context);
    if (what === "add") return add(engine, rest, args.flags, context);
    if (what === "show") return show(await getTemplate(engine, requireOneArgument(rest, command.usage)), context);
    if (what === "remove") return remove(engine, requireOneArgument(rest, command.usage), context);
    throw unknownVerb(args.positionals, command.usage);
  },
};

/** The template of this name; refuses if there is none. */
export async function getTemplate(engine: Pick<Engine, "listTemplates">, name: string): Promise<Template> {
  const found = (await engine.listTemplates()).find((template) => template.name === name);
  if (!found) throw templateNotFound(oneLine(name));
  return found;
}

function sayNone({ program }: Context) {
  return `No templates yet. Add one: ${program} template add tests "Yes, and write tests first"\n`;
}

async function list(engine: Engine, context: Context) {
  const templates = await engine.listTemplates();
  printResult(context, TEMPLATE_VIEW_FIELDS, {
    page: () =>
      templates.length === 0 ? sayNone(context) : renderTemplates(templates, textWidth(context.stdout.columns)),
    json: () => templates.map(viewTemplate),
  });
  return 0;
}

async function add(engine: Engine, words: readonly string[], given: FlagValues, context: Context) {
  const [name, word, tooMuch] = words;
  if (name === undefined) throw wrongUsage("A name is missing", command.usage);
  if (tooMuch !== undefined) throw wrongUsage("Put the text in quotes", command.usage);
  const text = word ?? given.text ?? (await readText(given.file, context));
  const { choose, repo, label } = given;
  const match = repo === undefined && label === undefined ? undefined : { repo, label };
  const parsed = TemplateInput.safeParse({ name, text, choose, match });
  if (!parsed.success) {
    throw new Refusal("bad_input", `The template is not valid: ${describeIssue(parsed.error)}`, {
      hint: "Names consist of lower-case letters, digits, - and _",
    });
  }
  const template = await engine.putTemplate(parsed.data, await whoTypes(engine, context));
  say(
    template,
    `${template.changes.at(-1)?.did ?? "added"}; use it: ${context.program} answer <id> -t ${template.name}`,
    context,
  );
  return 0;
}

async function readText(file: string | undefined, context: Context) {
  if (file === undefined) return undefined;
  const text = file === "-" ? await context.stdin.readAll(TEXT_BYTES) : await readFileArg(file, context);
  return text.trim();
}

function show(template: Template, context: Context) {
  printResult(context, TEMPLATE_VIEW_FIELDS, {
    page: () => renderTemplate(template, context.ahead),
    json: () => viewTemplate(template),
  });
  return 0;
}

async function remove(engine: Engine, name: string, context: Context) {
  say(await engine.removeTemplate(name, await whoTypes(engine, context)), "removed", context);
  return 0;
}

function say(template: Template, what: string, context: Context) {
  printResult(context, TEMPLATE_VIEW_FIELDS, {
    page: () => (context.isQuiet ? "" : `✓ Template ${template.name} ${what}\n`),
    json: () => viewTemplate(template),
  });
}

/** One line per template. */
function renderTemplates(templates: readonly Template[], width: number) {
  const column = Math.max(...templates.map(({ name }) => name.length));
  return templates
    .map((template) => {
      const scope = sayMatch(template);
      const said = oneLine(`${sayWords(template)}${scope === undefined ? "" : ` (${scope})`}`);
      return `${cutCells(`${padCells(template.name, column)}  ${said}`, width)}\n`;
    })
    .join("");
}

/** One template in full, with its history. */
function renderTemplate(template: Template, ahead: ClockOffset) {
  const scope = sayMatch(template);
  const lines = [
    `Template: ${template.name}`,
    ...(template.choose ? [`Chooses: ${oneLine(template.choose.join(", "))}`] : []),
    ...(template.text === undefined ? [] : [`${template.choose ? "Note" : "Text"}: ${sanitise(template.text)}`]),
    ...(scope === undefined ? [] : [`Offered first: ${oneLine(scope)}`]),
    ...template.changes.map(({ did, by, at }) =>
      oneLine(`${did} by ${actorName(by)} (${by.channel}) ${sayMoment(at, ahead)}`),
    ),
  ];
  return `${lines.join("\n")}\n`;
}

function sayWords({ choose, text }: Template) {
  if (!choose) return text ?? "";
  return `chooses ${choose.join(", ")}${text === undefined ? "" : `: ${text}`}`;
}

function sayMatch({ match }: Template) {
  const parts = [
    ...(match?.repo === undefined ? [] : [`in ${match.repo}`]),
    ...(match?.label === undefined ? [] : [`with label ${match.label}`]),
  ];
  return parts.length > 0 ? parts.join(", ") : undefined;
}
