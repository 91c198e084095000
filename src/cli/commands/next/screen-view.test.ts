import { describe, expect, test } from "vitest";
import { NOON, answered } from "../../../../test/builders.ts";
import { HOSTILE_TEXT, findUnsafe } from "../../../../test/hostile.ts";
import { NextScene, aCard, anItem } from "../../../../test/next-card.ts";
import type { UsageRow } from "../../../core/run/usage.ts";
import type { Item } from "../../../core/question/content.ts";
import { HOUR_MS, MINUTE_MS, instant, later } from "../../../core/instant.ts";
import { cellsOf, styleFor } from "../../terminal/terminal.ts";
import { drawScreen } from "./screen-view.ts";
import type { QuestionCard } from "./next-state.ts";

const pen = { style: styleFor("off"), ahead: () => 0 };
const TUESDAY = instant(Date.parse("2026-11-17T08:48:00.000Z"));

const CACHE: Item = {
  id: "cache",
  text: "Redis or Memcached for the caching layer?",
  options: [
    { key: "A", value: "redis", label: "Redis", description: "adds redis:7, about 40 more minutes", recommended: true },
    { key: "B", value: "memcached", label: "Memcached", description: "no new service; pub/sub needs a second system" },
  ],
  multiple: false,
  allowText: true,
};
const CONTEXT =
  "Both are in the dependencies. Redis has pub/sub and persistence; Memcached is simpler and slightly faster for plain key-value caching.";

function caching(over: Partial<QuestionCard["read"]["question"]> = {}): QuestionCard {
  return aCard({
    items: [CACHE],
    context: CONTEXT,
    run: { repo: "acme/api", branch: "feature/add-caching", dir: "/work", agent: "claude" },
    question: {
      askedAt: later(TUESDAY, -2 * HOUR_MS),
      dueAt: later(TUESDAY, 29 * HOUR_MS + 12 * MINUTE_MS),
      onTimeout: { do: "default", answer: "redis" },
      confidence: 0.62,
      ...(over.status === undefined && over.risk ? { risk: over.risk } : {}),
    },
  });
}

function screen(scene: NextScene): string {
  return drawScreen(scene.state, pen)
    .lines.map((line) => line.trimEnd())
    .join("\n");
}

