import { Refusal } from "../../../core/refusal.ts";
import { EXIT_CODE } from "../../../core/exit-code.ts";
import { whoManages } from "../../actor.ts";
import { unknownVerb } from "../../arguments.ts";
import { requireMaintainer } from "../store/direct-store.ts";
import { findWorkerPid } from "./worker.ts";
import { findRunningServer, startServer, waitForServer, stopProcess, findServerPid } from "./serve.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import type { Flags } from "../../flags.ts";
import { printResult } from "../../output.ts";
import { oneLine } from "../../view/sanitise.ts";
import { type Service, findService, getService, serviceText } from "./service-file.ts";

const FIELDS = ["url", "pid", "worker_pid", "is_installed", "file"];
/** The message of systemctl without a user manager, as in a container. */
const NO_MANAGER = /connect to .*bus|not been booted with systemd|No medium found/i;

const flags = {
  print: { type: "boolean", about: "install: show the file, write nothing" },
} as const satisfies Flags;

export const command: Command<typeof flags> = {
  usage: "service start|stop|status|install|uninstall",
  isLooking: ({ positionals: [what], flags: { print } }) => what === "status" || (print ?? false),
  flags,
  fields: FIELDS,
  isForAllProjects: true,
  examples: [
    "askd service start      server and worker, in the background",
    "askd service stop       questions are kept, agents continue",
    "askd service install    askd starts when you log in",
  ],
  async run(args, context) {
    const [what = "", ...rest] = args.positionals;
    const verb = Object.hasOwn(VERBS, what) && rest.length === 0 ? VERBS[what] : undefined;
    if (!verb) throw unknownVerb(args.positionals, command.usage);
    requireHere(context);
    if (context.json && what !== "start" && what !== "status") {
      throw new Refusal("bad_input", `askd service ${what} has no JSON output`);
    }
    if (what !== "status" && !args.flags.print) await requireMaintainer(context, { isStarting: what === "start" });
    return verb(context, args.flags.print ?? false);
  },
};

type Verb = (context: Context, onlyPrint: boolean) => Promise<number>;

const VERBS: Readonly<Record<string, Verb>> = { start, stop, status, install, uninstall };

function requireHere({ place }: Context) {
  if (place.store.kind !== "server") return;
  throw new Refusal("bad_input", `${place.store.source} names a server; a service runs on this machine`, {
    hint: "Name the store with --store",
  });
}

async function start(context: Context) {
  const before = await findRunningServer(context);
  const service = before === undefined ? await findInstalled(context) : undefined;
  const isManaged = service !== undefined && (await tell(service.start, context));
  const url = before ?? (isManaged ? await getManaged(service, context) : await startServer(context));
  const pid = await findServerPid(context);
  printState(context, { url, pid, ...(await around(context)) });
  const process = pid === undefined ? "" : ` (process ${pid})`;
  if (before !== undefined) say(context, `Already running${process}.`);
  else if (isManaged)
    say(context, `✓ Started by ${service.manager}${process}. Stop it: ${context.program} service stop`);
  else say(context, `✓ Started in the background${process}. Stop it: ${context.program} service stop`);
  return 0;
}

/** The address of the server that the service manager started. */
async function getManaged({ manager, start: argvs }: Service, context: Context) {
  const url = await waitForServer(context);
  if (url !== undefined) return url;
  const why = manager === "systemd" ? "journalctl --user -u askd" : `${context.program} serve`;
  throw new Refusal("store_unreachable", `${sayArgvs(argvs)} started it, but it does not respond`, {
    hint: `See why: ${why}`,
  });
}

async function stop(context: Context) {
  const server = await findServerPid(context);
  const worker = await findWorkerPid(context);
  const service = await findInstalled(context);
  if (service) await tell(service.stop, context);
  const pids = [server, worker].flatMap((pid) => (pid === undefined ? [] : [pid]));
  for (const pid of pids) await stopProcess(pid, context);
  if (pids.length === 0) {
    say(context, "Nothing was running.");
    return 0;
  }
  const what = [...(server === undefined ? [] : ["server"]), ...(worker === undefined ? [] : ["worker"])].join(" and ");
  say(context, `✓ Stopped the ${what} (process ${pids.join(", ")}). Questions are kept; agents continue.`);
  await record(pids, context);
  return 0;
}

