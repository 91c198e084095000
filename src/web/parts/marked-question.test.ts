import { expect, test } from "vitest";
import { type LogEntry, withMarkedQuestions } from "./log.tsx";

const text = (...lines: string[]): LogEntry[] => lines.map((line) => ({ kind: "text", text: line }));
const ask: LogEntry = { kind: "ask", text: "A or B?" };
const MARKED = '<<ASK_HUMAN>> {"question": "A or B?", "options": ["A", "B"]} <</ASK_HUMAN>>';

test("a question in its marker is shown as a question, on one line or several, amid prose", () => {
  expect(withMarkedQuestions(text("Before", MARKED, "after"))).toEqual([...text("Before"), ask, ...text("after")]);
  expect(withMarkedQuestions(text(`I stop. ${MARKED} Bye.`))).toEqual([...text("I stop."), ask, ...text("Bye.")]);
  expect(withMarkedQuestions(text("<<GZA_QUESTION>>", "{", '"question": "A or B?"', "}", "<</GZA_QUESTION>>"))).toEqual(
    [ask],
  );
});

test("what is no question stays as it was written", () => {
  const others: LogEntry[][] = [
    text("With <<ASK_HUMAN>> I can ask.", "Done."),
    text("<<ASK_HUMAN>> {nope} <</ASK_HUMAN>>"),
    text('<<ASK_HUMAN>> {"question": " "} <</ASK_HUMAN>>'),
    [{ kind: "result", text: MARKED }],
    [...text("<<ASK_HUMAN>>"), { kind: "call", text: "Edit" }, ...text('{"question": "A?"} <</ASK_HUMAN>>')],
  ];
  for (const entries of others) expect(withMarkedQuestions(entries)).toEqual(entries);
});
