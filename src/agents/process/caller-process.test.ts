import { spawn } from "node:child_process";
import { once } from "node:events";
import { type Server, type Socket, connect, createServer } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RunId } from "../../core/id.ts";
import { makeRunDir } from "../runner/run-files.ts";
import { findSocket, runsOfCaller, sessionRunsOfCaller } from "./caller-process.ts";
import { startProcess, waitForProcessEnd } from "./process.ts";

const HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode";

/** Tables of the kernel, as they are on a machine of this byte order. */
function tables(tcp: readonly string[], tcp6: readonly string[] = []) {
  const lines = (rows: readonly string[]) => [HEAD, ...rows, ""].join("\n");
  return (path: string): string => (path.endsWith("6") ? lines(tcp6) : lines(tcp));
}

function row(local: string, remote: string, inode: string): string {
  return `   0: ${local} ${remote} 01 00000000:00000000 00:00000000 00000000  1000        0 ${inode} 1 0000 100`;
}

describe("the socket of a caller", () => {
  const ends = { remoteAddress: "127.0.0.1", remotePort: 40_000, localAddress: "127.0.0.1", localPort: 4319 };
  const [caller, server] = ["0100007F:9C40", "0100007F:10DF"];
  const long = (word: string): string => `0000000000000000${word}0100007F`;

  test.each([
    ["is the caller's end, not the server's", tables([row(server, caller, "7"), row(caller, server, "8")]), "8"],
    ["is nobody's once it is closed", tables([row(caller, server, "0")]), undefined],
    ["is not that of another port", tables([row("0100007F:9C41", server, "8")]), undefined],
    [
      "may speak IPv4 in the form of IPv6",
      tables([], [row(`${long("FFFF0000")}:9C40`, `${long("FFFF0000")}:10DF`, "9")]),
      "9",
    ],
    ["is nowhere without tables", () => "", undefined],
  ])("%s", (_what, read, inode) => {
    expect(findSocket(ends, read)?.inode).toBe(inode);
    const mapped = { ...ends, remoteAddress: "::ffff:127.0.0.1", localAddress: "::ffff:127.0.0.1" };
    expect(findSocket(mapped, read)?.inode).toBe(inode);
  });

  test("is found by an address of IPv6", () => {
    const one = "00000000000000000000000001000000";
    const here = { remoteAddress: "::1", remotePort: 40_000, localAddress: "::1", localPort: 4319 };
    expect(findSocket(here, tables([], [row(`${one}:9C40`, `${one}:10DF`, "5")]))).toEqual({ inode: "5", uid: "1000" });
  });
});

const ENDED = "r_00000000000000000000000000" as RunId;
const LOOPBACK = networkInterfaces()["lo"]?.map(({ address }) => address) ?? [];

describe.runIf(process.platform === "linux").each(LOOPBACK)("a caller by %s", (address) => {
  let server: Server;
  let callers: Array<ReturnType<typeof spawn>>;
  beforeEach(async () => {
    callers = [];
    server = createServer((socket) => socket.on("error", () => undefined)).listen(0, address);
    await once(server, "listening");
  });
  afterEach(async () => {
    for (const { pid } of callers) if (pid !== undefined) process.kill(-pid, "SIGKILL");
    await new Promise((done) => server.close(done));
  });

  function port(): number {
    const at = server.address();
    return at === null || typeof at === "string" ? 0 : at.port;
  }

  /** Has a program connect, below a shell that is in the run; what the program does next is the script's end. */
  async function called(script: string, runId: string): Promise<Socket> {
    const program = `const c = require("net").connect(${port()}, "${address}"); ${script}`;
    // The shell stays above what it starts, as a command follows.
    const shell = `env -u ASKD_RUN -u ASKD_EPOCH "$0" -e '${program}'; sleep 60`;
    const env = { PATH: process.env["PATH"], ASKD_RUN: runId };
    callers.push(spawn("/bin/sh", ["-c", shell, process.execPath], { env, stdio: "ignore", detached: true }));
    const [socket]: Socket[] = await once(server, "connection");
    return socket!;
  }

  test("below a run that it hides is found, and one beside it is not taken for it", async () => {
    const below = await called("setInterval(() => 0, 1000)", "r_below");
    const beside = connect(port(), address);
    const [from]: Socket[] = await once(server, "connection");
    expect(await runsOfCaller(below)).toEqual(["r_below"]);
    expect(await runsOfCaller(from!)).not.toContain("r_below");
    beside.destroy();
    below.destroy();
  });

  test("that an agent left behind is found by the agent's session after the agent has ended", async () => {
    const dir = mkdtempSync(join(tmpdir(), "askd-caller-"));
    try {
      const runDir = await makeRunDir(dir, ENDED);
      // Its parent is gone, it hides its run, and it connects after the agent's end.
      const program = `setTimeout(() => require("net").connect(${port()}, "${address}"), 500); setTimeout(() => process.exit(), 20000)`;
      const script = `(env -u ASKD_RUN -u ASKD_EPOCH "$0" -e '${program}' &)`;
      const nothing = { env: {}, files: [], stdin: undefined, session: undefined, added: [] };
      const start = { ...nothing, argv: ["/bin/sh", "-c", script, process.execPath], prints: "lines" } as const;
      const connected = once(server, "connection");
      const env = { PATH: process.env["PATH"] ?? "" };
      await startProcess({ runId: ENDED, epoch: 1, runDir, dir, env, start });
      await waitForProcessEnd(runDir, 1);
      const [left]: Socket[] = await connected;
      const beside = connect(port(), address);
      const [other]: Socket[] = await once(server, "connection");
      expect(await runsOfCaller(left!)).not.toContain(ENDED);
      expect(await sessionRunsOfCaller(left!, dir)).toEqual([ENDED]);
      expect(await sessionRunsOfCaller(other!, dir)).toEqual([]);
      beside.destroy();
      left!.destroy();
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  test("who has left before they could be looked at may have been of any run", async () => {
    const socket = await called('c.on("connect", () => c.destroy())', "r_left");
    socket.resume();
    await once(socket, "close");
    expect(await runsOfCaller(socket)).toContain("r_left");
  });

  test.each(["addresses", "no addresses"])(
    "who resets the connection may have been of any run, with %s left",
    async (left) => {
      const socket = await called('c.on("connect", () => c.resetAndDestroy())', "r_reset");
      const { remoteAddress, remotePort, localAddress, localPort } = socket;
      socket.resume();
      await new Promise((resolve) => socket.once("close", resolve));
      const ends = left === "addresses" ? { remoteAddress, remotePort, localAddress, localPort } : {};
      expect(await runsOfCaller(ends)).toContain("r_reset");
    },
  );
});

test("who is on another machine has no run here", async () => {
  const ends = { remoteAddress: "192.0.2.7", remotePort: 1, localAddress: "192.0.2.1", localPort: 2 };
  expect(await runsOfCaller(ends)).toEqual([]);
});
