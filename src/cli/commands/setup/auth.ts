import type { Context } from "../../context.ts";
import { Refusal } from "../../../core/refusal.ts";
import type { Engine } from "../../../engine/engine.ts";
import { whoManages } from "../../actor.ts";
import { optionalArgument, unknownVerb } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import { printResult } from "../../output.ts";
import { asTyped } from "../../program.ts";
import { sayStore } from "../../paths.ts";
import { oneLine } from "../../view/sanitise.ts";

const FIELDS = ["id", "scope", "store", "server", "expires_at"];
const flags = {};

/** The identity of the caller, and the store or server in use. */
interface Identity {
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
  isLooking: () => true,
  examples: ["askd auth    exit 4 if the server rejects your token"],
  async run(args, context) {
    const what = optionalArgument(args.positionals, command.usage);
    if (what !== undefined && what !== "status") throw unknownVerb(args.positionals, command.usage);
    const engine = await context.engine();
    const known = await findKnown(engine, context);
    printResult(context, FIELDS, { page: () => asTyped(renderKnown(known), context.program), json: () => known });
    return 0;
  },
};

async function findKnown(engine: Engine, context: Context) {
  const { store } = context.place;
  const server = (await context.findServer()) ?? null;
  if (store.kind !== "server") {
    const { id, scope } = await whoManages(engine, context);
    return { id, scope, store: sayStore(store), server, expiresAt: null };
  }
  if (store.token === undefined) {
    await engine.countQuestions("pending"); // refused if the server's token is not valid
    return { id: context.user, scope: "admin", store: store.url, server, expiresAt: null };
  }
  const found = await engine.authenticate(store.token, "cli");
  if (found) {
    const { id, scope } = found.actor;
    return { id, scope, store: store.url, server, expiresAt: found.token.expiresAt ?? null };
  }
  throw new Refusal("sign_in", `${store.url} rejects the token in ASKD_TOKEN`, {
    hint: "Create a new one on the server's machine: askd token create --scope human --subject <you>",
  });
}

/** Suggests `askd login` only to callers who may create codes. */
function sayServer(server: string | null, scope: string) {
  if (server === null) return "Server: none; start one with: askd serve";
  return `Server: ${server}${scope === "admin" ? "; sign in there with: askd login" : ""}`;
}

function renderKnown({ id, scope, store, server, expiresAt }: Identity) {
  const lines = [
    `You are ${oneLine(id)} (${scope})${expiresAt === null ? "" : `, until ${expiresAt}`}`,
    `Store: ${oneLine(store)}`,
    sayServer(server, scope),
  ];
  return `${lines.join("\n")}\n`;
}
