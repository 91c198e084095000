import { readdir, rm, readFile, readlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { findIdentity } from "../agents/process/process-identity.ts";
import { SECOND_MS } from "../core/instant.ts";
import { findOther, findWord, replaceByOther, serverFiles } from "../server/local-token.ts";
import { readPrivate } from "../server/private-file.ts";
import type { Finding } from "./finding.ts";
import type { DoctorContext } from "./doctor-context.ts";
import { type ServerAnswer, askServer } from "./server-answer.ts";
import { compareClocks } from "./store/inspect.ts";

/** A draft left by a process that died while writing: the file's name and the pid. */
const DRAFT = /^(?:server\.json|token)\.(\d+)$/;

type ServerCheckContext = Pick<DoctorContext, "store" | "runtimeDir" | "version" | "port" | "nowMs">;

/** Checks that a server answers at its address and is askd. */
export async function checkServer(at: ServerCheckContext): Promise<Finding[]> {
  if (at.store.kind === "server") return checkRemote(at.store.url, at);
  const own = await checkOwn(at);
  const isThere = own.some(({ code }) => code === "server");
  return [...own, ...(isThere ? [] : await checkPort(at.port)), ...(await checkDrafts(at.runtimeDir))];
}

/** Checks the server that `ASKD_URL` names. */
async function checkRemote(url: string, at: ServerCheckContext): Promise<Finding[]> {
  const from = at.nowMs();
  const answer = await askServer(url);
  if (answer.is === "askd") return describeServer(answer, url, { ...at, from });
  const what = answer.is === "nobody" ? `cannot be reached (${answer.why})` : describeWrongAnswer(answer);
  const text = `${url} ${what}: nothing can be asked or answered`;
  return [{ code: "server_unreachable", area: "server", level: "problem", text, fix: "check ASKD_URL, or the server" }];
}

/** Checks this user's server at its published address. */
async function checkOwn(at: ServerCheckContext): Promise<Finding[]> {
  const file = serverFiles(at.runtimeDir).address;
  if ((await readPrivate(file)) === undefined) {
    return [{ code: "server_off", area: "server", level: "off", text: "not running; start it with askd serve" }];
  }
  const word = await findWord(at.runtimeDir);
  if (!word) return replaced(at, file, `${file} cannot be read`);
  const { pid, url } = word;
  if (!(await findIdentity(pid))) return replaced(at, file, `the server at ${url} is gone`, ", its file is not");
  const from = at.nowMs();
  const answer = await askServer(url);
  switch (answer.is) {
    case "askd":
      return describeServer(answer, url, { ...at, from });
    case "silent":
      return [
        {
          code: "server_silent",
          area: "server",
          level: "problem",
          text: `the server at ${url} (process ${pid}) does not answer`,
          fix: `kill ${pid}, then askd serve`,
        },
      ];
    default:
      return replaced(at, file, `no askd answers at ${url}`, ", where its file says it is");
  }
}

/** A record without its server: another one that answers takes its place, else the record goes. */
async function replaced(at: ServerCheckContext, file: string, what: string, alone = ""): Promise<Finding[]> {
  const other = await findOther(at.runtimeDir);
  if (!other) return [stale(file, `${what}${alone}`)];
  const text = `${what}; the one at ${other.url} answers and is not found by its file`;
  const repair = async () => void (await replaceByOther(at.runtimeDir));
  return [{ code: "stale_file", area: "server", level: "problem", text, fix: "askd doctor --fix", repair }];
}

function describeServer(
  answer: Extract<ServerAnswer, { is: "askd" }>,
  url: string,
  at: Pick<DoctorContext, "version" | "nowMs"> & { from: number },
): Finding[] {
  const text = `${new URL(url).host}, ${Math.max(1, Math.round(answer.ms))} ms`;
  const findings: Finding[] = [{ code: "server", area: "server", level: "ok", text }];
  if (answer.version !== at.version) {
    findings.push({
      code: "server_version",
      area: "server",
      level: "warning",
      text: `the server is askd ${answer.version}, this is ${at.version}`,
      fix: "end it and start it again: askd serve",
    });
  }
  // The header has a resolution of one second.
  const span = { from: at.from - SECOND_MS, to: at.nowMs() };
  if (answer.dateMs !== undefined) findings.push(...compareClocks(answer.dateMs, span, "the server"));
  return findings;
}

/** Checks that the port of a server is free. */
async function checkPort(port: number): Promise<Finding[]> {
  const answer = await askServer(`http://127.0.0.1:${port}`);
  if (answer.is === "nobody") return [];
  if (answer.is === "askd") {
    return [{ code: "server_other", area: "server", level: "off", text: `another askd listens on port ${port}` }];
  }
  const listener = await findListener(port);
  const who = listener ? `${listener.name} (process ${listener.pid})` : "another program";
  return [
    {
      code: "port_taken",
      area: "server",
      level: "problem",
      text: `port ${port} is taken by ${who}: askd serve cannot listen there`,
      fix: `${listener ? `kill ${listener.pid}, or ` : ""}askd serve --port 0`,
    },
  ];
}

/** Checks for drafts of processes that died while writing. */
async function checkDrafts(runtimeDir: string): Promise<Finding[]> {
  const dir = dirname(serverFiles(runtimeDir).address);
  const names = await readdir(dir).catch(() => []); // there is none before the first server
  const found = await Promise.all(
    names.map(async (name) => {
      const pid = DRAFT.exec(name)?.[1];
      return pid === undefined || (await findIdentity(Number(pid))) ? [] : [join(dir, name)];
    }),
  );
  return found.flat().map((file) => stale(file, `${file} was left behind by a process that is gone`));
}

function stale(file: string, text: string): Finding {
  return {
    code: "stale_file",
    area: "server",
    level: "problem",
    text,
    fix: `rm ${file}`,
    repair: () => rm(file, { force: true }),
  };
}

function describeWrongAnswer({ is }: ServerAnswer): string {
  return is === "silent" ? "does not answer" : "is not an askd server";
}

const LISTENS = "0A";

/** Finds the program that listens on a port; undefined if the system does not tell. */
export async function findListener(port: number): Promise<{ pid: number; name: string } | undefined> {
  const sockets = new Set((await Promise.all(["tcp", "tcp6"].map((kind) => listSockets(kind, port)))).flat());
  if (sockets.size === 0) return undefined;
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  for (const pid of pids) {
    if (!(await hasSocket(pid, sockets))) continue;
    const name = await readFile(`/proc/${pid}/comm`, "utf8").catch(() => "");
    return { pid: Number(pid), name: name.trim() };
  }
  return undefined;
}

/** The listening sockets of that port, as link targets. */
async function listSockets(kind: string, port: number): Promise<string[]> {
  const text = await readFile(`/proc/net/${kind}`, "utf8").catch(() => ""); // other systems have no such file
  return text
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => state === LISTENS && Number.parseInt(local?.split(":")[1] ?? "", 16) === port)
    .map((fields) => `socket:[${fields[9]}]`);
}

async function hasSocket(pid: string, sockets: ReadonlySet<string>): Promise<boolean> {
  const names = await readdir(`/proc/${pid}/fd`).catch(() => []); // gone, or another user's
  const links = await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => "")));
  return links.some((link) => sockets.has(link));
}
