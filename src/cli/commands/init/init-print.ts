import { Refusal } from "../../../core/refusal.ts";
import type { Around, Client } from "../../../setup/client.ts";
import { CLIENTS, findClient } from "../../../setup/clients.ts";
import { OTHER_CLIENTS, renderOther } from "../../../setup/other-client.ts";
import { renderSnippet } from "../../../setup/snippet.ts";
import type { Context } from "../../context.ts";
import { nameOf } from "./init-view.ts";
import { oneLine } from "../../view/sanitise.ts";

/** What to write by hand for a client: its files on stderr, the text alone on stdout where it is one file. */
export function printSnippets(name: string, around: Around, context: Context): number {
  const known = findClient(name);
  const other = OTHER_CLIENTS.find((one) => one.name === name);
  if (known) return printKnown(known, around, context);
  if (other) return print(context, `${other.title}: ${nameOf(other.file(around), around)}`, renderOther(other, around));
  if (name === "" || name === "generic") return print(context, sayGeneric(), renderOther(undefined, around));
  throw new Refusal("bad_input", `There is nothing to print for "${oneLine(name)}"`, {
    hint: `Choose from: ${[...CLIENTS, ...OTHER_CLIENTS].map((one) => one.name).join(", ")}, generic`,
  });
}

function printKnown(client: Client, around: Around, context: Context): number {
  for (const { file, format, wishes } of client.targets("user", around)) {
    print(context, `${client.title}: ${nameOf(file, around)}`, renderSnippet(format, wishes));
  }
  return 0;
}

function sayGeneric(): string {
  const names = [...CLIENTS, ...OTHER_CLIENTS].map(({ name }) => name).join(", ");
  return `Any client that speaks MCP. Known by name: ${names}`;
}

function print({ stdout, stderr, isQuiet }: Context, head: string, text: string): number {
  if (!isQuiet) stderr.write(`${head}\n`);
  stdout.write(text);
  return 0;
}
