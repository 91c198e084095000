import { describe, expect, test } from "vitest";
import { NextScene, aCard, anItem } from "../../../../test/next-card.ts";
import type { QuestionCard } from "./next-state.ts";
import { reduce } from "./reduce.ts";

const idOf = ({ read }: QuestionCard) => read.question.id;

describe("choosing", () => {
  test("a digit only selects, and Enter answers with what is selected", () => {
    const card = aCard();
    const scene = new NextScene([card]);
    scene.type("2");
    expect(scene.done()).toEqual([]);
    scene.press("enter");
    expect(scene.answer()).toMatchObject({
      ids: [idOf(card)],
      answer: { items: { "redis-or-memcached-": { values: ["memcached"] } } },
    });
  });

  test("starts at the recommended option, and moves by arrows and j and k within what there is", () => {
    const item = anItem("Which?", ["A1", "B2", "C3"]);
    const options = item.options.map((option, index) =>
      index === 1 ? { ...option, recommended: true as const } : option,
    );
    const scene = new NextScene([aCard({ items: [{ ...item, options, allowText: false }] })]);
    scene.press("enter");
    expect(scene.answer().answer.items).toEqual({ "which-": { values: ["b2"] } });
    const again = new NextScene([aCard({ items: [{ ...item, options, allowText: false }] })]);
    again.type("jjjkk\x1b[Bj");
    again.press("enter");
    expect(again.answer().answer.items).toEqual({ "which-": { values: ["c3"] } });
  });

  test("of several ticks each by space or digit, and Enter sends all of them", () => {
    const scene = new NextScene([aCard({ items: [anItem("Which?", ["TTL", "LRU", "LFU"], { multiple: true })] })]);
    scene.press("enter");
    expect(scene.state.message?.text).toContain("Nothing is ticked yet");
    scene.type(" jj 22");
    scene.press("enter");
    expect(scene.answer().answer.items).toEqual({ "which-": { values: ["ttl", "lfu"] } });
  });

  test("names an option by a word that names no other", () => {
    const item = anItem("Which letter?", ["B", "A"]);
    const options = item.options.map((option) => ({ ...option, value: option.label }));
    const scene = new NextScene([aCard({ items: [{ ...item, options }] })]);
    scene.press("enter");
    expect(scene.answer().answer.items).toEqual({ "which-letter-": { values: ["1"] } });
  });

  test("an approval with a change is written: the line starts with the command that was asked for", () => {
    const item = anItem("May it?", ["Allow", "Deny"], { allowText: false });
    const changed = { key: "C", value: "allow-changed", label: "Allow with a change" };
    const card = aCard({ items: [{ ...item, options: [...item.options, changed], change: "npm test" }] });
    const scene = new NextScene([card]);
    scene.type("3");
    scene.press("enter");
    expect(scene.done()).toEqual([]);
    scene.type(" -- x");
    scene.press("enter");
    expect(scene.answer().answer.items).toEqual({ "may-it-": { values: ["allow-changed"], text: "npm test -- x" } });
  });

  test("keys that mean nothing do nothing", () => {
    const scene = new NextScene([aCard()]);
    const before = scene.state;
    scene.type("zZ%9\x1b[99~");
    expect(scene.state).toEqual(before);
    expect(scene.done()).toEqual([]);
  });
});

describe("writing", () => {
  test("takes umlauts and pastes with line ends, and Enter sends them as they are", () => {
    const scene = new NextScene([aCard({ items: [anItem("Name?", [])] })]);
    scene.press("enter");
    scene.type("Größe: \x1b[200~a\r\n  b\x1b[201~!");
    scene.press("enter");
    expect(scene.answer().answer.items).toEqual({ "name-": { values: [], text: "Größe: a\n  b!" } });
  });

  test("is not lost by going back, and letters are no keys meanwhile", () => {
    const scene = new NextScene([aCard()]);
    scene.type("rquits");
    scene.press("escape");
    expect(scene.done()).toEqual([]);
    scene.type("r now");
    scene.press("enter");
    expect(scene.answer().answer.items).toEqual({ "redis-or-memcached-": { values: [], text: "quits now" } });
  });

  test("of nothing sends nothing", () => {
    const scene = new NextScene([aCard()]);
    scene.type("3\r  \r");
    expect(scene.done()).toEqual([]);
    expect(scene.state.message?.text).toContain("Write something first");
  });

  test("is refused where only options count", () => {
    const scene = new NextScene([aCard({ items: [anItem("Which?", ["A", "B"], { allowText: false })] })]);
    scene.type("r");
    expect(scene.state.mode.at).toBe("choose");
    expect(scene.state.message?.text).toBe("Only the options can be chosen here.");
  });

  test("in the editor comes back into the line, to be sent with Enter", () => {
    const scene = new NextScene([aCard()]);
    scene.type("e");
    expect(scene.done()).toMatchObject([{ do: "edit", text: "" }]);
    scene.happens({ type: "edited", text: "Both\nof them\n" });
    expect(scene.done()).toEqual([]);
    scene.press("enter");
    expect(scene.answer().answer.items).toEqual({ "redis-or-memcached-": { values: [], text: "Both\nof them" } });
  });
});

