import { expect, test } from "vitest";
import { Refusal } from "../../core/refusal.ts";
import { refusalWords } from "./refusal-words.ts";

const READER = { language: "en" } as const;

test.each([
  ['"tea" is not one of the options', undefined, "“tea” is not one of the options."],
  [
    '"tea" is not one of the options',
    "Choose one of: 1 Yes, 2 No",
    "“tea” is not one of the options. Choose one of: 1 Yes, 2 No.",
  ],
  ["It is over.", "Try again", "It is over. Try again."],
  ["It still waits", 'Answer it: askd answer 7 "…"', 'It still waits. Answer it: askd answer 7 "…"'],
  ["Name somebody: askd assign 7 lena", "Or wait", "Name somebody: askd assign 7 lena. Or wait."],
])("%j with the hint %j is whole sentences in English; commands stay as they are typed", (message, hint, words) => {
  expect(refusalWords(READER, new Refusal("bad_input", message, hint === undefined ? {} : { hint }))).toBe(words);
});
