import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { howToAskByMarker } from "../../core/run/how-to-ask.ts";
import { type MarkerQuestion, MarkerScanner } from "./marker.ts";

const OPEN = "<<ASK_HUMAN>>";
const CLOSE = "<</ASK_HUMAN>>";
const mark = (json: string) => `${OPEN}\n${json}\n${CLOSE}`;

/** Lines as a log writes them, each at its own time. */
const times = (...lines: string[]) =>
  lines.map((line, index) => `2026-01-01T00:00:${9 + index}.${index}Z INFO ${line}`).join("\n");

/** Everything that is found in these pieces, and at their end. */
function scan(...pieces: string[]): MarkerQuestion[] {
  const scanner = new MarkerScanner();
  return [...pieces.flatMap((piece) => scanner.push(piece)), ...scanner.end()];
}

const questions = (marked: readonly MarkerQuestion[]) =>
  marked.flatMap((one) => (one.kind === "question" ? [one.input] : []));
const warnings = (marked: readonly MarkerQuestion[]) =>
  marked.flatMap((one) => (one.kind === "warning" ? [one.text] : []));

describe("a marked question", () => {
  test.each([
    ["as the document writes it", `<<GZA_QUESTION>>\n{"question": "A?"}\n<</GZA_QUESTION>>`, "A?"],
    ["on one line", `${OPEN} {"question":"A?"} ${CLOSE}`, "A?"],
    ["without spaces", `${OPEN}{"question":"A?"}${CLOSE}`, "A?"],
    ["amid prose", `I am stuck.\n${mark('{"question":"A?"}')}\nI stop.`, "A?"],
    ["after other brackets", `a << b <<< ${mark('{"question":"A?"}')}`, "A?"],
    ["after a bracket that touches it", `<${mark('{"question":"A?"}')}`, "A?"],
    ["that is the first of two", mark('{"question":"A?"}') + mark('{"question":"B?"}'), "A?"],
    ["that follows a broken one", mark("{nope}") + mark('{"question":"B?"}'), "B?"],
    ["that follows one without a question", mark('{"text":"x"}') + mark('{"question":"B?"}'), "B?"],
    ["that follows a mention", `With ${OPEN} I can ask. ${mark('{"question":"B?"}')}`, "B?"],
    ["that follows a cut one", `${OPEN} {"question":"A ${mark('{"question":"B?"}')}`, "B?"],
    ["that follows a cut one of the other kind", `<<GZA_QUESTION>> {"q ${mark('{"question":"B?"}')}`, "B?"],
    ["that speaks of markers", mark(`{"question":"Is ${OPEN} or ${CLOSE} right?"}`), `Is ${OPEN} or ${CLOSE} right?`],
    ["in colours", `\x1b[32m${OPEN}\x1b[0m\n\x1b[1;36m{"question": \x1b[0m"A?"}\n\x1b]0;title\x07${CLOSE}`, "A?"],
    ["with a colour inside of its marker", `<<\x1b[1mASK_HUMAN>>{"question":"A?"}<</ASK\x1b[0m_HUMAN>>`, "A?"],
    ["with a time before each line", times(OPEN, '{"question":', '  "A?"}', CLOSE), "A?"],
    ["with a time before each line and its end behind it", times(OPEN, `{"question":"A?"} ${CLOSE}`), "A?"],
    ["with a name before each line", `[api-1] ${OPEN}\n[api-1] {"question":"A?"}\n[api-1] ${CLOSE}`, "A?"],
    ["as a quotation", `> ${OPEN}\n> {"question":"A?"}\n> ${CLOSE}`, "A?"],
    ["with a fence inside", mark('```json\n{"question":"A?"}\n```'), "A?"],
    ["with a fence on one line", mark('```{"question":"A?"}```'), "A?"],
    ["with a comma before its end", mark('{"question":"A?",\n}'), "A?"],
    ["with a comma behind it", mark('{"question":"A?"},'), "A?"],
    ["with a line break in its text", mark('{"question":"A\nor B?"}'), "A\nor B?"],
    ["with a comma in its text", mark('{"question":"A,} or B,]?",}'), "A,} or B,]?"],
    ["inside of a JSON line", JSON.stringify({ level: 30, msg: mark('{"question":"A \\"or\\" B?"}') }), 'A "or" B?'],
    ["inside of a JSON line inside of another", JSON.stringify(JSON.stringify([mark('{"question":"A?"}')])), "A?"],
    ["as a JSON text", mark(JSON.stringify('{"question":"A?"}')), "A?"],
    ["that holds brackets", mark('{"question":"a <<b>> {c} d?"}'), "a <<b>> {c} d?"],
  ])("is found %s", (_, text, question) => {
    expect(questions(scan(text))).toEqual([{ question }]);
    expect(questions(scan(...text.split("")))).toEqual([{ question }]); // character by character
  });

  test("keeps its context and options", () => {
    const input = { question: "Redis or Memcached?", context: "Both are there.", options: ["Redis", "Memcached"] };
    expect(questions(scan(mark(JSON.stringify(input, undefined, 2))))).toEqual([input]);
  });

  test("is found wherever the words are cut", () => {
    const text = `Before < << ${mark('{"question":"Is < or << or <</ meant?"}')} after`;
    fc.assert(
      fc.property(fc.array(fc.nat({ max: text.length })), (cuts) => {
        const places = [0, ...cuts.toSorted((one, other) => one - other), text.length];
        const pieces = places.slice(1).map((end, index) => text.slice(places[index], end));
        expect(questions(scan(...pieces))).toEqual([{ question: "Is < or << or <</ meant?" }]);
      }),
      { seed: 1, numRuns: 300 },
    );
  });

  test("is told once, when its marker closes", () => {
    const scanner = new MarkerScanner();
    expect(scanner.push(`${OPEN} {"question":"A?"} <</ASK_HUMAN`)).toEqual([]);
    expect(scanner.push(">>")).toEqual([{ kind: "question", input: { question: "A?" } }]);
    expect(scanner.push(mark('{"question":"B?"}'))).toEqual([]);
    expect(scanner.end()).toEqual([]);
  });
});

