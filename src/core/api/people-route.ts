import { z } from "zod";
import { RunId } from "../id.ts";
import { SECOND_MS } from "../instant.ts";
import { PersonName } from "../question/link.ts";
import { Person, Preferences } from "../people/person.ts";
import { CodeGrant, IssuedScope, TokenName } from "../people/token.ts";
import {
  doneCountReply,
  issuedReply,
  meReply,
  nowReply,
  peopleReply,
  personReply,
  removalReply,
  tokenReply,
  tokensReply,
  troublesReply,
  verifiedReply,
} from "./reply.ts";
import { Moment, route } from "./route.ts";

/** Node's fetch gives a reply up by itself after 5 minutes. */
const VERIFY_MS = 290 * SECOND_MS;

/** Tokens, people and the server itself. */
export const PEOPLE_ROUTES = {
  authenticate: route("GET", "/me", {
    may: "any_token",
    summary: "Who bears this token",
    reply: meReply,
  }),
  redeemLogin: route("POST", "/login", {
    may: "no_token",
    summary: "Trade a login code for a token",
    body: z.object({ code: z.string().min(1).max(200) }),
    reply: issuedReply,
  }),
  issueToken: route("POST", "/tokens", {
    may: "make_token",
    summary: "Make a token; its text is shown this once",
    // A field that is misspelt, such as its end, must not be left out silently.
    body: z.strictObject({
      scope: IssuedScope,
      subject: PersonName,
      run_id: RunId.optional(),
      on_behalf: z.boolean().optional(),
      grants: CodeGrant.optional(),
      name: TokenName.optional(),
      expires_at: z
        .union([z.literal("never"), Moment])
        .optional()
        .describe('When it ends; "never" for no end. Without one it ends 90 days after it was last used.'),
    }),
    reply: issuedReply,
  }),
  listTokens: route("GET", "/tokens", {
    may: "manage_tokens",
    summary: "All tokens, without their texts",
    takes: ["by"],
    reply: tokensReply,
  }),
  revokeToken: route("DELETE", "/tokens/{id}", {
    may: "manage_tokens",
    summary: "Make a token worthless",
    params: z.object({ id: z.string().regex(/^[0-9a-f]{64}$/) }),
    takes: ["id", "by"],
    reply: tokenReply,
  }),
  handOverToken: route("POST", "/tokens/{id}/hand-over", {
    may: "manage_tokens",
    summary: "Give a token to another person, with whom it ends from then on",
    params: z.object({ id: z.string().regex(/^[0-9a-f]{64}$/) }),
    body: z.object({ to: Person.shape.id }),
    takes: ["id", "body.to", "by"],
    reply: tokenReply,
  }),
  listPeople: route("GET", "/people", {
    may: "see_all",
    summary: "Everybody who answers; their addresses only for an admin",
    takes: [],
    reply: peopleReply,
  }),
  putPerson: route("PUT", "/people/{id}", {
    may: "manage_people",
    summary: "Add or change a person",
    params: z.object({ id: Person.shape.id }),
    body: Person.omit({ id: true, version: true, removed: true }).extend({ groups: Person.shape.groups.default([]) }),
    reply: personReply,
  }),
  setAway: route("PUT", "/people/{id}/away", {
    may: "set_away",
    summary: "Say that a person is away, until when and who gets their questions too; null when they are back",
    params: z.object({ id: Person.shape.id }),
    body: z.object({ away: z.object({ until: Moment.optional(), delegate: Person.shape.id.optional() }).nullable() }),
    reply: personReply,
  }),
  setPreferences: route("PUT", "/people/{id}/preferences", {
    may: "set_preferences",
    summary: "Say where, when and how a person wants to be told; what is left out is no longer preferred",
    params: z.object({ id: Person.shape.id }),
    // A field that is misspelt must not be left out silently.
    body: Preferences.strict(),
    reply: personReply,
  }),
  removePerson: route("DELETE", "/people/{id}", {
    may: "manage_people",
    summary: "Remove a person with all that they hold; with trial=true only say what would happen",
    params: z.object({ id: Person.shape.id }),
    query: z.object({ hand_over_to: Person.shape.id.optional(), trial: z.enum(["true", "false"]).optional() }),
    reply: removalReply,
  }),
  verify: route("GET", "/verify", {
    may: "maintain",
    summary: "Compare the whole trail with the state",
    reply: verifiedReply,
    // It reads the whole store: a second one beside the first would only slow both.
    mayRepeat: false,
    longestReplyMs: VERIFY_MS,
  }),
  findTroubles: route("GET", "/troubles", {
    may: "see_all",
    summary: "What keeps questions and runs from going on",
    takes: [],
    reply: troublesReply,
  }),
  now: route("GET", "/now", {
    may: "any_token",
    summary: "The time that decides deadlines",
    reply: nowReply,
  }),
  doDue: route("POST", "/due", {
    may: "maintain",
    summary: "Do what has fallen due",
    reply: doneCountReply,
  }),
};
