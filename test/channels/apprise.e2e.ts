import { chmodSync, copyFileSync, mkdtempSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { appriseChannel } from "../../src/channels/apprise/apprise.ts";
import { runProgram } from "../../src/agents/process/run-program.ts";
import type { Channel } from "../../src/core/channel/channel.ts";
import { testMessage } from "../../src/core/channel/test-message.ts";
import { BuiltScene } from "../built.ts";
import { ensureProgram } from "../debian.ts";
import { channelSuite } from "./channel.suite.ts";
import type { Counterpart, ShownMessage } from "./counterpart.ts";
import { LoopbackServer, OUTBOUND } from "./loopback-server.ts";

const TRAITS = { strength: undefined, hasWords: false, hasMentions: true, hasStatuses: false, isPublic: true };
const Posted = z.looseObject({ title: z.string().max(250), message: z.string().min(1), type: z.string() });

/** The receiver behind apprise: it sees what apprise posts to an address of the kind json://. */
class AppriseReceiver implements Counterpart {
  readonly reach = { name: "apprise", person: undefined, isPersonal: false };
  readonly traffic: LoopbackServer;
  readonly channel: Channel;
  readonly address: string;
  last: z.infer<typeof Posted> | undefined;

  /** Runs apprise from this path. */
  static async start(path: string): Promise<AppriseReceiver> {
    const server = new LoopbackServer();
    return new AppriseReceiver(server, (await server.listen()).replace("http:", "json:"), path);
  }

  private constructor(server: LoopbackServer, address: string, path: string) {
    this.traffic = server;
    this.address = address;
    const run: typeof runProgram = (argv, options) =>
      runProgram(argv, { ...options, env: { ...options?.env, PATH: path } });
    this.channel = appriseChannel({ readUrls: () => address }, { ...OUTBOUND, run });
    server.handle = ({ text }, response) => {
      server.keep(text);
      server.count();
      const failure = server.nextFailure();
      if (failure) {
        response.writeHead(failure.status).end();
        return;
      }
      const posted = Posted.safeParse(JSON.parse(text));
      if (!posted.success) server.problems.push(posted.error.message);
      this.last = posted.data;
      response.writeHead(204).end();
    };
  }

  shown(): ShownMessage[] {
    return this.last ? [{ text: `${this.last.title}\n${this.last.message}`, buttons: [] }] : [];
  }

  responses(): string[] {
    return [];
  }

  close(): Promise<void> {
    return this.traffic.close();
  }
}

/** A path on which a small program is found as apprise; it checks its arguments as the real one does. */
function smallApprise(): string {
  const dir = mkdtempSync(join(tmpdir(), "askd-apprise-"));
  const program = join(dir, "apprise");
  const module = `${program}.mjs`;
  copyFileSync(new URL("apprise-program.mjs", import.meta.url), module);
  chmodSync(module, 0o755);
  symlinkSync(module, program);
  return [dir, process.env["PATH"]].join(delimiter);
}

channelSuite("apprise", TRAITS, () => AppriseReceiver.start(smallApprise()));

test("the real apprise takes what the channel gives it", async () => {
  ensureProgram("apprise");
  const receiver = await AppriseReceiver.start(process.env["PATH"] ?? "");
  onTestFinished(() => receiver.close());
  expect(await receiver.channel.verify()).toBe("1 address of apprise");
  const wire = receiver.channel.build({ ...testMessage(), title: '-t "$(id)" & <b>' }, { address: undefined });
  expect(await receiver.channel.send(wire)).toEqual({ ok: true });
  expect(receiver.last).toMatchObject({ type: "success", title: "Question closed" });
  expect(receiver.last?.message).toContain('-t "$(id)" & <b>');
  receiver.traffic.fail({ status: 500 });
  expect(await receiver.channel.send(wire)).toEqual({ ok: false, why: "apprise could not deliver it", isFinal: false });
}, 60_000);

test("setup apprise takes the addresses from a pipe, keeps them for the user only, and sends a test", async () => {
  const receiver = await AppriseReceiver.start("");
  onTestFinished(() => receiver.close());
  const scene = new BuiltScene();
  const { exit, stderr } = await scene.typeInto(
    { text: `${receiver.address}\n` },
    { PATH: smallApprise() },
    "setup",
    "apprise",
  );
  expect([exit, stderr]).toEqual([0, expect.stringContaining("The test message was sent.")]);
  expect(stderr).not.toContain(receiver.address);
  expect(receiver.traffic.everythingSent()).toContain("This is a test of askd");
  expect(receiver.last).toMatchObject({ title: "Question closed" });
}, 60_000);

test("where apprise is not installed, the failure says so", async () => {
  const receiver = await AppriseReceiver.start(mkdtempSync(join(tmpdir(), "askd-empty-")));
  onTestFinished(() => receiver.close());
  await expect(receiver.channel.verify()).rejects.toThrow(/apprise is not installed/);
  const wire = receiver.channel.build(testMessage(), { address: undefined });
  expect(await receiver.channel.send(wire)).toMatchObject({ ok: false, why: "apprise is not installed" });
});
