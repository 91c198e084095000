import { type Context, Hono } from "hono";
import { type Actor, agentActor } from "../../core/people/actor.ts";
import type { QuestionSnapshot } from "../../core/changes.ts";
import { linkPath } from "../../core/question/link.ts";
import { isPending } from "../../core/question/question.ts";
import { Refusal } from "../../core/refusal.ts";
import type { Rules } from "../../core/rules.ts";
import { LINK_CHANNEL, type Token } from "../../core/people/token.ts";
import type { Engine } from "../../engine/engine.ts";
import { type FormDraft, EMPTY_DRAFT } from "../../web/parts/form-draft.ts";
import { BadLink, LinkPage, type LinkView } from "../../web/pages/link.tsx";
import { PlainPage } from "../../web/pages/plain-page.tsx";
import { parseKeymap } from "../../web/parts/keymap.ts";
import type { PageReader } from "../../web/parts/page-reader.ts";
import { refusalWords } from "../../web/words/refusal-words.ts";
import { say } from "../../web/words/words.ts";
import type { RouteGroup } from "../app.ts";
import type { CallerRuns } from "../caller-run.ts";
import { RequestLimit } from "../rest/request-limit.ts";
import { readAnswerForm, draftFromVote, draftFromAddress, writtenText } from "./form/answer-form.ts";
import { ASSETS } from "./assets.ts";
import { readDraft } from "./form/read-draft.ts";
import { sendPlainPage } from "./send-page.tsx";
import { languageOf } from "./read/read-reader.ts";

/** Limits per minute: requests to one link, and requests to invalid links from one address. */
const MOST_PER_LINK = 30;
const MOST_WRONG = 120;
/** Form encoding takes up to three bytes for one. */
const FORM_BYTES_PER_BYTE = 3;
const FORM_BYTES_BESIDE = 16 * 1024;
const SHAPE = /^askd_l_[\w-]{27}$/;

interface LinkDeps {
  engine: Engine;
  rules: Rules;
  /** Monotonic clock, for limits. */
  nowMs: () => number;
  callers: CallerRuns;
}

/** A person who came by a link, and the question of the link. */
interface LinkVisitor {
  text: string;
  actor: Actor;
  read: QuestionSnapshot;
}

/**
 * Routes of answer links: one person answers one question without signing in. A GET never answers, since mail
 * programs open links for previews.
 */
export function linksPart(deps: LinkDeps): RouteGroup {
  const links = new Hono();
  const limits = {
    link: new RequestLimit({ perMinute: MOST_PER_LINK, caller: "This link", nowMs: deps.nowMs }),
    wrong: new RequestLimit({ perMinute: MOST_WRONG, caller: "This address", nowMs: deps.nowMs }),
  };
  const welcome = async (context: Context, serve: (guest: LinkVisitor) => Promise<Response>) => {
    context.header("X-Robots-Tag", "noindex, nofollow, noarchive");
    const guest = await findGuest(deps.engine, context.req.param("token") ?? "");
    if (guest) {
      limits.link.count(guest.token.id);
      context.set("tokenId", guest.token.id);
    } else limits.wrong.count(context.get("address"));
    if (!guest) return sendBad(context);
    return serve({ ...guest, actor: agentActor(guest.actor, await deps.callers.find(context)) });
  };
  links.get("/a/:token", (context) => welcome(context, (guest) => show(context, deps, guest)));
  links.post("/a/:token", (context) => welcome(context, (guest) => answer(context, deps, guest)));
  links.post("/a/:token/undo", (context) => welcome(context, (guest) => undo(context, deps, guest)));
  return { path: "/", links };
}

async function findGuest(engine: Engine, text: string): Promise<(LinkVisitor & { token: Token }) | undefined> {
  const found = SHAPE.test(text) ? await engine.authenticate(text, LINK_CHANNEL) : undefined;
  if (!found?.token.questionId) return undefined;
  return { text, ...found, read: await engine.read(found.token.questionId) };
}

async function show(context: Context, deps: LinkDeps, guest: LinkVisitor) {
  const voted = draftFromVote(guest.read, guest.actor.id);
  const draft = voted.size > 0 ? voted : draftFromAddress(guest.read, context.req.query("choose") ?? "");
  return send(context, deps, guest, { draft });
}

async function answer(context: Context, deps: LinkDeps, guest: LinkVisitor) {
  const { read, actor, text } = guest;
  const draft = withoutForce(
    await readDraft(context, deps.rules.limits.answerBytes * FORM_BYTES_PER_BYTE + FORM_BYTES_BESIDE),
  );
  const input = readAnswerForm(read.content, draft);
  if (!input) return send(context, deps, guest, { problem: say(languageOf(context), "answer.none"), draft }, 422);
  try {
    await deps.engine.answer(read.question.id, { ...input, undoMs: deps.rules.undoMs.web }, actor);
    return context.redirect(linkPath(text), 303);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const now = await deps.engine.read(read.question.id);
    const written = writtenText(now.content, draft);
    const isLost = !isPending(now.question) || now.question.settling !== undefined;
    const more = isLost
      ? { lost: written || undefined }
      : { problem: refusalWords({ language: languageOf(context) }, error) };
    return send(context, deps, { ...guest, read: now }, { ...more, draft }, error.httpStatus);
  }
}

/** Undoes this person's own answer, never another person's. */
async function undo(context: Context, { engine }: LinkDeps, { read, actor, text }: LinkVisitor) {
  const { question } = read;
  const isOwn = isPending(question) && question.settling?.answer.by.id === actor.id;
  if (isOwn) {
    await engine.undo(question.id, actor).catch((error: unknown) => {
      // Too late to undo: the page shows the current state.
      if (!(error instanceof Refusal)) throw error;
    });
  }
  return context.redirect(linkPath(text), 303);
}

/** A link ends with its question, so it cannot answer after the deadline. */
function withoutForce(draft: FormDraft): FormDraft {
  return new Map([...draft].filter(([name]) => name !== "force"));
}

async function send(
  context: Context,
  { engine }: LinkDeps,
  { text, actor, read }: LinkVisitor,
  more: Partial<Pick<LinkView, "draft" | "problem" | "lost">>,
  status = 200,
) {
  const language = languageOf(context);
  const reader: PageReader = {
    id: actor.id,
    scope: actor.scope,
    groups: [],
    language,
    zone: undefined,
    now: await engine.now(),
    hasKeys: false,
    csrf: "",
    theme: "auto",
    keymap: parseKeymap(""),
  };
  return sendPlainPage(
    context,
    <PlainPage frame={{ language, assets: ASSETS, title: read.question.title, isWide: true }}>
      <LinkPage view={{ reader, read, path: linkPath(text), draft: EMPTY_DRAFT, ...more }} />
    </PlainPage>,
    status,
  );
}

function sendBad(context: Context) {
  const language = languageOf(context);
  return sendPlainPage(
    context,
    <PlainPage frame={{ language, assets: ASSETS, title: say(language, "link.bad") }}>
      <BadLink language={language} />
    </PlainPage>,
    404,
  );
}
