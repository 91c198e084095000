import { readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { findIdentity } from "../agents/process/process-identity.ts";
import { SECOND_MS } from "../core/instant.ts";
import { serverFiles } from "../server/local-token.ts";
import { readPrivate } from "../server/private-file.ts";
import type { Finding } from "./finding.ts";
import { findListener } from "./listener.ts";
import type { Patient } from "./doctor-context.ts";
import { type Answer, askServer } from "./server-answer.ts";
import { compareClocks } from "./store/inspect.ts";

const Word = z.object({ pid: z.int().positive(), port: z.int(), url: z.string() });
/** What a process leaves behind that ends while it writes: the file's name and its own number. */
const DRAFT = /^(?:server\.json|token)\.(\d+)$/;

type At = Pick<Patient, "store" | "runtimeDir" | "version" | "port" | "nowMs">;

/** Whether a server answers where it should, and is one of ours. */
export async function checkServer(at: At): Promise<Finding[]> {
  if (at.store.kind === "server") return checkRemote(at.store.url, at);
  const own = await checkOwn(at);
  const isThere = own.some(({ code }) => code === "server");
  return [...own, ...(isThere ? [] : await checkPort(at.port)), ...(await checkDrafts(at.runtimeDir))];
}

/** The server that `ASKD_URL` names. */
async function checkRemote(url: string, at: At): Promise<Finding[]> {
  const from = at.nowMs();
  const answer = await askServer(url);
  if (answer.is === "askd") return describe(answer, url, { ...at, from });
  const what = answer.is === "nobody" ? `cannot be reached (${answer.why})` : sayWrong(answer);
  const text = `${url} ${what}: nothing can be asked or answered`;
  return [{ code: "server_unreachable", area: "server", level: "problem", text, fix: "check ASKD_URL, or the server" }];
}

/** The server of this user, as its file says. */
async function checkOwn(at: At): Promise<Finding[]> {
  const file = serverFiles(at.runtimeDir).address;
  const text = await readPrivate(file);
  if (text === undefined) {
    return [{ code: "server_off", area: "server", level: "off", text: "not running; start it with askd serve" }];
  }
  const word = Word.safeParse(parse(text));
  if (!word.success) return [stale(file, `${file} cannot be read`)];
  const { pid, url } = word.data;
  if (!(await findIdentity(pid)))
    return [stale(file, `the server at ${url} (process ${pid}) is gone, its file is not`)];
  const from = at.nowMs();
  const answer = await askServer(url);
  switch (answer.is) {
    case "askd":
      return describe(answer, url, { ...at, from });
    case "silent":
      return [
        {
          ...{ code: "server_silent", area: "server", level: "problem" },
          text: `the server at ${url} (process ${pid}) does not answer`,
          fix: `kill ${pid}, then askd serve`,
        },
      ];
    default:
      return [stale(file, `no askd answers at ${url}, where its file says it is`)];
  }
}

function describe(
  answer: Extract<Answer, { is: "askd" }>,
  url: string,
  at: Pick<Patient, "version" | "nowMs"> & { from: number },
): Finding[] {
  const text = `${new URL(url).host}, ${Math.max(1, Math.round(answer.ms))} ms`;
  const findings: Finding[] = [{ code: "server", area: "server", level: "ok", text }];
  if (answer.version !== at.version) {
    findings.push({
      ...{ code: "server_version", area: "server", level: "warning" },
      text: `the server is askd ${answer.version}, this is ${at.version}`,
      fix: "end it and start it again: askd serve",
    });
  }
  // The header has whole seconds.
  const span = { from: at.from - SECOND_MS, to: at.nowMs() };
  if (answer.dateMs !== undefined) findings.push(...compareClocks(answer.dateMs, span, "the server"));
  return findings;
}

/** Whether the place where a server would listen is free. */
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
      ...{ code: "port_taken", area: "server", level: "problem" },
      text: `port ${port} is taken by ${who}: askd serve cannot listen there`,
      fix: `${listener ? `kill ${listener.pid}, or ` : ""}askd serve --port 0`,
    },
  ];
}

/** Files of processes that ended while they wrote them. */
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
    ...{ code: "stale_file", area: "server", level: "problem", text },
    fix: `rm ${file}`,
    repair: () => rm(file, { force: true }),
  };
}

function sayWrong({ is }: Answer): string {
  return is === "silent" ? "does not answer" : "is not an askd server";
}

function parse(text: string): unknown {
  try {
    const raw: unknown = JSON.parse(text);
    return raw;
  } catch {
    return undefined; // what is cut off is not what a server wrote
  }
}
