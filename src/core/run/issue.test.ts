import { expect, test } from "vitest";
import { parseIssue } from "./issue.ts";

test.each([
  ["12", { number: 12 }],
  ["#12", { number: 12 }],
  ["acme/api#12", { repo: "acme/api", number: 12 }],
  ["https://github.com/acme/api/issues/12", { repo: "acme/api", number: 12 }],
  ["https://github.example.com/acme/api/pull/12/files#x", { repo: "acme/api", number: 12 }],
])("%s names an issue", (text, issue) => {
  expect(parseIssue(text)).toEqual(issue);
});

test.each(["", "0", "acme#12", "acme/api", "acme/api/x#12", "https://github.com/acme/api", "12 or 13"])(
  "%j names none",
  (text) => {
    expect(() => parseIssue(text)).toThrow("names no issue");
  },
);
