import { join } from "node:path";
import { z } from "zod";
import { SECOND_MS } from "../../core/instant.ts";
import type { Agent, Start, Task } from "../agent.ts";
import { OPTIONS, opencode } from "./opencode.ts";
import { type Piece, findOption, parsePieces, writePieces } from "../options.ts";
import { isOlder } from "../version.ts";

const PLAN_FILE = "opencode-serve.json";
/** The first version whose server was seen to ask its client, and go on with what it is told. */
const OLDEST = [1, 18, 33] as const;

/** Options that the server takes unchanged, options of its session, and options of `opencode run` output. */
const PASSED = new Set(["--log-level", "--print-logs", "--pure"]);
const TOLD = new Set(["--model", "--agent", "--variant", "--title", "--session"]);
const DROPPED = new Set(["--format", "--dir", "--thinking"]);

/** The plan of the bridge: the server to start, the session to begin or resume, and the command to fall back to. */
export const OpencodePlan = z.object({
  server: z.array(z.string()).min(1),
  dir: z.string(),
  session: z.string().optional(),
  title: z.string().optional(),
  /** The fields of every message to the session, besides its text. */
  message: z.object({
    model: z.object({ providerID: z.string(), modelID: z.string() }).optional(),
    agent: z.string().optional(),
    variant: z.string().optional(),
  }),
  fallback: z.array(z.string()).min(1),
});
export type OpencodePlan = z.infer<typeof OpencodePlan>;

/** OpenCode as a server with us as its client, so that its own question tool and its permissions ask people. */
export const opencodeServe: Agent = {
  ...opencode,
  name: "opencode-serve",
  start: (task) => build(task, opencode.start(task)),
  resume: (task, how) => build(task, opencode.resume(task, how)),
};

/** Puts the bridge before a start of `opencode run`, which it falls back to; its lines are the same. */
function build(task: Task, run: Start): Start {
  const given = parsePieces(run.argv.slice(2), OPTIONS); // behind the program and `run`
  const why = whyRun(task, run, given);
  if (why !== undefined) return { ...run, added: [...run.added, `opencode run in place of its server: ${why}`] };
  const hold = `${Math.ceil(task.liveWindowMs / SECOND_MS)}s`;
  return {
    ...run,
    argv: [...task.askd, "bridge", "opencode", "--hold", hold, "--plan", join(task.startDir, PLAN_FILE)],
    files: [...run.files, { name: PLAN_FILE, text: JSON.stringify(planOf(task, run, given)) }],
    added: ["opencode serve in place of run, so that its own questions and permissions come here", ...run.added],
  };
}

function planOf(task: Task, run: Start, given: readonly Piece[]): OpencodePlan {
  const passed = writePieces(given.filter((piece) => piece.kind === "option" && PASSED.has(piece.name)));
  const [session, title] = [findOption(given, "--session"), findOption(given, "--title")];
  const [model, agent, variant] = ["--model", "--agent", "--variant"].map((name) => findOption(given, name));
  const [providerID = "", ...rest] = model?.split("/") ?? [];
  return {
    server: [task.program, "serve", "--hostname", "127.0.0.1", "--port", "0", ...passed],
    dir: findOption(given, "--dir") ?? task.dir,
    ...(session && { session }),
    ...(title && { title }),
    message: {
      ...(model && { model: { providerID, modelID: rest.join("/") } }),
      ...(agent && { agent }),
      ...(variant && { variant }),
    },
    fallback: [...run.argv],
  };
}

/** Why the server cannot do what this command line wants; nothing when it can. */
function whyRun(task: Task, run: Start, given: readonly Piece[]): string | undefined {
  if (isOlder(task.version, OLDEST)) return `OpenCode ${task.version} is older than ${OLDEST.join(".")}`;
  if (run.stdin === undefined) return "it was given no prompt";
  const known = (name: string): boolean => PASSED.has(name) || TOLD.has(name) || DROPPED.has(name);
  const unknown = given.find((piece) => piece.kind === "option" && !known(piece.name));
  return unknown?.kind === "option" ? `only run knows ${unknown.name}` : undefined;
}