describe("no question, and a warning,", () => {
  test.each([
    ["invalid JSON", mark("{question: A?}"), "valid JSON"],
    ["no JSON", mark("A or B?"), "valid JSON"],
    ["nothing", mark(""), "valid JSON"],
    ["a list", mark('["A?"]'), "valid JSON"],
    ["no question", mark('{"context":"x"}'), '"question"'],
    ["an empty question", mark('{"question":"  "}'), '"question"'],
    ["a question that is no text", mark('{"question":7}'), '"question"'],
    ["no closing marker", `${OPEN} {"question":"A?"}`, "not closed"],
    ["the closing marker of another", `${OPEN} {"question":"A?"} <</GZA_QUESTION>>`, "not closed"],
  ])("is found with %s", (_, text, part) => {
    const found = scan(text);
    expect(questions(found)).toEqual([]);
    expect(warnings(found)).toEqual([expect.stringContaining(part)]);
  });

  test("is found in a marker that is too long", () => {
    const found = scan(OPEN, '{"question":"', ..."x".repeat(3).split(""), "y".repeat(200_000), `"}${CLOSE}`);
    expect(questions(found)).toEqual([]);
    expect(warnings(found)).toEqual([expect.stringContaining("not closed within")]);
  });
});

test("the sample that teaches how to ask is no question", () => {
  expect(scan(howToAskByMarker())).toEqual([]);
});

test("a question at its limits is found", () => {
  const input = { question: "q".repeat(16 * 1024), context: "c".repeat(64 * 1024) };
  expect(questions(scan(mark(JSON.stringify(input))))).toEqual([input]);
});

test("a thousand broken markers give twenty warnings", () => {
  expect(warnings(scan(mark("{nope}").repeat(1000)))).toHaveLength(20);
});

/** Words that are made to be slow to search: 4 MB in small pieces. Quadratic search would take minutes. */
test.each([
  ["an unclosed marker", `${OPEN} {"question":"`, "x".repeat(64)],
  ["an unclosed marker that comes again and again", "", `${OPEN} {"a":"`],
  ["openings", "", OPEN],
  ["closings inside of a string", `${OPEN} {"question":"`, CLOSE],
  ["closings behind braces", `${OPEN} {"question":"`, `} ${CLOSE} ${OPEN}{`],
  ["the other kind inside", `${OPEN} {"a":"`, "<<GZA_QUESTION>>{}<</GZA_QUESTION>>"],
  ["brackets", "", "<".repeat(64)],
  ["pairs of brackets", "", "<< ".repeat(20)],
  ["spaces in an unclosed marker", OPEN, " ".repeat(64)],
  ["spaces and closings", `${OPEN}{`, `${" ".repeat(50)}${CLOSE}`],
  ["closings behind commas", `${OPEN} {"question":"`, `,${CLOSE}`],
  ["escape sequences", OPEN, "\x1b[1m\x1b]0;"],
  ["prefixes", OPEN, "1 2 3 x\n"],
  ["single characters", `${OPEN} {"question":"`, "x"],
])("words full of %s are searched in linear time", (_, start, piece) => {
  const scanner = new MarkerScanner();
  scanner.push(start);
  const count = Math.ceil((4 * 1024 * 1024) / piece.length);
  const startedAt = process.cpuUsage();
  for (let index = 0; index < count; index += 1) scanner.push(piece);
  const { user } = process.cpuUsage(startedAt);
  expect(user / 1e6).toBeLessThan(10);
});
