import type { Context } from "../../context.ts";
import { Refusal } from "../../../core/refusal.ts";
import type { Engine } from "../../../engine/engine.ts";
import { whoManages } from "../../actor.ts";
import { atMostOne, noVerb } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import { printResult } from "../../output.ts";
import { asTyped } from "../../program.ts";
import { sayStore } from "../../paths.ts";
import { oneLine } from "../../view/sanitise.ts";

const FIELDS = ["id", "scope", "store", "server", "expires_at"];
const flags = {};

/** Who somebody is here, and where what they do goes to. */
interface Known {
  id: string;
  scope: string;
  store: string;
  server: string | null;
  expiresAt: string | null;
}

export const command: Command<typeof flags> = {
  usage: "auth [status]",
  flags,
  fields: FIELDS,
  examples: ["askd auth    who you are here; exit 4 if a server does not know you"],
  async run(args, context) {
    const what = atMostOne(args.positionals, command.usage);
    if (what !== undefined && what !== "status") throw noVerb(args.positionals, command.usage);
    const engine = await context.engine();
    const known = await findKnown(engine, context);
    printResult(context, FIELDS, { page: () => asTyped(renderKnown(known), context.program), json: () => known });
    return 0;
  },
};

async function findKnown(engine: Engine, context: Context): Promise<Known> {
  const { store } = context.place;
  const server = (await context.findServer()) ?? null;
  if (store.kind !== "server") {
    const { id, scope } = await whoManages(engine, context);
    return { id, scope, store: sayStore(store), server, expiresAt: null };
  }
  if (store.token === undefined) {
    await engine.countQuestions("pending"); // refused where the token that the server left is not good
    return { id: context.user, scope: "admin", store: store.url, server, expiresAt: null };
  }
  const found = await engine.authenticate(store.token, "cli");
  if (found) {
    const { id, scope } = found.actor;
    return { id, scope, store: store.url, server, expiresAt: found.token.expiresAt ?? null };
  }
  throw new Refusal("sign_in", `${store.url} does not take the token in ASKD_TOKEN`, {
    hint: "Make a new one where the server is: askd token create --scope human --subject <you>",
  });
}

/** Only who may make codes is told to make one. */
function sayServer(server: string | null, scope: string): string {
  if (server === null) return "Server: none; start one with: askd serve";
  return `Server: ${server}${scope === "admin" ? "; sign in there with: askd login" : ""}`;
}

function renderKnown({ id, scope, store, server, expiresAt }: Known): string {
  const lines = [
    `You are ${oneLine(id)} (${scope})${expiresAt === null ? "" : `, until ${expiresAt}`}`,
    `Store: ${oneLine(store)}`,
    sayServer(server, scope),
  ];
  return `${lines.join("\n")}\n`;
}
