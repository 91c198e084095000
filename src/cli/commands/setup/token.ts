import { parseDuration } from "../../../core/text/duration.ts";
import type { Actor } from "../../../core/people/actor.ts";
import { type Instant, later } from "../../../core/instant.ts";
import { Refusal } from "../../../core/refusal.ts";
import { IssuedScope, SHOWN_ID_CHARS, type Token, isTokenUsable } from "../../../core/people/token.ts";
import type { Engine } from "../../../engine/engine.ts";
import { whoManages } from "../../actor.ts";
import { unknownVerb, requireOneArgument, wrongUsage } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import type { Flags, Values } from "../../flags.ts";
import { printResult } from "../../output.ts";
import { oneLine } from "../../view/sanitise.ts";
import { getTarget } from "../../find-target.ts";

const flags = {
  scope: { type: "string", value: "scope", about: "agent, human or admin (agent)" },
  subject: { type: "string", value: "name", about: "The person or agent that it stands for" },
  run: { type: "string", value: "run", about: "Restrict it to this run; it expires with the run" },
  "on-behalf": { type: "boolean", about: "Allow it to answer on behalf of others" },
  name: { type: "string", value: "name", about: "A name to tell it from other tokens" },
  expires: { type: "string", value: "duration", about: "When it expires, such as 30d, or never (90d after use)" },
  to: { type: "string", value: "person", about: "hand-over: the new owner" },
} as const satisfies Flags;
type FlagValues = Values<typeof flags>;

export const command: Command<typeof flags> = {
  usage: "token create|list|revoke|hand-over [<id>]",
  flags,
  isLooking: ({ positionals: [what] }) => what === "list",
  fields: [
    "id",
    "scope",
    "subject",
    "run_id",
    "question_id",
    "on_behalf",
    "name",
    "maker",
    "created_at",
    "used_at",
    "expires_at",
    "revoked_at",
    "text",
  ],
  examples: [
    "askd token create --scope agent --subject ci --name nightly",
    "askd token revoke nightly",
    "askd token hand-over 3f9a1c --to lena",
  ],
  async run(args, context) {
    const [what, ...rest] = args.positionals;
    const engine = await context.engine();
    if (what === "create" && rest.length === 0) return create(engine, args.flags, context);
    if (what === "list" && rest.length === 0) return list(engine, context);
    if (what === "revoke") return revoke(engine, requireOneArgument(rest, command.usage), context);
    if (what === "hand-over") return handOver(engine, requireOneArgument(rest, command.usage), args.flags.to, context);
    throw unknownVerb(args.positionals, command.usage);
  },
};

async function create(engine: Engine, given: FlagValues, context: Context) {
  const scope = IssuedScope.exclude(["login"]).safeParse(given.scope ?? "agent");
  if (!scope.success) throw new Refusal("bad_input", "--scope takes agent, human or admin");
  if (given.subject === undefined) throw wrongUsage("A subject is missing: add --subject <name>", command.usage);
  const target = given.run === undefined ? undefined : await getTarget(engine, given.run);
  const { text, token } = await engine.issueToken(
    {
      scope: scope.data,
      subject: given.subject,
      onBehalf: given["on-behalf"] ?? false,
      name: given.name,
      ...(target && { runId: target.named === "run" ? target.run.id : target.question.runId }),
      ...(given.expires !== undefined && { expiresAt: await readEnd(engine, given.expires) }),
    },
    await whoManages(engine, context),
  );
  printResult(context, command.fields ?? [], { page: () => `${text}\n`, json: () => ({ ...viewToken(token), text }) });
  if (!context.isQuiet) context.stderr.write("Save it now: it is shown only once\n");
  return 0;
}

async function list(engine: Engine, context: Context) {
  const tokens = await engine.listTokens(await whoManages(engine, context));
  const now = await engine.now();
  printResult(context, command.fields ?? [], {
    page: () =>
      tokens.length === 0
        ? `No tokens yet. Create one: ${context.program} token create --scope agent --subject ci\n`
        : tokens.map((token) => renderToken(token, now)).join(""),
    json: () => tokens.map(viewToken),
  });
  return 0;
}

/** Finds a token by its name, among the valid ones, or by a prefix of its id. */
async function getToken(engine: Engine, name: string, by: Actor) {
  const all = await engine.listTokens(by);
  const now = await engine.now();
  const named = all.filter((token) => token.name === name && isTokenUsable(token, now));
  const found = named.length > 0 ? named : all.filter(({ id }) => id.startsWith(name.toLowerCase()));
  const [token] = found;
  if (!token)
    throw new Refusal("not_found", `There is no token ${oneLine(name)}`, { hint: "List them: askd token list" });
  if (found.length > 1) {
    const ids = found.map(({ id }) => id.slice(0, SHOWN_ID_CHARS)).join(", ");
    throw new Refusal("ambiguous_ref", `"${oneLine(name)}" matches several tokens: ${ids}`, {
      hint: "Use the id of one of them",
    });
  }
  return token;
}

async function readEnd(engine: Engine, text: string): Promise<Instant | "never"> {
  return text === "never" ? "never" : later(await engine.now(), parseDuration(text));
}

async function handOver(engine: Engine, name: string, to: string | undefined, context: Context) {
  if (to === undefined) throw wrongUsage("A person is missing: add --to <person>", command.usage);
  const by = await whoManages(engine, context);
  const token = await engine.handOverToken((await getToken(engine, name, by)).id, to, by);
  printResult(context, command.fields ?? [], {
    page: () => `✓ The ${token.scope} token of ${oneLine(token.subject)} now belongs to ${oneLine(to)}\n`,
    json: () => viewToken(token),
  });
  return 0;
}

async function revoke(engine: Engine, name: string, context: Context) {
  const by = await whoManages(engine, context);
  const revoked = await engine.revokeToken((await getToken(engine, name, by)).id, by);
  printResult(context, command.fields ?? [], {
    page: () => `✓ The ${revoked.scope} token of ${oneLine(revoked.subject)} is revoked\n`,
    json: () => viewToken(revoked),
  });
  return 0;
}

function viewToken({ version: _version, ...token }: Token) {
  const none = {
    runId: null,
    questionId: null,
    name: null,
    maker: null,
    usedAt: null,
    expiresAt: null,
    revokedAt: null,
  };
  return { ...none, ...token };
}

function renderToken(token: Token, now: Instant) {
  const { id, scope, subject, name, maker, createdAt, usedAt, expiresAt, revokedAt } = token;
  const state = revokedAt ? "revoked" : isTokenUsable(token, now) ? "good" : "expired";
  const until = expiresAt ? ` until ${expiresAt}` : "";
  const facts = [
    ...(name === undefined ? [] : [`"${oneLine(name)}"`]),
    `made ${maker === undefined ? "" : `by ${oneLine(maker)} `}${createdAt}`,
    usedAt === undefined ? "never used" : `used ${usedAt}`,
  ];
  return `${id.slice(0, SHOWN_ID_CHARS)}  ${scope.padEnd(5)}  ${state}${until}  ${oneLine(subject)}  ${facts.join(", ")}\n`;
}
