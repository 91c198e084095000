import type { PEOPLE_ROUTES } from "../../core/api/people-route.ts";
import type { Handlers } from "./call.ts";

/** Tokens, people and the server itself, each by its engine's verb. */
export const PEOPLE_VERBS: Handlers<Exclude<keyof typeof PEOPLE_ROUTES, "redeemLogin">> = {
  authenticate: async ({ bearer, token }) => ({ actor: bearer, token }),
  issueToken: ({ engine, by }, { body: { scope, subject, run_id, on_behalf, grants, name, expires_at } }) =>
    engine.issueToken(
      {
        ...{ scope, subject },
        ...(run_id && { runId: run_id }),
        ...(on_behalf !== undefined && { onBehalf: on_behalf }),
        ...(grants && { grants }),
        ...(name !== undefined && { name }),
        ...(expires_at && { expiresAt: expires_at }),
      },
      by,
    ),
  listTokens: ({ engine, by }) => engine.listTokens(by),
  revokeToken: ({ engine, by }, { params }) => engine.revokeToken(params.id, by),
  handOverToken: ({ engine, by }, { params, body }) => engine.handOverToken(params.id, body.to, by),
  removePerson: ({ engine, by }, { params, query }) =>
    engine.removePerson(params.id, { handOverTo: query.hand_over_to, isTrial: query.trial === "true" }, by),
  listPeople: ({ engine }) => engine.listPeople(),
  putPerson: ({ engine, by }, { params, body }) => engine.putPerson({ ...body, id: params.id, version: 0 }, by),
  verify: async ({ engine }) => {
    const { runs, events, seals, problems } = await engine.verify();
    return { runs, events, seals, problems };
  },
  findTroubles: ({ engine }) => engine.findTroubles(),
  now: async ({ engine }) => ({ now: await engine.now() }),
  doDue: async ({ engine }) => ({ done: await engine.doDue() }),
};
