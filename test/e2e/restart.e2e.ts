import { type Socket, connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { expect, test, vi } from "vitest";
import type { QuestionId } from "../../src/core/id.ts";
import { AGENTS } from "./agent.ts";
import { type ProgramName, PROGRAMS } from "./install.ts";
import { type Stage, onStage, pause, promptOf, untilTold } from "./stage.ts";

/** Starts take many seconds on a busy machine, and several tests run at once. */
vi.setConfig({ testTimeout: 240_000 });

/** A client that lost the connection before it read the head of the reply reports an error, and its model asks again. */
const STEPS = [
  untilTold("Valkey", { say: "I need to know.", call: "ask_human", input: { question: "Redis or Memcached?" } }),
  untilTold("LRU", { say: "One more thing.", call: "ask_human", input: { question: "Which eviction?" } }),
  { say: "Done." },
];

test.concurrent.for(Object.keys(PROGRAMS) as ProgramName[])(
  "%s gets the answer to a call whose server was killed and started again, and asks on",
  (program) =>
    onStage(async (stage) => {
      const relay = await Relay.start();
      try {
        const server = await stage.serve(relay.name);
        relay.target = server.port;
        const door = { kind: "http", url: `http://${relay.name}/mcp`, token: await stage.agentToken() } as const;
        const { ended } = await stage.launch((box) => AGENTS[program](box, door, promptOf(STEPS)));
        const cache = await stage.waiting();
        await stage.until("the call can be resumed", async () => relay.hasPassed("event: stream"));
        await server.kill();
        await stage.type("answer", cache.id, "Valkey");
        await stage.serve(relay.name, server.port);
        const eviction = await stage.waiting();
        await stage.type("answer", eviction.id, "LRU");
        const { exitCode, output } = await ended;
        expect(exitCode === 0 ? "it ended well" : output).toBe("it ended well");
        for (const answer of ["Valkey", "LRU"]) {
          expect(stage.results().filter((result) => result.includes(answer))).toHaveLength(1);
        }
        for (const { id } of [cache, eviction]) await expectGivenOnce(stage, id);
        expect(await (await stage.engine()).listQuestions({ order: "oldest", limit: 9 })).toHaveLength(2);
      } finally {
        relay.stop();
      }
    }),
);

async function expectGivenOnce(stage: Stage, id: QuestionId): Promise<void> {
  const engine = await stage.engine();
  const run = await stage.until("the run is complete", async () => {
    const { run: at } = await engine.read(id);
    return at.status === "completed" ? at : undefined;
  });
  const given = (await engine.readChain(run.id)).filter(({ event }) => event.type === "question.given");
  expect(given.filter(({ event }) => event.questionId === id)).toHaveLength(1);
}

/**
 * Stands between an agent and our server and sees what the agent gets. Whoever connects while no server is there waits
 * for one: agents come back only a few times, and the start of a server takes as long as it takes.
 */
class Relay {
  target = 0;
  readonly #open = new Set<Socket>();
  readonly #server = createServer((agent) => void this.#carry(agent));
  #passed = "";

  static async start(): Promise<Relay> {
    const relay = new Relay();
    await new Promise<void>((resolve) => relay.#server.listen(0, "127.0.0.1", resolve));
    return relay;
  }

  /** The name under which the server is called. */
  get name(): string {
    const { port } = this.#server.address() as AddressInfo; // it listens on a port
    return `127.0.0.1:${port}`;
  }

  /** True once an agent was sent this. */
  hasPassed(text: string): true | undefined {
    return this.#passed.includes(text) ? true : undefined;
  }

  stop(): void {
    for (const socket of this.#open) socket.destroy();
    this.#server.close();
  }

  async #carry(agent: Socket): Promise<void> {
    this.#keep(agent);
    let onward: Socket | undefined;
    while (!onward && !agent.destroyed) {
      onward = await reach(this.target);
      if (!onward) await pause(50);
    }
    if (!onward) return;
    this.#keep(onward);
    onward.on("data", (part: Buffer) => (this.#passed += part.toString("latin1")));
    agent.pipe(onward).pipe(agent);
    agent.on("close", () => onward.destroy());
    onward.on("close", () => agent.destroySoon());
  }

  #keep(socket: Socket): void {
    this.#open.add(socket);
    // A broken connection is what is played here, and "close" follows.
    socket.on("error", () => undefined).on("close", () => this.#open.delete(socket));
  }
}

function reach(port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => resolve(socket));
    socket.once("error", () => resolve(undefined));
  });
}
