import { describe, expect, test } from "vitest";
import { ADA, NOON, answered } from "../../../../test/builders.ts";
import { NextScene, aCard } from "../../../../test/next-card.ts";
import { SECOND_MS, later } from "../../../core/instant.ts";
import type { QuestionCard } from "./next-state.ts";

const idOf = ({ read }: QuestionCard) => read.question.id;
const LENA = { ...ADA, id: "lena", channel: "slack" };

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
    expect(scene.answer().answer.items).toEqual({ "redis-or-memcached-": { values: [], text: "not yet" } });
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
    all.type("y");
    expect(all.answer().ids).toEqual([idOf(first), idOf(second), idOf(third)]);
    const one = new NextScene([card]);
    one.type("1\rn");
    expect(one.answer().ids).toEqual([idOf(first)]);
    const usual = new NextScene([card]);
    usual.type("1\r\r");
    expect(usual.answer().ids).toEqual([idOf(first)]);
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
    expect(scene.answer().answer.force).toBe(true);
  });
});
