import { z } from "zod";
import type * as sdk from "@modelcontextprotocol/server";
import type { CallToolResult, InputRequiredResult, Server, ServerContext } from "@modelcontextprotocol/server";
import type { Actor } from "../../core/people/actor.ts";
import { type MeasuredLimits, isMeasured, withMeasured } from "../../core/door/measured-limits.ts";
import {
  type ClientName,
  type ClientProfile,
  type Transport,
  profileOf,
  withEnv,
} from "../../core/door/client-profile.ts";
import type { KnownClients } from "../../core/door/known-clients.ts";
import type { QuestionId, RunId } from "../../core/id.ts";
import type { Question } from "../../core/question/question.ts";
import type { Rules } from "../../core/rules.ts";
import type { AgentPresence } from "../../core/run/run.ts";
import type { Engine } from "../../engine/engine.ts";
import type { HeldStream } from "./stream-id.ts";

/** The protocol library, loaded when somebody speaks the protocol. */
export type Sdk = typeof sdk;

/** Processes that wait for answers. */
export interface Holders {
  /** The name of this one. */
  own: string;
  /** Says whether a process of this machine has ended. */
  isGone(holder: string): Promise<boolean>;
}

export interface McpDeps {
  engine: Engine;
  holders: Holders;
  rules: Rules;
  version: string;
  /** The agents' clients, as their folders know them. */
  clients: KnownClients;
  /** The measured limits of an agent on this machine, if there are any. */
  measured?: (agent: string) => MeasuredLimits | undefined;
  /** How long to hold every call that waits, if that was said: by `--hold`. */
  holdMs?: number | undefined;
  /** Reports unexpected errors; the agent sees only that one occurred. */
  onBug: (error: unknown) => void;
}

/** The other end of a connection or a request, as far as the transport knows it. */
export interface McpCaller {
  transport: Transport;
  host: string;
  dir?: string;
  env: Readonly<Record<string, string | undefined>>;
  secrets: readonly string[];
  /** Keeps asks of different callers apart where nothing else names them. */
  principal: string;
  /** The owner of the caller's token, if it sent one. */
  bearer?: Actor;
  /** Called when the client lists the tools. */
  onListed?: () => void;
  /** Called when a question of this caller was stored. */
  onAsked?: (question: Question) => void;
  /** The run that the agent was started for, as its starter said. */
  runId?: RunId;
  /** The session of the connection, for clients that name none. */
  session?: string;
  /** The process that is there as long as the client's session, where one is known. */
  seen?: AgentPresence;
  /** How the client named itself, where the connection has forgotten it. */
  client?: ClientName;
  /** The person who answers a form at the client; undefined for calls with a run or an agent's token. */
  person?: Actor;
  /** Finds the live run whose agent started this client, however well the client hides that. */
  findRunAbove?(): Promise<RunId | undefined>;
  /** Finds a live run whose agent may have started this client without being seen. */
  findHiddenRun?(): Promise<RunId | undefined>;
  /** Whether a person is said to sit at the client. It decides whether a form is shown and proves nothing. */
  isAttended?: boolean;
  /** Aborts when the caller has left or is to be let go, where that is not known by the protocol library alone. */
  signal?: AbortSignal;
  /** Receives the stream of a held call, if its client can come back for the reply by another connection. */
  announce?(stream: Omit<HeldStream, "protocol">): void;
  /** Takes a question for this call alone; false where another call that is under way here has it. */
  claim(requestId: string | number, id: QuestionId): boolean;
  /** Lets go of what a call took, where its end is not seen otherwise. */
  release?(requestId: string | number): void;
  /** Does something once the reply to this request is out. */
  afterReply(requestId: string | number, done: () => Promise<void>): void;
  /** Receives every call, so that the process does not end before its commits. */
  track(work: Promise<unknown>): void;
}

/** A task handle in place of a result, for clients that declared the extension on that very request. */
export type TaskHandle = CallToolResult & { resultType: "task" };
export type ToolResult = CallToolResult | InputRequiredResult | TaskHandle;

/** One call of a tool. */
export interface ToolCall {
  sdk: Sdk;
  deps: McpDeps;
  caller: McpCaller;
  context: ServerContext;
  /** How the client names itself. */
  client: ClientName | undefined;
  profile: ClientProfile;
  declared: Declared;
  signal: AbortSignal;
  input: unknown;
}

/** The capabilities that the client declares for this request. */
export interface Declared {
  /** Requests of this era cannot be sent to the client; it is asked by a result instead. */
  era: "legacy" | "modern";
  tasks: boolean;
  form: boolean;
}

const LONGEST_NAME = 200;

export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

const Capabilities = z.object({
  extensions: z.record(z.string(), z.unknown()).optional(),
  elicitation: z.record(z.string(), z.unknown()).optional(),
});
const Envelope = z.object({
  "io.modelcontextprotocol/clientCapabilities": Capabilities.optional(),
  "io.modelcontextprotocol/clientInfo": z.object({ name: z.string(), version: z.string() }).optional(),
});

/** Reads what the client of this request declared. A bare `elicitation: {}` means forms. */
export function declaredBy(server: Server, context: ServerContext): Declared {
  const modern = Envelope.safeParse(context.mcpReq.envelope);
  const isModern = context.mcpReq.envelope !== undefined;
  const said = isModern
    ? (modern.data?.["io.modelcontextprotocol/clientCapabilities"] ?? {})
    : (Capabilities.safeParse(server.getClientCapabilities() ?? {}).data ?? {});
  const forms = said.elicitation;
  return {
    era: isModern ? "modern" : "legacy",
    tasks: isModern && said.extensions?.[TASKS_EXTENSION] !== undefined,
    form: forms !== undefined && (Object.keys(forms).length === 0 || forms["form"] !== undefined),
  };
}

/** How the client that sent this request names itself. */
export function clientOf(server: Server, caller: McpCaller, context: ServerContext): ClientName | undefined {
  const said = Envelope.safeParse(context.mcpReq.envelope).data?.["io.modelcontextprotocol/clientInfo"];
  return said ?? caller.client ?? server.getClientVersion();
}

/** The profile of a client, with the limits measured for this very version. */
export function profileFor(
  client: ClientName | undefined,
  { caller, deps }: { caller: McpCaller; deps: McpDeps },
): ClientProfile {
  const profile = profileOf(client, deps.clients.profiles);
  const measured = caller.transport === "stdio" ? deps.measured?.(profile.agent) : undefined;
  const isSame = client !== undefined && measured !== undefined && isMeasured(measured, client);
  return withEnv(withMeasured(profile, isSame ? measured : undefined), caller.env);
}

/** A string in the `_meta` of a request. */
export function metaText(context: ServerContext, name: string | undefined): string | undefined {
  const { _meta: meta } = context.mcpReq;
  const value: unknown = name === undefined ? undefined : meta?.[name];
  return typeof value === "string" && value !== "" && value.length <= LONGEST_NAME ? value : undefined;
}

/** The token under which to report progress, for clients that ask for it. */
export function progressToken({ mcpReq: { _meta: meta } }: ServerContext): string | number | undefined {
  return meta?.progressToken;
}
