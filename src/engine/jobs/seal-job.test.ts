import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { expect, onTestFinished, test } from "vitest";
import { ADA } from "../../../test/builders.ts";
import { Scene, said } from "../../../test/scene.ts";
import { type } from "../../../test/typed.ts";
import { engineOn } from "../../app.ts";
import { findAnchorSettings } from "../../config/anchor.ts";
import type { Values } from "../../config/schema.ts";
import { anchorOf, parseAnchors } from "../../core/trail/anchor.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS, epochMs } from "../../core/instant.ts";
import { findTroubles } from "./troubles.ts";

const SECRET = `whsec_${randomBytes(24).toString("base64")}`;

function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "askd-anchor-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** A store whose jobs are done by an engine with these settings, while questions are asked by another one. */
class AnchoredScene {
  readonly scene: Scene;
  readonly #settings: { audit: Values["audit"]; env: Record<string, string> };

  constructor(audit: Values["audit"], env: Record<string, string> = {}, scene = new Scene()) {
    this.scene = scene;
    this.#settings = { audit, env };
  }

  /** Lets time pass and does what falls due, the way the next process would. */
  async pass(ms: number): Promise<void> {
    this.scene.skip(ms);
    const { audit, env } = this.#settings;
    const engine = engineOn(this.scene.store, {
      rules: this.scene.rules,
      nowMs: () => epochMs(this.scene.now),
      anchor: findAnchorSettings({ audit }, env),
    });
    await engine.doDue();
  }

  async askAndAnswer(): Promise<void> {
    const { question } = await this.scene.ask();
    await this.scene.engine.answer(question.id, said("1"), ADA);
  }

  async seals() {
    return (await this.scene.store.listSeals(0, 100)).map(anchorOf);
  }

  async failing() {
    return (await findTroubles(this.scene.store)).failing;
  }
}

function readAnchorFile(file: string) {
  return parseAnchors(readFileSync(file, "utf8"), file);
}

test("every seal is appended to the configured file once, also one that another process made", async () => {
  const file = join(tempDir(), "seals.ndjson");
  const anchored = new AnchoredScene({ anchor_file: file });
  await anchored.pass(0);
  expect(existsSync(file)).toBe(false); // nothing has happened yet
  await anchored.askAndAnswer();
  await anchored.pass(MINUTE_MS);
  expect(readAnchorFile(file)).toEqual((await anchored.seals()).slice(1)); // the last seal covers the first
  for (let count = 0; count < 12; count += 1) {
    await anchored.askAndAnswer();
    await anchored.scene.engine.seal();
  }
  await anchored.pass(HOUR_MS);
  await anchored.pass(HOUR_MS);
  const seals = await anchored.seals();
  expect(seals.length).toBeGreaterThan(12);
  expect(readAnchorFile(file)).toEqual(seals.slice(1));
  expect((await anchored.scene.engine.verify({ anchors: readAnchorFile(file) })).problems).toEqual([]);
  expect(await anchored.failing()).toEqual([]);
});

test("a file that cannot be written stops no seal and no answer; it is retried and shown until it works", async () => {
  const folder = join(tempDir(), "mounted-later");
  const file = join(folder, "seals.ndjson");
  const anchored = new AnchoredScene({ anchor_file: file });
  await anchored.askAndAnswer();
  await anchored.scene.store.commit({
    scheduled: [{ key: "seal", kind: "seal", dueAt: anchored.scene.now, tries: 0 }],
  });
  await anchored.pass(0);
  const why = `seal 2 was not written to ${file}: ENOENT`;
  expect(await anchored.failing()).toMatchObject([{ kind: "seal", tries: 1, why }]);
  const status = await type(anchored.scene, ["status"]);
  expect(status.stdout).toContain("FAILING");
  expect(status.stdout.replaceAll(/\s+/g, " ")).toContain("was not written to");
  await anchored.askAndAnswer();
  await anchored.pass(2 * SECOND_MS);
  expect(await anchored.failing()).toMatchObject([{ tries: 2 }]);
  expect(await anchored.seals()).toHaveLength(3); // sealing goes on
  expect((await anchored.scene.engine.verify()).problems).toEqual([]);
  mkdirSync(folder);
  await anchored.pass(10 * SECOND_MS);
  expect(await anchored.failing()).toEqual([]);
  expect(readAnchorFile(file)).toEqual((await anchored.seals()).slice(2));
});

