import { describe, expect, test } from "vitest";
import { ADA, NOON, answered } from "../../../test/builders.ts";
import { NextScene, aCard, anItem } from "../../../test/next-card.ts";
import { SECOND_MS, later } from "../../core/instant.ts";
import type { Card } from "./state.ts";

const idOf = ({ read }: Card) => read.question.id;
const LENA = { ...ADA, id: "lena", channel: "slack" };

function answerOf(scene: NextScene) {
  const [effect, ...more] = scene.done();
  expect(more).toEqual([]);
  if (effect?.do !== "answer") throw new Error(`nothing is answered, but ${JSON.stringify(effect)}`);
  return effect;
}

describe("choosing", () => {
  test("a digit only selects, and Enter answers with what is selected", () => {
    const card = aCard();
    const scene = new NextScene([card]);
    scene.type("2");
    expect(scene.done()).toEqual([]);
    scene.press("enter");
    expect(answerOf(scene)).toMatchObject({
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
    expect(answerOf(scene).answer.items).toEqual({ "which-": { values: ["b2"] } });
    const again = new NextScene([aCard({ items: [{ ...item, options, allowText: false }] })]);
    again.type("jjjkk\x1b[Bj");
    again.press("enter");
    expect(answerOf(again).answer.items).toEqual({ "which-": { values: ["c3"] } });
  });

  test("of several ticks each by space or digit, and Enter sends all of them", () => {
    const scene = new NextScene([aCard({ items: [anItem("Which?", ["TTL", "LRU", "LFU"], { multiple: true })] })]);
    scene.press("enter");
    expect(scene.state.message?.text).toContain("Nothing is ticked yet");
    scene.type(" jj 22");
    scene.press("enter");
    expect(answerOf(scene).answer.items).toEqual({ "which-": { values: ["ttl", "lfu"] } });
  });

  test("names an option by a word that names no other", () => {
    const item = anItem("Which letter?", ["B", "A"]);
    const options = item.options.map((option) => ({ ...option, value: option.label }));
    const scene = new NextScene([aCard({ items: [{ ...item, options }] })]);
    scene.press("enter");
    expect(answerOf(scene).answer.items).toEqual({ "which-letter-": { values: ["1"] } });
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
    expect(answerOf(scene).answer.items).toEqual({ "name-": { values: [], text: "Größe: a\n  b!" } });
  });

  test("is not lost by going back, and letters are no keys meanwhile", () => {
    const scene = new NextScene([aCard()]);
    scene.type("rquits");
    scene.press("escape");
    expect(scene.done()).toEqual([]);
    scene.type("r now");
    scene.press("enter");
    expect(answerOf(scene).answer.items).toEqual({ "redis-or-memcached-": { values: [], text: "quits now" } });
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
    expect(answerOf(scene).answer.items).toEqual({ "redis-or-memcached-": { values: [], text: "Both\nof them" } });
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
    expect(answerOf(scene).answer.items).toEqual({
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
    expect(answerOf(scene).answer.items).toEqual({ "server-": { values: [], text: '{"port":80,"tls":false}' } });
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

  test("wants the run's name typed, and nothing is sent with another word", () => {
    const scene = new NextScene([aCard(risky)]);
    scene.type("1\ryes\r");
    expect(scene.done()).toEqual([]);
    scene.type("\x15add-caching\r");
    expect(answerOf(scene).answer).toMatchObject({
      confirmed: true,
      items: { "redis-or-memcached-": { values: ["redis"] } },
    });
  });

  test("leaves the choice to the agent only with the word", () => {
    const scene = new NextScene([aCard(risky)]);
    scene.type("y\r");
    expect(scene.state.mode).toMatchObject({ at: "write", what: "word" });
    scene.type("add-caching\r");
    expect(answerOf(scene).answer).toMatchObject({ outcome: "decide", confirmed: true });
  });
});

describe("other keys", () => {
  test("leave the choice to the agent, but never by one key", () => {
    const scene = new NextScene([aCard()]);
    scene.type("yy");
    expect(scene.done()).toEqual([]);
    scene.press("enter");
    expect(answerOf(scene).answer).toMatchObject({ outcome: "decide" });
  });

  test("ask back with words, where whoever asked can take that", () => {
    const scene = new NextScene([aCard()]);
    scene.type("m\rWhich load?\r");
    expect(answerOf(scene).answer).toMatchObject({ outcome: "clarify", note: "Which load?" });
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
    expect(answerOf(scene).answer.note).toBe("keep it small");
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

describe("what waits", () => {
  const [first, second, third] = [aCard(), aCard(), aCard()];

  test("is offered one after another, and skipped questions are not offered again", () => {
    const scene = new NextScene([first, second, third]);
    scene.type("s");
    expect(scene.state.card).toEqual(second);
    scene.waits([first, second, third]);
    scene.happens({ type: "answered", ids: [idOf(second)], said: "Redis" });
    expect(scene.state.card).toEqual(third);
    scene.type("s");
    scene.done();
    scene.waits([first, third]);
    expect(scene.state.mode.at).toBe("empty");
    expect(scene.done()).toEqual([{ do: "quit" }]);
  });

  test("does not move what is read, and rings once for what is new", () => {
    const scene = new NextScene([second]);
    scene.type("rhalf a sen");
    scene.waits([first, second]);
    scene.waits([first, second]);
    expect(scene.state.card).toEqual(second);
    scene.type("tence\r");
    expect(scene.done()).toMatchObject([{ do: "bell" }, { do: "answer", ids: [idOf(second)] }]);
  });

  test("keeps what was begun while somebody looks at another one", () => {
    const scene = new NextScene([first, second]);
    scene.type("rnot yet\x1b");
    scene.press("escape");
    scene.type("s");
    scene.happens({ type: "undone", card: first });
    scene.type("r\r");
    expect(answerOf(scene).answer.items).toEqual({ "redis-or-memcached-": { values: [], text: "not yet" } });
  });

  test("ends when nothing is left and nothing can be taken back, or stays if asked to", () => {
    const scene = new NextScene([first]);
    scene.happens({ type: "answered", ids: [idOf(first)], said: "Redis", until: later(NOON, 5 * SECOND_MS) });
    scene.waits([], { now: later(NOON, SECOND_MS) });
    expect(scene.done()).toEqual([]);
    scene.type("u");
    expect(scene.done()).toEqual([{ do: "undo", ids: [idOf(first)] }]);
    scene.waits([], { now: later(NOON, 6 * SECOND_MS) });
    expect(scene.done()).toEqual([{ do: "quit" }]);
    const staying = new NextScene([], { isFollowing: true });
    staying.waits([]);
    expect(staying.done()).toEqual([]);
    staying.waits([first]);
    expect(staying.state.card).toEqual(first);
  });

  test("that asks the same for several runs is answered for all of them after a question", () => {
    const card = { ...first, same: [second.read, third.read] };
    const all = new NextScene([card]);
    all.type("1\r");
    expect(all.done()).toEqual([]);
    all.type("\r");
    expect(answerOf(all).ids).toEqual([idOf(first), idOf(second), idOf(third)]);
    const one = new NextScene([card]);
    one.type("1\rn");
    expect(answerOf(one).ids).toEqual([idOf(first)]);
  });
});

describe("somebody else", () => {
  const card = aCard();
  const lost = {
    ...card.read,
    question: {
      ...answered(card.read.question, "memcached"),
      answer: { ...answered(card.read.question, "memcached").answer, by: LENA },
    },
  };

  test("who answers first is told on the card, and what was typed is kept to be copied or sent", () => {
    const scene = new NextScene([card]);
    scene.type("rmy long words");
    scene.waits([], { shown: lost });
    expect(scene.state.mode.at).toBe("closed");
    scene.type("\r");
    const again = new NextScene([card]);
    again.type("rmy long words");
    again.waits([], { shown: lost });
    again.waits([], { shown: lost });
    again.type("cn");
    expect(again.done()).toEqual([
      { do: "copy", text: "my long words" },
      { do: "comment", id: idOf(card), text: "my long words" },
    ]);
    expect(scene.state.card).toBeUndefined();
  });

  test("does not disturb an answer that is on its way", () => {
    const scene = new NextScene([card]);
    scene.press("enter");
    scene.waits([], { shown: lost });
    expect(scene.state.mode.at).toBe("busy");
    scene.happens({ type: "refused", text: "already answered by lena" });
    scene.waits([], { shown: lost });
    expect(scene.state.mode.at).toBe("closed");
  });

  test("does not come when time ran out: it can still be answered where that is allowed", () => {
    const { question } = card.read;
    const late = {
      ...card.read,
      run: { ...card.read.run, status: "failed" as const, reason: "input_timeout", lastQuestionId: question.id },
      question: {
        ...question,
        status: "timeout" as const,
        timedOutAt: NOON,
        policy: "fail" as const,
        handover: { state: "void" as const, reason: "failed" },
      },
    };
    const scene = new NextScene([card]);
    scene.waits([], { shown: late });
    scene.type("f");
    scene.waits([], { shown: late });
    scene.type("1\r");
    expect(answerOf(scene).answer.force).toBe(true);
  });
});
