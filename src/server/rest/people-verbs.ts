import type { PEOPLE_ROUTES } from "../../core/api/people-route.ts";
import type { Handlers, WrittenVerb } from "./call.ts";

/** Tokens, people and the server itself: the verbs that are not derived from the table. */
export const PEOPLE_VERBS: Handlers<Exclude<WrittenVerb<keyof typeof PEOPLE_ROUTES>, "redeemLogin">> = {
  authenticate: async ({ bearer, token }) => ({ actor: bearer, token }),
  issueToken: ({ engine, by }, { body: { scope, subject, run_id, on_behalf, grants, name, expires_at } }) =>
    engine.issueToken(
      {
        scope,
        subject,
        runId: run_id,
        onBehalf: on_behalf,
        grants,
        name,
        expiresAt: expires_at,
      },
      by,
    ),
  removePerson: ({ engine, by }, { params, query }) =>
    engine.removePerson(params.id, { handOverTo: query.hand_over_to, isTrial: query.trial === "true" }, by),
  putPerson: ({ engine, by }, { params, body }) => engine.putPerson({ ...body, id: params.id, version: 0 }, by),
  verify: async ({ engine }) => {
    const { runs, events, seals, problems } = await engine.verify();
    return { runs, events, seals, problems };
  },
  now: async ({ engine }) => ({ now: await engine.now() }),
  doDue: async ({ engine }) => ({ done: await engine.doDue() }),
};
