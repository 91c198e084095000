import { expect, test } from "vitest";
import { neutraliseMentions } from "./mention.ts";

test.each(["@everyone", "@ada look", "<!channel>", "<@U123>", "<#C1>", "fixes #12", "acme/api#7", "a@b.example"])(
  "%j mentions nobody, and reads the same",
  (text) => {
    const neutral = neutraliseMentions(text);
    expect(neutral).not.toMatch(/@\w|<[!@#]|#\d/);
    expect(neutral.replaceAll("\u2060", "")).toBe(text);
  },
);
