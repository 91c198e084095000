import { readFile, readdir, readlink } from "node:fs/promises";

const LISTENS = "0A";

/** The program that listens on a port of this machine; nothing where the system does not tell. */
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

/** The sockets that listen on that port, as links to them read. */
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