describe("a template", () => {
  const offer = (scene: NextScene, items: Record<string, { values: string[]; text?: string }>): void => {
    scene.type("t");
    scene.done();
    scene.happens({ type: "templates", templates: [{ name: "usual", says: "the usual", items, note: "as always" }] });
    scene.press("enter");
    expect(scene.done()).toEqual([]);
  };

  test("fills in a choice and a note, to be sent with Enter", () => {
    const scene = new NextScene([aCard()]);
    offer(scene, { "redis-or-memcached-": { values: ["memcached"] } });
    scene.press("enter");
    const items = { "redis-or-memcached-": { values: ["memcached"] } };
    expect(scene.answer().answer).toMatchObject({ items, note: "as always", template: "usual" });
  });

  test("fills in words, which can still be changed", () => {
    const scene = new NextScene([aCard()]);
    offer(scene, { "redis-or-memcached-": { values: [], text: "Run the tests" } });
    scene.type(" twice\r");
    expect(scene.answer().answer.items).toEqual({
      "redis-or-memcached-": { values: [], text: "Run the tests twice" },
    });
  });

  test("is not there where there is none", () => {
    const scene = new NextScene([aCard()]);
    scene.happens({ type: "templates", templates: [] });
    expect(scene.state.message?.text).toBe("No template fits. See all: askd template list");
  });
});

describe("several items", () => {
  test("come one after another, and all answers go out together", () => {
    const items = [
      anItem("Cache?", ["Redis", "None"]),
      anItem("How long?", []),
      anItem("Where?", ["eu", "us"], { multiple: true }),
    ];
    const scene = new NextScene([aCard({ items })]);
    scene.type("2\r");
    expect(scene.done()).toEqual([]);
    scene.type("1 h\r1\x1b[Z\r\r");
    expect(scene.state.draft.step).toBe(2);
    scene.press("enter");
    expect(scene.answer().answer.items).toEqual({
      "cache-": { values: ["none"] },
      "how-long-": { values: [], text: "1 h" },
      "where-": { values: ["eu"] },
    });
  });

  test("of a typed answer are asked field by field and checked", () => {
    const properties = {
      port: { type: "integer", minimum: 1 },
      tls: { type: "boolean" },
      name: { type: "string" },
    } as const;
    const item = anItem("Server?", [], {
      schema: { type: "object", properties: { ...properties }, required: ["port", "tls"] },
    });
    const scene = new NextScene([aCard({ items: [item] })]);
    scene.type("\rmany\r");
    expect(scene.state.message?.text).toContain("must be a number");
    scene.type("\x1580\r");
    scene.type("2\r");
    scene.type("\r");
    expect(scene.answer().answer.items).toEqual({ "server-": { values: [], text: '{"port":80,"tls":false}' } });
  });
});

describe("high risk", () => {
  const risky = { question: { risk: "high" as const } };

  test("has nothing selected at first", () => {
    const scene = new NextScene([aCard(risky)]);
    scene.press("enter");
    expect(scene.done()).toEqual([]);
    expect(scene.state.message?.text).toBe("Choose an answer first.");
  });

  test("has nothing selected after an undo either", () => {
    const card = aCard(risky);
    const scene = new NextScene([card]);
    scene.type("1");
    const { state } = reduce(scene.state, { type: "undone", card });
    expect(state.draft.picks.map(({ cursor, ticked }) => [cursor, ticked])).toEqual([[-1, []]]);
  });

  test("wants the word typed, and nothing is sent with another word", () => {
    const scene = new NextScene([aCard(risky)]);
    scene.type("1\ryes\r");
    expect(scene.done()).toEqual([]);
    scene.type("\x15add-caching\r");
    expect(scene.answer().answer).toMatchObject({
      confirmed: true,
      items: { "redis-or-memcached-": { values: ["redis"] } },
    });
  });

  test("leaves the choice to the agent only with the word", () => {
    const scene = new NextScene([aCard(risky)]);
    scene.type("y\r");
    expect(scene.state.mode).toMatchObject({ at: "write", what: "word" });
    scene.type("add-caching\r");
    expect(scene.answer().answer).toMatchObject({ outcome: "decide", confirmed: true });
  });
});

describe("other keys", () => {
  test("leave the choice to the agent, but never by one key", () => {
    const scene = new NextScene([aCard()]);
    scene.type("yy");
    expect(scene.done()).toEqual([]);
    scene.press("enter");
    expect(scene.answer().answer).toMatchObject({ outcome: "decide" });
  });

  test("ask back with words, where whoever asked can take that", () => {
    const scene = new NextScene([aCard()]);
    scene.type("m\rWhich load?\r");
    expect(scene.answer().answer).toMatchObject({ outcome: "clarify", note: "Which load?" });
    const script = new NextScene([aCard({ question: { accepts: ["answer"] } })]);
    script.type("my");
    expect(script.state.mode.at).toBe("choose");
    expect(script.done()).toEqual([]);
  });

  test("add a note, snooze, extend, claim, stop and show", () => {
    const card = aCard();
    const scene = new NextScene([card]);
    const back = (): void => scene.happens({ type: "done", text: "" });
    scene.type("nkeep it small\r\r");
    expect(scene.answer().answer.note).toBe("keep it small");
    back();
    scene.type("h\r");
    back();
    scene.type("+2h\r");
    back();
    scene.type("hsoon\r");
    expect(scene.state.message?.text).toContain("is not a duration");
    scene.press("escape");
    for (const key of ["c", "d", "v", "o", "t"]) {
      scene.type(key);
      back();
    }
    scene.type("xno\r");
    scene.type("xyes\r");
    const id = idOf(card);
    expect(scene.done()).toEqual([
      { do: "snooze", id, ms: 3_600_000 },
      { do: "extend", id, ms: 7_200_000 },
      { do: "claim", id },
      { do: "diff", id },
      { do: "view", id },
      { do: "browser", id },
      { do: "templates", id },
      { do: "stop", id },
    ]);
  });

  test("leave at once from everywhere", () => {
    for (const keys of ["", "r", "m", "y", "?", "x", "n", "h"]) {
      const scene = new NextScene([aCard()]);
      scene.type(`${keys}\x03`);
      expect(scene.done()).toEqual([{ do: "quit" }]);
    }
  });
});