/** A receiver of webhooks on this machine; it answers with the given statuses, one after another, and then with 204. */
async function startReceiver(...statuses: number[]) {
  const received: Array<{ body: string; headers: Record<string, string> }> = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      received.push({ body, headers: request.headers as Record<string, string> });
      response.writeHead(statuses.shift() ?? 204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/seals/sesame` };
}

/** Reads a message as the public library does, which checks its signature. */
function readSigned({ body, headers }: { body: string; headers: Record<string, string> }, now: string): unknown {
  const realNow = Date.now;
  Date.now = () => Date.parse(now);
  try {
    return new Webhook(SECRET).verify(body, headers);
  } finally {
    Date.now = realNow;
  }
}

test("seals are posted as signed webhooks, and again with the same id after a failure; a file goes on meanwhile", async () => {
  const { received, url } = await startReceiver(500);
  const file = join(tempDir(), "seals.ndjson");
  const audit = { anchor_file: file, anchor_url: url, anchor_secret_env: "SEAL_SECRET" };
  const anchored = new AnchoredScene(audit, { SEAL_SECRET: SECRET });
  await anchored.pass(0);
  await anchored.scene.ask();
  await anchored.pass(MINUTE_MS);
  const origin = new URL(url).origin;
  const [failure] = await anchored.failing();
  expect(failure?.why).toBe(`${origin} did not accept seal 1: status 500`); // the path may be a secret
  expect(readAnchorFile(file)).toEqual(await anchored.seals());
  await anchored.pass(2 * SECOND_MS);
  expect(await anchored.failing()).toEqual([]);
  expect(received).toHaveLength(2);
  const [first, second] = received;
  if (!first || !second) throw new Error("two messages came");
  expect(readSigned(second, anchored.scene.now)).toEqual((await anchored.seals())[0]);
  expect(second.headers["webhook-id"]).toBe(first.headers["webhook-id"]);
  expect(readAnchorFile(file)).toHaveLength(1);
  await anchored.scene.ask();
  await anchored.pass(HOUR_MS);
  expect(received.flatMap(({ body }) => parseAnchors(body, "the body")).map(({ n }) => n)).toEqual([1, 1, 2]);
});

test("a secret that is not set is named in the failure, and nothing is sent without a signature", async () => {
  const { received, url } = await startReceiver();
  const anchored = new AnchoredScene({ anchor_url: url, anchor_secret_env: "SEAL_SECRET" });
  await anchored.pass(0);
  await anchored.scene.ask();
  await anchored.pass(MINUTE_MS);
  const [failure] = await anchored.failing();
  expect(failure?.why).toContain("SEAL_SECRET, which audit.anchor_secret_env names, is not set");
  expect(received).toEqual([]);
});

test("a new file starts with the last seal", async () => {
  const dir = tempDir();
  const anchored = new AnchoredScene({ anchor_file: join(dir, "old.ndjson") });
  await anchored.pass(0);
  await anchored.scene.ask();
  await anchored.pass(MINUTE_MS);
  const moved = new AnchoredScene({ anchor_file: join(dir, "new.ndjson") }, {}, anchored.scene);
  await moved.pass(HOUR_MS);
  expect(readAnchorFile(join(dir, "new.ndjson"))).toEqual(await anchored.seals());
});

function git(dir: string, ...args: string[]): string {
  return execFileSync("git", ["-C", dir, ...args], { encoding: "utf8" });
}

test("with git, the file is committed alone, and no hook of the repository runs", async () => {
  const repository = tempDir();
  git(repository, "init", "--quiet");
  git(repository, "config", "user.name", "Ada");
  git(repository, "config", "user.email", "ada@example.com");
  const hook = join(repository, ".git/hooks/pre-commit");
  mkdirSync(join(repository, ".git/hooks"), { recursive: true });
  writeFileSync(hook, "#!/bin/sh\ntouch ran\nexit 1\n");
  chmodSync(hook, 0o755);
  writeFileSync(join(repository, "work.txt"), "half done");
  git(repository, "add", "work.txt");
  mkdirSync(join(repository, "audit"));
  const file = join(repository, "audit", "*seals.ndjson"); // no pattern for git
  const anchored = new AnchoredScene({ anchor_file: file, anchor_git: true });
  await anchored.pass(0);
  await anchored.scene.ask();
  await anchored.pass(MINUTE_MS);
  await anchored.pass(HOUR_MS);
  await anchored.scene.ask();
  await anchored.pass(HOUR_MS);
  expect(await anchored.failing()).toEqual([]);
  expect(git(repository, "log", "--format=%s", "--name-only").split("\n").filter(Boolean)).toEqual([
    "Seal 2 of the askd trail",
    "audit/*seals.ndjson",
    "Seal 1 of the askd trail",
    "audit/*seals.ndjson",
  ]);
  expect(git(repository, "status", "--porcelain")).toBe("A  work.txt\n");
  expect(git(repository, "show", "HEAD:audit/*seals.ndjson")).toBe(readFileSync(file, "utf8"));
});

test("where git cannot commit, the seal is in the file once, and the failure says what git said", async () => {
  const dir = tempDir();
  const file = join(dir, "seals.ndjson");
  const anchored = new AnchoredScene({ anchor_file: file, anchor_git: true });
  await anchored.pass(0);
  await anchored.scene.ask();
  await anchored.pass(MINUTE_MS);
  await anchored.pass(2 * SECOND_MS);
  const [failure] = await anchored.failing();
  expect(failure?.why).toMatch(/seal 1 is in .*, but git did not commit it: .*not a git repository/);
  expect(readAnchorFile(file)).toHaveLength(1);
  git(dir, "init", "--quiet");
  git(dir, "config", "user.name", "Ada");
  git(dir, "config", "user.email", "ada@example.com");
  await anchored.pass(MINUTE_MS);
  expect(await anchored.failing()).toEqual([]);
  expect(git(dir, "log", "--format=%s")).toBe("Seal 1 of the askd trail\n");
});
