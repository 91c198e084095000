import { join } from "node:path";
import { z } from "zod";
import { SECOND_MS } from "../../core/instant.ts";
import { type Agent, type Start, type Task, messageOf } from "../agent.ts";
import { readCodexApp } from "./app-server-output.ts";
import { codex, serverConfig, takeApart } from "./codex.ts";
import { readJsonLine } from "../json.ts";
import { type Piece, findOption, writePieces } from "../options.ts";
import { SERVER, startWithServer } from "../mcp-config.ts";
import { isOlder } from "../version.ts";

const PLAN_FILE = "codex-app.json";
/** The first version whose app-server was seen to ask its client, and go on with what it is told. */
const OLDEST = [0, 166, 0] as const;
/** Lets the model ask outside of its plan mode too, without a complaint that this is new. */
const ASKS = ["--enable", "default_mode_request_user_input", "--config", "suppress_unstable_features_warning=true"];
const BYPASS = "--dangerously-bypass-approvals-and-sandbox";

/** Options that the app-server takes unchanged, options that become fields of the thread, and options of `codex exec` output. */
const PASSED = new Set(["--config", "--enable", "--disable", "--strict-config"]);
const FIELDS: Readonly<Record<string, string>> = {
  "--model": "model",
  "--sandbox": "sandbox",
  "--ask-for-approval": "approvalPolicy",
  "--cd": "cwd",
};
const DROPPED = new Set(["--json", "--skip-git-repo-check", "--color"]);

/** The plan of the bridge: the server to start, the thread to begin or resume, and the command to fall back to. */
export const CodexPlan = z.object({
  server: z.array(z.string()).min(1),
  thread: z.record(z.string(), z.string()),
  session: z.string().optional(),
  fallback: z.array(z.string()).min(1),
});
export type CodexPlan = z.infer<typeof CodexPlan>;

/** Codex as a server with us as its client, so that its own question tool and its approvals ask people. */
export const codexApp: Agent = {
  ...codex,
  name: "codex-app",
  start: (task) => build(task, codex.start(task), undefined),
  resume: (task, how) => ({ ...build(task, codex.resume(task, how), task.session), stdin: messageOf(how) }),
  read: (line) => readJsonLine(line, readCodexApp),
};

function build(task: Task, exec: Start, session: string | undefined): Start {
  const { before, options, words } = takeApart(task.args);
  const given = [...before, ...options];
  // A thread that was resumed by the user's own command goes on like every other.
  const [verb, named, ...more] = words;
  const resumed = session ?? (verb === "resume" ? named : undefined);
  const isExecs = session === undefined && (task.prompt === undefined || more.length > 0 || (verb && !resumed));
  const why = isExecs ? "only exec knows what it is told to do" : whyExec(task, given);
  if (why !== undefined) return { ...exec, added: [...exec.added, `exec in place of the app-server: ${why}`] };
  const own = writePieces(given.filter((piece) => piece.kind === "option" && PASSED.has(piece.name)));
  const plan: CodexPlan = {
    server: [task.program, "app-server", ...own, ...ASKS, "--config", serverConfig(task)],
    thread: { cwd: task.dir, ...threadOf(given) },
    session: resumed,
    fallback: [...exec.argv],
  };
  const common = startWithServer(task);
  const hold = `${Math.ceil(task.liveWindowMs / SECOND_MS)}s`;
  return {
    argv: [...task.askd, "bridge", "codex", "--hold", hold, "--plan", join(task.startDir, PLAN_FILE)],
    env: common.env,
    files: [...common.files, { name: PLAN_FILE, text: JSON.stringify(plan) }],
    stdin: task.prompt,
    session,
    prints: exec.prints,
    added: [
      "the app-server in place of exec, so that its own questions and approvals come here",
      `the tools of ${SERVER}`,
    ],
  };
}

/** Why the app-server cannot do what this command line wants; nothing when it can. */
function whyExec(task: Task, given: readonly Piece[]): string | undefined {
  if (isOlder(task.version, OLDEST)) return `Codex ${task.version} is older than ${OLDEST.join(".")}`;
  const known = (name: string): boolean => PASSED.has(name) || DROPPED.has(name) || name in FIELDS || name === BYPASS;
  const unknown = given.find((piece) => piece.kind === "option" && !known(piece.name));
  return unknown?.kind === "option" ? `only exec knows ${unknown.name}` : undefined;
}

function threadOf(given: readonly Piece[]): Record<string, string> {
  const isBypassed = findOption(given, BYPASS) !== undefined;
  const named = Object.entries(FIELDS).flatMap(([option, field]): Array<[string, string]> => {
    const value = findOption(given, option);
    return value === undefined ? [] : [[field, value]];
  });
  return {
    ...Object.fromEntries(named),
    ...(isBypassed && { approvalPolicy: "never", sandbox: "danger-full-access" }),
  };
}