describe("the card", () => {
  test.each<[UsageRow, RegExp]>([
    [{ turns: 3 }, /Claude Code {3}cost unknown$/],
    [{ costUsd: 0 }, /Claude Code {3}\$0\.00$/],
  ])("says what is known of the cost: %j", (usage, shown) => {
    const card = caching();
    const scene = new NextScene([card]);
    scene.happens({ type: "counted", id: card.read.question.id, known: { usage } });
    expect(screen(scene).split("\n")[0]).toMatch(shown);
  });

  test("shows the question, its clock, why it matters, the choices and the keys", () => {
    const card = caching();
    const due = { ...card.read.question, dueAt: later(TUESDAY, 5 * HOUR_MS + 12 * MINUTE_MS) };
    const now = later(TUESDAY, 0);
    const scene = new NextScene([{ ...card, read: { ...card.read, question: due } }, aCard(), aCard()], { now });
    scene.happens({
      type: "counted",
      id: due.id,
      known: {
        usage: { turns: 12, inputTokens: 0, outputTokens: 0, costUsd: 0.45 },
        work: { added: 182, removed: 9 },
      },
    });
    expect(screen(scene)).toBe(`1 of 3   acme/api feature/add-caching   #42 add-caching   Claude Code   $0.45
Redis or Memcached for the caching layer?
waiting 2h, due Tue 14:00 (5h 12m), then uses Redis. Agent leans Redis, 62%.

Both are in the dependencies. Redis has pub/sub and persistence; Memcached
is simpler and slightly faster for plain key-value caching.

› 1 Redis  recommended   adds redis:7, about 40 more minutes
  2 Memcached            no new service; pub/sub needs a second system
  3 Write an answer

↵ answer  e editor  d diff +182 -9  m ask back  y you decide  h snooze  s skip  o browser  ? keys`);
  });

  test("names the day of a deadline that is not today's", () => {
    const scene = new NextScene([caching()], { now: TUESDAY });
    expect(screen(scene)).toContain("due Wed 14:00 (1d 5h), then uses Redis.");
  });

  test("counts what came since, and what was done", () => {
    const cards = [caching(), aCard(), aCard()];
    const scene = new NextScene(cards, { now: TUESDAY });
    scene.waits([...cards, aCard()]);
    expect(screen(scene)).toMatch(/^1 of 4 /);
    scene.type("s");
    expect(screen(scene)).toMatch(/^2 of 4 /);
  });

  test("of a high risk recommends nothing before somebody looked at the choices", () => {
    const scene = new NextScene([caching({ risk: "high" })], { now: TUESDAY });
    expect(screen(scene)).toContain("⚠ Redis or Memcached");
    expect(screen(scene)).not.toMatch(/recommended|leans|›/);
    scene.type("j");
    expect(screen(scene)).toContain("› 1 Redis  recommended");
    scene.press("enter");
    expect(screen(scene)).toContain("High risk. Type add-caching to confirm:");
  });

  test("makes visible what an agent hides in its words", () => {
    const item = anItem("Del\u202eete\x1b[2J?", ["Y\x07es"]);
    const scene = new NextScene([aCard({ items: [item], context: "a\u200bb" })]);
    const shown = screen(scene);
    expect(shown).toContain(String.raw`Del\u202eete\x1b[2J?`);
    expect(shown).toContain(String.raw`Y\x07es`);
    expect(shown).toContain(String.raw`a\u200bb`);
  });

  test("says who was first, and keeps what was written", () => {
    const card = caching();
    const scene = new NextScene([card], { now: TUESDAY });
    scene.type("rÜber den Cache");
    const { question } = card.read;
    const by = { scope: "human", id: "lena", channel: "slack", strength: "person" } as const;
    if (question.status !== "pending") throw new Error("it is pending");
    const answer = { ...answered(question).answer, items: { cache: { values: ["memcached"] } }, by };
    const shown = { ...card.read, question: { ...question, settling: { answer, until: NOON } } };
    scene.waits([], { shown });
    expect(screen(scene)).toContain(
      'lena (Slack) answered "Memcached" just now.\nYour text is kept:\nÜber den Cache\n\n↵ next  c copy  n send as a comment  q quit',
    );
  });

  test("lets nothing that is hostile reach the terminal", () => {
    const text = HOSTILE_TEXT;
    const option: Item["options"][number] = {
      key: "A",
      value: text,
      label: text,
      description: text,
      recommended: true,
    };
    const named = { name: text, repo: text, branch: text, agent: text };
    const items: Item[] = [{ id: "a", text, options: [option], multiple: true, allowText: true }];
    const scene = new NextScene([
      aCard({ items, context: text, run: named, question: { to: [text], confidence: 0.9 } }),
    ]);
    for (const keys of ["", "?", "?", "n", "\x1b", "r"]) {
      scene.type(keys);
      expect(findUnsafe(drawScreen(scene.state, pen).lines.join("\n"))).toBeUndefined();
      expect(screen(scene)).not.toMatch(/^FORGED/m);
    }
  });

  test("asks what it has to", () => {
    const scene = new NextScene([{ ...caching(), same: [aCard().read, aCard().read] }], { now: TUESDAY });
    expect(screen(scene)).toContain("3 runs ask this.");
    scene.press("enter");
    expect(screen(scene)).toContain("3 runs ask this. Answer all of them? [y/N]");
    scene.press("escape");
    scene.type("?");
    expect(screen(scene)).toContain("u       undo the last answer");
    scene.type("?y");
    expect(screen(scene)).toContain("Let the agent decide? ↵ yes, Esc no");
  });

  test("says at the end what was skipped, as long as it waits", () => {
    const cards = [aCard(), aCard()];
    const scene = new NextScene(cards, { isFollowing: true });
    scene.type("ss");
    expect(screen(scene)).toContain("Nothing else is waiting for you; you skipped 2 questions.");
    scene.waits([]);
    expect(screen(scene)).toContain("Nothing is waiting for you.");
  });

  test("shows the place of the cursor in what is written", () => {
    const scene = new NextScene([aCard({ items: [anItem("Name?", [])] })]);
    scene.type("\rab界\x1b[D");
    const { lines, cursor } = drawScreen(scene.state, pen);
    expect(lines[cursor?.row ?? 0]).toBe("› ab界");
    expect(cursor?.column).toBe(4);
  });

  test("scrolls a long context", () => {
    const context = Array.from({ length: 60 }, (_, index) => `line ${index + 1}`).join("\n");
    const scene = new NextScene([aCard({ context })]);
    expect(screen(scene)).toContain("line 1\n");
    expect(screen(scene)).toMatch(/… \d+ more lines: PgDn, or v for all/);
    for (let page = 0; page < 20; page += 1) scene.type("\x1b[6~");
    expect(screen(scene)).toContain("line 60\n… the end: PgUp goes back");
    expect(drawScreen(scene.state, pen).lines.length).toBeLessThanOrEqual(24);
  });
});

