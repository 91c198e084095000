import { parseDuration } from "../core/duration.ts";
import { later } from "../core/instant.ts";
import { Refusal } from "../core/refusal.ts";
import { IssuedScope, type Token } from "../core/token.ts";
import type { Engine } from "../engine/engine.ts";
import { whoManages } from "./actor.ts";
import { noVerb, requireOne, wrongUsage } from "./arguments.ts";
import type { Command } from "./command.ts";
import type { Context } from "./context.ts";
import type { Flags, Values } from "./flags.ts";
import { printResult } from "./output.ts";
import { oneLine } from "./sanitise.ts";
import { getTarget } from "./target.ts";

const SHOWN_CHARS = 12;

const flags = {
  scope: { type: "string", value: "scope", about: "agent, human or admin (agent)" },
  subject: { type: "string", value: "name", about: "Whom it speaks for" },
  run: { type: "string", value: "run", about: "Only for this run; ends with it" },
  "on-behalf": { type: "boolean", about: "May name somebody else as the one who answers" },
  expires: { type: "string", value: "duration", about: "How long it is good, such as 30d" },
} as const satisfies Flags;
type Given = Values<typeof flags>;

export const command: Command<typeof flags> = {
  usage: "token create|list|revoke [<id>]",
  flags,
  fields: [
    "id",
    "scope",
    "subject",
    "run_id",
    "question_id",
    "on_behalf",
    "created_at",
    "expires_at",
    "revoked_at",
    "text",
  ],
  examples: ["askd token create --scope agent --subject ci", "askd token revoke 3f9a1c"],
  async run(args, context) {
    const [what, ...rest] = args.positionals;
    const engine = await context.engine();
    if (what === "create" && rest.length === 0) return create(engine, args.flags, context);
    if (what === "list" && rest.length === 0) return list(engine, context);
    if (what === "revoke") return revoke(engine, requireOne(rest, command.usage), context);
    throw noVerb(args.positionals, command.usage);
  },
};

async function create(engine: Engine, given: Given, context: Context): Promise<number> {
  const scope = IssuedScope.exclude(["login"]).safeParse(given.scope ?? "agent");
  if (!scope.success) throw new Refusal("bad_input", "--scope takes agent, human or admin");
  if (given.subject === undefined) throw wrongUsage("Whose token? Add --subject <name>", command.usage);
  const target = given.run === undefined ? undefined : await getTarget(engine, given.run);
  const { text, token } = await engine.issueToken(
    {
      ...{ scope: scope.data, subject: given.subject, onBehalf: given["on-behalf"] ?? false },
      ...(target && { runId: target.named === "run" ? target.run.id : target.question.runId }),
      ...(given.expires !== undefined && { expiresAt: later(await engine.now(), parseDuration(given.expires)) }),
    },
    await whoManages(engine, context),
  );
  printResult(context, command.fields ?? [], { page: () => `${text}\n`, json: () => ({ ...viewToken(token), text }) });
  if (!context.isQuiet) context.stderr.write("Keep it: it is shown this once\n");
  return 0;
}

async function list(engine: Engine, context: Context): Promise<number> {
  const tokens = await engine.listTokens(await whoManages(engine, context));
  const now = await engine.now();
  printResult(context, command.fields ?? [], {
    page: () =>
      tokens.length === 0
        ? `No tokens yet. Make one: ${context.program} token create --scope agent --subject ci\n`
        : tokens.map((token) => renderToken(token, now)).join(""),
    json: () => tokens.map(viewToken),
  });
  return 0;
}

async function revoke(engine: Engine, name: string, context: Context): Promise<number> {
  const by = await whoManages(engine, context);
  const found = (await engine.listTokens(by)).filter(({ id }) => id.startsWith(name.toLowerCase()));
  const [token] = found;
  if (!token)
    throw new Refusal("not_found", `There is no token ${oneLine(name)}`, { hint: "See all: askd token list" });
  if (found.length > 1) throw new Refusal("ambiguous_ref", `Several tokens start with ${oneLine(name)}`);
  const revoked = await engine.revokeToken(token.id, by);
  printResult(context, command.fields ?? [], {
    page: () => `✓ The ${revoked.scope} token of ${oneLine(revoked.subject)} is worth nothing now\n`,
    json: () => viewToken(revoked),
  });
  return 0;
}

function viewToken({ version: _version, ...token }: Token): object {
  return { runId: null, questionId: null, expiresAt: null, revokedAt: null, ...token };
}

function renderToken(token: Token, now: string): string {
  const state = token.revokedAt ? "revoked" : token.expiresAt && token.expiresAt <= now ? "expired" : "good";
  const until = token.expiresAt ? ` until ${token.expiresAt}` : "";
  return `${token.id.slice(0, SHOWN_CHARS)}  ${token.scope.padEnd(5)}  ${state}${until}  ${oneLine(token.subject)}\n`;
}
