import { Hono } from "hono";
import { AGENTS } from "../../src/agents/agents.ts";
import { knownClients } from "../../src/agents/registry.ts";
import { processHolder } from "../../src/agents/process/process-holder.ts";
import { engineOn } from "../../src/app.ts";
import { type Actor, SYSTEM } from "../../src/core/people/actor.ts";
import { instant } from "../../src/core/instant.ts";
import { createApp } from "../../src/server/app.ts";
import type { SignedIn } from "../../src/server/credential.ts";
import { loopbackDoors } from "../../src/server/guard.ts";
import { listen } from "../../src/server/server.ts";
import { mcpPart } from "../../src/server/mcp/http.ts";
import { MemoryStore } from "../memory-store/memory.ts";
import { ROOMY } from "../scene.ts";

/** Our server as it is, but for the credential, which the suite has no way to send. */
export async function serveForSuite(): Promise<{ url: string; close(): Promise<void> }> {
  const engine = engineOn(new MemoryStore(() => instant(Date.now())), { rules: ROOMY });
  const { token } = await engine.issueToken({ scope: "agent", subject: "suite" }, SYSTEM);
  const actor: Actor = { scope: "agent", id: "suite", channel: "mcp", strength: "none" };
  const onBug = (error: unknown): void => console.error("bug:", error);
  const part = mcpPart({
    engine,
    holders: await processHolder(),
    rules: { ...ROOMY, liveWindowMs: 1_000 },
    version: "0.0.0",
    host: "here",
    clients: knownClients(AGENTS),
    onBug,
  });
  const open = new Hono<SignedIn>();
  open.use(async (context, next) => {
    context.set("actor", actor);
    context.set("token", token);
    await next();
  });
  if (part.signed) open.route("/", part.signed);
  let port = 0;
  // The context that the middleware fills is the one that the part reads; only the type of the app hides it.
  const app = createApp({ engine, doors: () => loopbackDoors(port), onBug }, [
    { path: part.path, public: open as unknown as Hono },
  ]);
  const listening = await listen(app, 0);
  port = listening.port;
  return {
    url: `http://127.0.0.1:${port}${part.path}`,
    close: async () => {
      await part.close();
      await listening.close();
      await engine.stop();
    },
  };
}
