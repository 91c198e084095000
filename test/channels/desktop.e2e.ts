import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { desktopChannel } from "../../src/channels/desktop/desktop.ts";
import type { Channel } from "../../src/core/channel/channel.ts";
import { HOUR_MS } from "../../src/core/instant.ts";
import { ADA } from "../builders.ts";
import { BuiltScene } from "../built.ts";
import { Scene, said } from "../scene.ts";
import { channelSuite } from "./channel.suite.ts";
import { DesktopCounterpart } from "./desktop-counterpart.ts";
import { DesktopSession } from "./desktop-session.ts";
import { OUTBOUND } from "./loopback-server.ts";

const TRAITS = { strength: "local", hasWords: false, hasMentions: false, hasStatuses: false, isPublic: true } as const;
const LISTENING_MS = 3_000;
const WAIT = { timeout: 30_000 };

let session: DesktopSession;

beforeAll(async () => {
  session = await DesktopSession.start();
}, 120_000);

afterAll(() => session.close());

channelSuite("desktop", TRAITS, () => DesktopCounterpart.start(session));

describe("a notification on the desktop", () => {
  const opened: string[][] = [];

  function aChannel(): Channel {
    const run = (argv: readonly string[]) => {
      opened.push([...argv]);
      return Promise.resolve({ exitCode: 0, stderr: "" });
    };
    return desktopChannel({ platform: "linux", env: session.env }, { ...OUTBOUND, run });
  }

  function aScene(channel: Channel, options: Partial<ConstructorParameters<typeof Scene>[0]> = {}) {
    const reach = [{ name: "desktop", person: "mika", isPersonal: false }];
    const rules = { reach, publicUrl: "https://askd.example.com" };
    const scene = new Scene({ rules, openChannel: () => Promise.resolve(channel), ...options });
    onTestFinished(() => scene.engine.stop());
    return scene;
  }

  afterEach(() => session.stopService());

  async function asked() {
    await session.startService();
    const channel = aChannel();
    const scene = aScene(channel);
    const { question } = await scene.ask();
    await scene.pass(0);
    return { scene, question, channel };
  }

  test("is replaced in place, and disappears by itself when the question is closed", async () => {
    const { scene, question } = await asked();
    await scene.engine.extend(question.id, HOUR_MS, ADA);
    await scene.pass(0);
    await scene.engine.answer(question.id, said("1"), ADA);
    await scene.pass(0);
    const taken = session.taken();
    expect(new Set(taken.map(({ id }) => id)).size).toBe(1);
    expect(taken.map(({ urgency, timeout }) => [urgency, timeout])).toEqual([
      ["NORMAL", 0],
      ["NORMAL", 0],
      ["LOW", 10_000],
    ]);
    expect(taken.at(-1)).toMatchObject({ title: expect.stringContaining("Answered by ada (cli): Redis") });
    expect(await session.control("count", "displayed")).toBe("1");
  });

  test("that the person has dismissed stays away until the next reminder", async () => {
    const { scene, question } = await asked();
    await session.control("close-all");
    await expect.poll(() => session.control("count", "displayed"), WAIT).toBe("0");
    await scene.engine.extend(question.id, HOUR_MS, ADA);
    await scene.pass(0);
    expect(session.taken()).toHaveLength(1);
    await scene.pass(13 * HOUR_MS);
    expect(session.taken().at(-1)).toMatchObject({ title: expect.stringContaining("Reminder 1") });
    expect(
      session
        .taken()
        .at(-1)
        ?.actions.map(({ label }) => label),
    ).toEqual(["A) Redis", "B) Memcached", "Open"]);
  });

  test("that a process left behind is heard by the next one", async () => {
    const { scene, question } = await asked();
    const [first] = session.taken();
    // The first process is gone: its connection ends with it.
    const held = await scene.store.listEntries("delivery", question.id);
    const [guid = "", service = "", , id = ""] = String(held[0]?.body["outside"]).split(" ");
    const outside = [guid, service, ":1.999999", id].join(" ");
    await scene.store.commit({ entries: held.map((entry) => ({ ...entry, body: { ...entry.body, outside } })) });
    const next = aScene(aChannel(), { store: () => scene.store });
    void next.engine.work();
    await expect.poll(() => session.taken().length, WAIT).toBe(2);
    expect(session.taken().at(-1)?.id).toBe(first?.id);
    await session.press(session.taken().at(-1)?.actions[1]?.key ?? "");
    const by = { id: "mika", channel: "desktop", strength: "local" };
    await expect
      .poll(async () => (await next.engine.read(question.id)).question, WAIT)
      .toMatchObject({ status: "answered", answer: { items: { "1": { values: ["Memcached"] } }, by } });
  });

  test("is shown again when the notification service was restarted", async () => {
    const { scene } = await asked();
    void scene.engine.work();
    // A restart is noticed by who listens by then.
    await new Promise((resolve) => setTimeout(resolve, LISTENING_MS));
    await session.stopService();
    await session.startService();
    await expect.poll(() => session.taken().length, { timeout: 20_000 }).toBe(1);
    expect(session.taken()[0]?.actions).toHaveLength(3);
  }, 30_000);

  test("a service that was restarted before anybody listened is noticed by the first who listens", async () => {
    const { channel } = await asked();
    await session.stopService();
    await session.startService();
    const listening = channel.listen?.(undefined, AbortSignal.timeout(5_000))[Symbol.asyncIterator]();
    await expect(listening?.next()).rejects.toThrow("the notification service has ended");
    // Once: what is shown from then on belongs to the service that runs.
    const again = channel.listen?.(undefined, AbortSignal.timeout(500))[Symbol.asyncIterator]();
    expect(await again?.next()).toMatchObject({ done: true });
  });

  test("opens the card when it is clicked", async () => {
    const { scene, question } = await asked();
    opened.length = 0;
    void scene.engine.work();
    await session.press("default");
    await expect.poll(() => opened, WAIT).toEqual([["xdg-open", `https://askd.example.com/q/${question.id}`]]);
    expect((await scene.engine.read(question.id)).question.status).toBe("pending");
  });

  test("without a desktop the failure says so, and a retry is worth it", async () => {
    const channel = desktopChannel({ platform: "linux", env: {} }, OUTBOUND);
    await expect(channel.verify()).rejects.toThrow(/no desktop session/);
    expect(await channel.send({ title: "", body: "", buttons: [] })).toEqual({
      ok: false,
      why: "there is no desktop session: DBUS_SESSION_BUS_ADDRESS is not set",
    });
  });

  test("setup desktop goes from nothing to a test question that is answered by its button", async () => {
    await session.startService();
    const setUp = new BuiltScene().typeWith(session.env, "setup", "desktop");
    await expect.poll(() => session.taken().length, WAIT).toBe(1);
    const [shown] = session.taken();
    expect(shown).toMatchObject({ title: "This is a test of askd: can you read this?" });
    await session.press(shown?.actions[0]?.key ?? "");
    expect(await setUp).toMatchObject({
      exit: 0,
      stderr: expect.stringMatching(/answered through desktop\. It works\./i),
    });
  }, 180_000);

  test("a question asked with nothing running is answered by a button on the desktop, as this machine's user", async () => {
    await session.startService();
    const scene = new BuiltScene();
    const type = (...argv: string[]) => scene.typeWith(session.env, ...argv);
    const check = async (id: string) =>
      JSON.parse((await scene.type("check", id, "--json")).stdout.toString()) as unknown;
    expect((await type("setup", "desktop", "--no-test")).exit).toBe(0);
    const asked = await type("ask", "Redis or Memcached?", "-o", "Redis", "-o", "Memcached");
    const id = asked.stdout.toString().trim();
    await expect.poll(() => session.taken().length, WAIT).toBe(1);
    const [shown] = session.taken();
    expect(shown).toMatchObject({ title: "Redis or Memcached?" });
    await session.press(shown?.actions.find(({ label }) => label === "B) Memcached")?.key ?? "");
    await expect.poll(() => check(id), WAIT).toMatchObject({ status: "answered", answer: "Memcached" });
    await expect.poll(() => session.taken().at(-1)?.title, WAIT).toMatch(/^✅ Answered by \S+ \(desktop\): Memcached$/);
  }, 180_000);
});
