import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Instant, MINUTE_MS, HOUR_MS } from "../../core/instant.ts";
import type { Stats } from "../../core/stats/stats.ts";
import { attentionEntry } from "../../core/channel/attention.ts";
import { ADA } from "../../../test/builders.ts";
import { ServedScene } from "../../../test/served.ts";
import { Scene, said } from "../../../test/scene.ts";
import { InsightsCache } from "./insights.tsx";

describe("the page with numbers", () => {
  let at: ServedScene;
  beforeEach(async () => {
    at = await ServedScene.start();
  });
  afterEach(() => at.stop());

  async function open(path: string, headers: Record<string, string> = {}): Promise<string> {
    const cookie = `askd_session=${await at.token()}`;
    const { status, body } = await at.send("GET", path, { headers: { cookie, accept: "text/html", ...headers } });
    expect(status).toBe(200);
    return String(body["text"]);
  }

  test("says how many, how fast, by whom, and what is above the limits", async () => {
    const asked = await Promise.all(
      Array.from({ length: 12 }, async (_, index) => (await at.scene.ask({ question: `Cache ${index}?` })).question.id),
    );
    await at.scene.pass(5 * MINUTE_MS);
    await at.scene.engine.answer(asked[0]!, said("1"), ADA);
    const html = await open("/insights");
    expect(html).toContain("11 questions are waiting; the alert limit is 10.");
    expect(html).toContain("<strong>5m</strong>");
    expect(html).toMatch(/<svg class="chart"[^>]* role="img" aria-labelledby="people-title people-about">/);
    expect(html).toMatch(/<th scope="row">ada<\/th><td>1<\/td><td>5m<\/td>/);
    expect(html).toContain("5m / 5m</text>");
    expect(html).toContain("in this period, as of");
    expect(html).not.toMatch(/ style=/);
  });

  test("shows how often people were interrupted, of how often they may be", async () => {
    await at.scene.ask();
    await at.scene.pass(5 * MINUTE_MS);
    const rings = [{ at: at.scene.now, about: "q" }];
    await at.scene.store.commit({ entries: [attentionEntry("lena", undefined, { rings, held: [] })] });
    const html = await open("/insights");
    expect(html).toContain("Interruptions</h2>");
    expect(html).toMatch(/<th scope="row">lena<\/th><td>1<\/td><td>20<\/td><td>1<\/td><td>0<\/td>/);
  });

  test("has a name for what no agent asked", async () => {
    const { question } = await at.scene.ask({}, { via: "cli" }, ADA);
    await at.scene.pass(5 * MINUTE_MS);
    await at.scene.engine.answer(question.id, said("1"), ADA);
    expect((await at.scene.engine.read(question.id)).run.agent).toBe("none");
    const html = await open("/insights");
    expect(html).toContain('<th scope="row">No agent</th>');
    expect(html).not.toMatch(/>none</);
  });

  test("draws no bar for what took no second", async () => {
    const { question } = await at.scene.ask();
    await at.scene.pass(300);
    await at.scene.engine.answer(question.id, said("1"), ADA);
    const html = await open("/insights");
    expect(html).toContain("0s / 0s</text>");
    expect([...html.matchAll(/class="beyond"[^>]* width="([^"]*)"/g)].map(([, width]) => width)).not.toContain("140");
  });

  test("is there before anything was asked, for every period, and in German", async () => {
    expect(await open("/insights")).toContain("Nothing was asked in this period.");
    for (const period of ["24h", "7d", "30d", "90d", "nonsense"]) {
      expect(await open(`/insights?for=${period}`)).toContain('aria-current="page"');
    }
    expect(await open("/insights", { "accept-language": "de" })).toContain("In diesem Zeitraum gestellte Fragen");
  });

  test("escapes the names of people, agents and groups", async () => {
    const bad = '<img src=x onerror="alert(1)">';
    const { question } = await at.scene.ask({ to: [bad] });
    await at.scene.pass(HOUR_MS / 60);
    await at.scene.engine.answer(question.id, said("1"), { ...ADA, id: bad, channel: bad });
    expect(await open("/insights")).not.toContain("<img");
  });
});

describe("numbers", () => {
  function counter() {
    const scene = new Scene();
    let counted = 0;
    let nowMs = 0;
    const stats = (): Promise<Stats> => {
      counted += 1;
      return scene.engine.stats();
    };
    const cache = new InsightsCache({
      engine: { stats, now: () => scene.engine.now() },
      onFailure: (error) => {
        throw error;
      },
      nowMs: () => nowMs,
    });
    const read = () => cache.read("7d", (now: Instant) => ({ until: now }));
    return { read, counted: () => counted, pass: (ms: number) => (nowMs += ms) };
  }

  test("are counted once a minute, however many look", async () => {
    const { read, counted, pass } = counter();
    await Promise.all(Array.from({ length: 20 }, read));
    pass(59_000);
    await read();
    expect(counted()).toBe(1);
    pass(2_000);
    await Promise.all([read(), read()]);
    expect(counted()).toBe(2);
  });

  test("that take long are shown as they were, until newer ones are there", async () => {
    const scene = new Scene();
    const first = await scene.engine.stats();
    let nowMs = 0;
    let calls = 0;
    const never = new Promise<Stats>(() => undefined);
    const cache = new InsightsCache({
      engine: { stats: () => (calls++ === 0 ? Promise.resolve(first) : never), now: () => scene.engine.now() },
      onFailure: () => undefined,
      nowMs: () => nowMs,
    });
    await cache.read("7d", () => ({}));
    nowMs = 10 * MINUTE_MS;
    expect((await cache.read("7d", () => ({}))).stats).toEqual(first);
  });
});
