import { signInPath } from "../core/people/sign-in-link.ts";
import type { Engine } from "../engine/engine.ts";
import { whoManages } from "./actor.ts";
import type { Context } from "./context.ts";

/** Prints a link that signs the user of this store in, once. Other users can read what a browser is started with. */
export async function saySignIn(server: string, next: string, engine: Engine, context: Context): Promise<void> {
  if (context.isQuiet || !context.stderr.isTty || context.place.store.kind === "server") return;
  const by = await whoManages(engine, context);
  if (by.scope === "agent") return;
  const { text } = await engine.issueToken({ scope: "login", subject: by.id }, by);
  context.stderr.write(
    `To sign in there, open this link once: ${server}${signInPath({ code: text, person: by.id, next })}\n`,
  );
}
