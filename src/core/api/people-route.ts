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
    summary: "The owner and the scopes of this token",
    reply: meReply,
  }),
  redeemLogin: route("POST", "/login", {
    may: "no_token",
    summary: "Exchange a login code for a token",
    body: z.object({ code: z.string().min(1).max(200) }),
    reply: issuedReply,
  }),
  issueToken: route("POST", "/tokens", {
    may: "make_token",
    summary: "Create a token; its text is in this response only",
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
    summary: "List the tokens, without their texts",
    takes: ["by"],
    reply: tokensReply,
  }),
  revokeToken: route("DELETE", "/tokens/{id}", {
    may: "manage_tokens",
    summary: "Revoke a token",
    params: z.object({ id: z.string().regex(/^[0-9a-f]{64}$/) }),
    takes: ["id", "by"],
    reply: tokenReply,
  }),
  handOverToken: route("POST", "/tokens/{id}/hand-over", {
    may: "manage_tokens",
    summary: "Transfer a token to another person; it ends with that person",
    params: z.object({ id: z.string().regex(/^[0-9a-f]{64}$/) }),
    body: z.object({ to: Person.shape.id }),
    takes: ["id", "body.to", "by"],
    reply: tokenReply,
  }),
  listPeople: route("GET", "/people", {
    may: "see_all",
    summary: "List the people; only an admin sees their addresses",
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
    summary: "Set the absence of a person and their delegate; null ends it",
    params: z.object({ id: Person.shape.id }),
    body: z.object({ away: z.object({ until: Moment.optional(), delegate: Person.shape.id.optional() }).nullable() }),
    reply: personReply,
  }),
  setPreferences: route("PUT", "/people/{id}/preferences", {
    may: "set_preferences",
    summary: "Set where and when a person gets messages; an omitted preference is removed",
    params: z.object({ id: Person.shape.id }),
    // A field that is misspelt must not be left out silently.
    body: Preferences.strict(),
    reply: personReply,
  }),
  removePerson: route("DELETE", "/people/{id}", {
    may: "manage_people",
    summary: "Remove a person with their tokens, claims and votes; trial=true only reports what would happen",
    params: z.object({ id: Person.shape.id }),
    query: z.object({ hand_over_to: Person.shape.id.optional(), trial: z.enum(["true", "false"]).optional() }),
    reply: removalReply,
  }),
  verify: route("GET", "/verify", {
    may: "maintain",
    summary: "Compare the audit trail with all rows",
    reply: verifiedReply,
    // It reads the whole store: a second one beside the first would only slow both.
    mayRepeat: false,
    longestReplyMs: VERIFY_MS,
  }),
  findTroubles: route("GET", "/troubles", {
    may: "see_all",
    summary: "List the problems that block questions and runs",
    takes: [],
    reply: troublesReply,
  }),
  now: route("GET", "/now", {
    may: "any_token",
    summary: "The time of the store, which decides deadlines",
    reply: nowReply,
  }),
  doDue: route("POST", "/due", {
    may: "maintain",
    summary: "Run the jobs that are due",
    reply: doneCountReply,
  }),
};
