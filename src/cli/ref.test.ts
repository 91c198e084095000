import { expect, test } from "vitest";
import { Refusal } from "../core/refusal.ts";
import { parseRef } from "./find-target.ts";

const id = "q_01jcs7z0aa7k3fmn8pqrstvwxy";

test("a whole id names one thing first of all", () => {
  expect(parseRef(id)).toEqual([{ by: "question", id }]);
  expect(parseRef(id.toUpperCase())[0]).toEqual({ by: "question", id });
  expect(parseRef(id.replace("q_", "r_"))[0]).toEqual({ by: "run", id: id.replace("q_", "r_") });
});

test("a shown id is a prefix of the random part", () => {
  expect(parseRef("q-7k3f")).toEqual([{ by: "short", text: "7k3f", only: "question" }]);
  expect(parseRef("q_7K3F")).toEqual([{ by: "short", text: "7k3f", only: "question" }]);
  expect(parseRef("r-9m2x").at(-1)).toEqual({ by: "short", text: "9m2x", only: "run" });
});

test("letters that ids do not use are read as the digits they look like", () => {
  expect(parseRef("q-Ol3f")).toEqual([{ by: "short", text: "013f", only: "question" }]);
});

test("a number is a run, and only then something else", () => {
  expect(parseRef("#42")).toEqual([{ by: "number", number: 42 }]);
  expect(parseRef("42").map((lookup) => lookup.by)).toEqual(["number", "external", "name", "session"]);
});

test("a word is an exact name before it is a prefix", () => {
  expect(parseRef("tm-abc")).toEqual([
    { by: "external", text: "tm-abc" },
    { by: "name", text: "tm-abc" },
    { by: "session", text: "tm-abc" },
  ]);
  expect(parseRef("7k3f").at(-1)).toEqual({ by: "short", text: "7k3f" });
});

test.each(["6", "1234", "k", "7k3"])("without its mark %s is no prefix of an id", (text) => {
  expect(parseRef(text).filter(({ by }) => by === "short")).toEqual([]);
  expect(parseRef(`q-${text}`)).toEqual([{ by: "short", text, only: "question" }]);
});

test("a pasted address names what its path names", () => {
  expect(parseRef("http://127.0.0.1:4319/q/7k3f")).toEqual(parseRef("q-7k3f"));
  expect(parseRef(`https://askd.example/app/questions/${id}?tab=diff#top`)).toEqual(parseRef(id));
  expect(parseRef("http://127.0.0.1:4319/runs/42")).toEqual(parseRef("42"));
  expect(parseRef("http://127.0.0.1:4319/runs/tm%2Dabc")).toEqual(parseRef("tm-abc"));
  expect(parseRef("http://127.0.0.1:4319/runs/100%")[0]).toEqual({ by: "external", text: "100%" });
});

test("a dash is the only question that waits", () => {
  expect(parseRef("-")).toEqual([{ by: "only" }]);
});

test.each(["", "  ", "http://127.0.0.1:4319/settings", "http://", "x".repeat(3000)])("%j is refused", (text) => {
  expect(() => parseRef(text)).toThrow(Refusal);
});
