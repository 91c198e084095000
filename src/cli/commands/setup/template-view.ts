import { actorName } from "../../../core/people/actor.ts";
import type { Template } from "../../../core/answer/template.ts";
import { oneLine, sanitise } from "../../view/sanitise.ts";
import { cutCells, padCells } from "../../terminal/terminal.ts";
import { type Ahead, sayMoment } from "../../view/relative-time.ts";

/** One line per template. */
export function renderTemplates(templates: readonly Template[], width: number): string {
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
export function renderTemplate(template: Template, ahead: Ahead): string {
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

function sayWords({ choose, text }: Template): string {
  if (!choose) return text ?? "";
  return `chooses ${choose.join(", ")}${text === undefined ? "" : `: ${text}`}`;
}

function sayMatch({ match }: Template): string | undefined {
  const parts = [
    ...(match?.repo === undefined ? [] : [`in ${match.repo}`]),
    ...(match?.label === undefined ? [] : [`with label ${match.label}`]),
  ];
  return parts.length > 0 ? parts.join(", ") : undefined;
}
