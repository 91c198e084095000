import { hostname } from "node:os";
import { AGENTS } from "../../src/agents/agents.ts";
import { knownClients } from "../../src/agents/registry.ts";
import { processHolder } from "../../src/agents/process/process-holder.ts";
import { openEngine } from "../../src/app.ts";
import { createApp } from "../../src/server/app.ts";
import { loopbackDoors } from "../../src/server/guard.ts";
import { listen } from "../../src/server/server.ts";
import { mcpPart } from "../../src/server/mcp/http.ts";
import { ROOMY } from "../scene.ts";

// A server of its own on a store that others use too; says where it listens.
const [file = "", wanted = "0"] = process.argv.slice(2);
const RETRY_MS = 100;
const engine = await openEngine({ store: { kind: "sqlite", file }, rules: ROOMY });
const onBug = (error: unknown): void => console.error(error);
const part = mcpPart({
  engine,
  holders: await processHolder(),
  rules: ROOMY,
  version: "0.0.0",
  host: hostname(),
  clients: knownClients(AGENTS),
  retryMs: RETRY_MS,
  onBug,
});
let port = 0;
const listening = await listen(createApp({ engine, doors: () => loopbackDoors(port), onBug }, [part]), Number(wanted));
port = listening.port;
console.log(String(port));