/** Writes into the trail who stopped what. A store that is away keeps nobody from stopping. */
async function record(processes: readonly number[], context: Context) {
  try {
    const engine = await context.engine({ isReading: true });
    await engine.recordServiceStop?.({ host: await context.host(), processes }, await whoManages(engine, context));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    context.stderr.write(`The trail does not say so: ${oneLine(error.message)}\n`);
  }
}

/** Prints the state of the server and of the worker. */
async function status(context: Context) {
  const url = await findRunningServer(context);
  const state = { url, pid: url === undefined ? undefined : await findServerPid(context), ...(await around(context)) };
  if (url === undefined && !context.json) {
    const worker = state.workerPid === undefined ? "" : `, but a worker is (process ${state.workerPid})`;
    throw new Refusal("store_unreachable", `No server is running${worker}`, { hint: "Start it: askd service start" });
  }
  printState(context, state);
  const process = state.pid === undefined ? "" : `process ${state.pid}; `;
  say(
    context,
    state.isInstalled
      ? `${process}starts when you log in`
      : `${process}does not start at login: ${context.program} service install`,
  );
  return url === undefined ? EXIT_CODE.unreachable : 0;
}

async function install(context: Context, onlyPrint: boolean) {
  const service = getService(context);
  const text = serviceText(context);
  if (onlyPrint) {
    context.stdout.write(text);
    return 0;
  }
  await context.writeFile(service.path, text);
  context.stdout.write(`${service.path}\n`);
  const isTold = await tell(service.enable, context);
  if (isTold) say(context, `✓ askd will start when you log in. Start it now: ${context.program} service start`);
  else say(context, `The file is written. Enable it in ${service.manager}: ${sayArgvs(service.enable)}`);
  return 0;
}

async function uninstall(context: Context) {
  const service = getService(context);
  if (!(await findInstalled(context))) {
    throw new Refusal("not_found", `There is no service at ${service.path}`, { hint: "Nothing to do" });
  }
  const isTold = await tell(service.disable, context);
  await context.removeFile(service.path);
  const more = isTold ? "" : ` Stop the running server: ${context.program} service stop`;
  say(context, `✓ Removed ${service.path}.${more}`);
  return 0;
}

async function findInstalled(context: Context): Promise<Service | undefined> {
  const service = findService(context);
  const text = service && (await context.readFile(service.path).catch(() => undefined)); // it was not installed
  return text === undefined ? undefined : service;
}

/** Runs the commands of the service manager; false if there is none. */
async function tell(argvs: ReadonlyArray<readonly string[]>, context: Context) {
  for (const argv of argvs) {
    const lines: string[] = [];
    const ended = await context
      .runChild({ argv, stdio: "pipe", onLine: (line) => lines.push(line) })
      .catch(() => undefined); // the program does not exist here
    const said = oneLine(lines.join(" "));
    if (ended === undefined || (ended.exitCode !== 0 && NO_MANAGER.test(said))) return false;
    if (ended.exitCode === 0) continue;
    throw new Refusal("store_unreachable", `${argv.join(" ")} failed (${ended.exitCode})${said ? `: ${said}` : ""}`, {
      hint: "Start it without the service manager: askd serve",
    });
  }
  return true;
}

interface State {
  url: string | undefined;
  pid: number | undefined;
  workerPid: number | undefined;
  isInstalled: boolean;
  file: string | undefined;
}

async function around(context: Context): Promise<Pick<State, "workerPid" | "isInstalled" | "file">> {
  return {
    workerPid: await findWorkerPid(context),
    isInstalled: (await findInstalled(context)) !== undefined,
    file: findService(context)?.path,
  };
}

function printState(context: Context, state: State) {
  printResult(context, FIELDS, {
    page: () => (state.url === undefined ? "" : `${state.url}\n`),
    json: () => ({
      url: state.url ?? null,
      pid: state.pid ?? null,
      worker_pid: state.workerPid ?? null,
      is_installed: state.isInstalled,
      file: state.file ?? null,
    }),
  });
}

function sayArgvs(argvs: ReadonlyArray<readonly string[]>) {
  return argvs.map((argv) => argv.join(" ")).join(" && ");
}

function say(context: Context, line: string) {
  if (!context.isQuiet) context.stderr.write(`${line}\n`);
}
