import { redact } from "../core/secret/redact.ts";
import { secretsIn } from "../core/secret/secret-env.ts";
import type { ClientSurroundings, Client } from "../agents/wiring.ts";
import type { Findings } from "../setup/inspect.ts";
import { TOOLS } from "../agents/mcp-config.ts";
import type { Finding } from "./finding.ts";
import type { ServerStart, Handshake } from "./mcp-handshake.ts";
import { findOldNode, LEAST_NODE } from "./node-version.ts";
import { askServer } from "./server-answer.ts";

interface ServerCheck {
  around: ClientSurroundings;
  version: string;
  greet(start: ServerStart): Promise<Handshake>;
  repair(): Promise<void>;
}

/** Whether the server that a client's settings name is there, starts, speaks MCP and offers our tools. */
export async function checkClientServer(client: Client, seen: Findings, at: ServerCheck): Promise<Finding[]> {
  const about = { area: "agents", subject: client.name } as const;
  if (seen.serverUrl !== undefined) return checkAddress(seen.serverUrl, about);
  if (seen.serverCommand === undefined) return [];
  if (!seen.serverExists) {
    return [
      {
        ...about,
        code: "server_moved",
        level: "problem",
        text: `its settings start ${seen.serverCommand.join(" ")}, which is not there`,
        ...(seen.isOwnCommand ? { repair: at.repair } : { fix: `askd init --client ${client.name}` }),
      },
    ];
  }
  const start = startOf(client, seen, seen.serverCommand, at.around);
  const old = await findOldNode(start);
  if (old) {
    return [
      {
        ...about,
        code: "client_node",
        level: "problem",
        text: `its settings start askd with ${old.node} ${old.version}: askd needs ${LEAST_NODE} or newer`,
        fix: `install a newer one there, or askd init --client ${client.name} with the one you use here`,
      },
    ];
  }
  return checkStart(start, about, at);
}

async function checkStart(
  start: ServerStart,
  about: Pick<Finding, "area" | "subject">,
  { version, greet }: Pick<ServerCheck, "version" | "greet">,
): Promise<Finding[]> {
  const shaken = await greet(start);
  if (!shaken.ok) {
    const why = redact(shaken.why, secretsIn(start.env));
    const fix = `try it: ${start.argv.join(" ")}`;
    return [{ ...about, code: "server_crash", level: "problem", text: `its MCP server does not start: ${why}`, fix }];
  }
  const { tools, ms } = shaken;
  if (!tools.includes(TOOLS[0])) {
    const text = `its server ${shaken.name} offers no ${TOOLS[0]}, but: ${tools.join(", ") || "nothing"}`;
    return [{ ...about, code: "server_tools", level: "problem", text, fix: "askd mcp without --tools" }];
  }
  const ok: Finding = {
    ...about,
    code: "handshake",
    level: "ok",
    text: `mcp handshake ${Math.round(ms)} ms, ${tools.length} tools`,
  };
  if (shaken.name !== "askd" || shaken.version === version) return [ok];
  const text = `its server is askd ${shaken.version}, this is ${version}`;
  return [ok, { ...about, code: "client_version", level: "warning", text, fix: `askd init --client ${about.subject}` }];
}

/** A server that is reached by address. */
async function checkAddress(url: string, about: Pick<Finding, "area" | "subject">): Promise<Finding[]> {
  const answer = URL.canParse(url) ? await askServer(new URL(url).origin) : { is: "stranger" as const };
  if (answer.is === "askd") return [{ ...about, code: "address", level: "ok", text: `server at ${new URL(url).host}` }];
  const what = answer.is === "nobody" ? "nobody answers" : "no askd answers";
  return [
    {
      ...about,
      code: "address_wrong",
      level: "problem",
      text: `${what} at ${url}, which its settings name`,
      fix: "askd serve",
    },
  ];
}

/** As the client itself would start it; some give their servers little of what they have. */
function startOf(client: Client, seen: Findings, argv: readonly string[], around: ClientSurroundings): ServerStart {
  const names = client.inherited ?? Object.keys(around.env);
  const own = Object.fromEntries(names.map((name) => [name, around.env[name]]));
  return { argv, env: { ...own, ...seen.serverEnv }, cwd: around.dir };
}
