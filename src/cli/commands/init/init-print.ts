import { Refusal } from "../../../core/refusal.ts";
import type { ClientSurroundings, Client } from "../../../agents/wiring.ts";
import { clientsOf, findClient, OTHER_CLIENTS, renderOther } from "../../../setup/clients.ts";
import { renderSnippet } from "../../../setup/desired-config.ts";
import type { Context } from "../../context.ts";
import { nameOf } from "./init-view.ts";
import { oneLine } from "../../view/sanitise.ts";

/** Prints the settings to write by hand: file names on stderr, the text alone on stdout if it is one file. */
export async function printSnippets(name: string, around: ClientSurroundings, context: Context): Promise<number> {
  const clients = clientsOf(await context.agents());
  const names = [...clients, ...OTHER_CLIENTS].map((one) => one.name).join(", ");
  const known = findClient(clients, name);
  const other = OTHER_CLIENTS.find((one) => one.name === name);
  if (known) return printKnown(known, around, context);
  if (other) return print(context, `${other.title}: ${nameOf(other.file(around), around)}`, renderOther(other, around));
  if (name === "" || name === "generic") return print(context, sayGeneric(names), renderOther(undefined, around));
  throw new Refusal("bad_input", `There is nothing to print for "${oneLine(name)}"`, {
    hint: `Choose from: ${names}, generic`,
  });
}

function printKnown(client: Client, around: ClientSurroundings, context: Context): number {
  for (const { file, format, wishes } of client.targets("user", around)) {
    print(context, `${client.title}: ${nameOf(file, around)}`, renderSnippet(format, wishes));
  }
  return 0;
}

function sayGeneric(names: string): string {
  return `Any client that speaks MCP. Known by name: ${names}`;
}

function print({ stdout, stderr, isQuiet }: Context, head: string, text: string): number {
  if (!isQuiet) stderr.write(`${head}\n`);
  stdout.write(text);
  return 0;
}
