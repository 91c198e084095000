import { expect, test } from "vitest";
import { wordToType } from "./risk-word.ts";

test.each([
  ["Drop the legacy users_v1 table?", "users_v1"],
  ["Delete `prod` now?", "prod"],
  ["Push to main/release?", "main/release"],
  ["Delete everything?", "cleanup"],
  ["Delete `pr\u200bod` now?", "cleanup"],
])("%s is confirmed by %s", (title, word) => {
  expect(wordToType(title, " cleanup ")).toBe(word);
});