describe("every screen", () => {
  const long = aCard({
    items: [
      anItem(
        "Sollen wir die 界界界界 Tabelle wirklich umbenennen, oder bleibt alles wie es war?",
        ["Umbenennen", "Lassen"],
        { multiple: true },
      ),
      anItem("Why?", []),
    ],
    context: "Es gibt viele Gründe dafür und dagegen.\n".repeat(30),
    question: {
      comments: [
        { by: { scope: "human", id: "lena", channel: "web", strength: "local" }, at: NOON, text: "x".repeat(300) },
      ],
    },
  });
  const doings: Array<readonly [string, (scene: NextScene) => void]> = [
    ["choosing", () => undefined],
    ["writing", (scene) => scene.type(`r${"ein langer Satz ".repeat(30)}`)],
    ["a note", (scene) => scene.type("nkurz\rn")],
    ["the keys", (scene) => scene.type("?")],
    ["asking back", (scene) => scene.type("mwarum")],
    [
      "a refusal",
      (scene) => scene.happens({ type: "refused", text: "It does not fit, for many reasons. ".repeat(10) }),
    ],
    ["nothing", (scene) => scene.type("ss")],
  ];
  const sizes = [20, 33, 40, 80, 200].flatMap((columns) => [10, 24, 60].map((rows) => ({ columns, rows })));

  test.each(doings)("fits terminals of every size while %s", (_, doing) => {
    for (const size of sizes) {
      const scene = new NextScene([long, caching()], { size, now: TUESDAY });
      doing(scene);
      const { lines, cursor } = drawScreen(scene.state, pen);
      expect(lines.length).toBeLessThanOrEqual(size.rows);
      for (const line of lines) expect({ line, fits: cellsOf(line) <= size.columns }).toEqual({ line, fits: true });
      if (!cursor) continue;
      expect(cursor.row).toBeLessThan(lines.length);
      expect(cursor.column).toBeLessThan(size.columns);
    }
  });

  test("keeps the chosen row in sight on a small one", () => {
    const many = aCard({
      items: [
        anItem(
          "Which one of them?",
          Array.from({ length: 9 }, (_, index) => `Choice ${index + 1}`),
        ),
      ],
    });
    const scene = new NextScene([many], { size: { columns: 20, rows: 10 } });
    scene.type("9");
    expect(screen(scene)).toContain("›  9 Choice 9");
    scene.type("1");
    expect(screen(scene)).toContain("›  1 Choice 1");
  });
});
