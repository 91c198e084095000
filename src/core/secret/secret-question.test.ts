import { readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { describe, expect, test } from "vitest";
import { parseAsk } from "../question/ask-input.ts";
import { instant } from "../instant.ts";
import { Refusal } from "../refusal.ts";
import { DEFAULT_LIMITS, DEFAULT_RULES } from "../rules.ts";

const FIXTURES = new URL("../../../test/fixtures/secret-questions/", import.meta.url);
const LEAST_RECALL = 0.95;
const MOST_FALSE = 0.02;

type Corpus = "asks-for-secret" | "ordinary";

/** Each line is an ask; a text alone is its question. */
function readCorpus(corpus: Corpus, half: "develop" | "held-out"): object[] {
  const lines = readFileSync(new URL(`${corpus}.${half}.jsonl`, FIXTURES), "utf8")
    .trim()
    .split("\n");
  return lines.map((line) => {
    const ask: unknown = JSON.parse(line);
    return typeof ask === "string" ? { question: ask } : (ask as object);
  });
}

function isRefused(ask: object): boolean {
  try {
    parseAsk(ask, { via: "mcp" }, DEFAULT_RULES, instant(0));
    return false;
  } catch (error) {
    if (error instanceof Refusal && error.code === "asks_for_secret") return true;
    throw error;
  }
}

function refusedShare(asks: readonly object[]): number {
  return asks.filter(isRefused).length / asks.length;
}

describe("questions that ask for a password, key or token", () => {
  test("the corpora are as large as the promise needs", () => {
    const count = (corpus: Corpus): number =>
      readCorpus(corpus, "develop").length + readCorpus(corpus, "held-out").length;
    expect(count("asks-for-secret")).toBeGreaterThanOrEqual(150);
    expect(count("ordinary")).toBeGreaterThanOrEqual(300);
  });

  // The held-out half was written before the check and is never used to change it.
  test.each(["develop", "held-out"] as const)("of those in the %s half at least 95 percent are refused", (half) => {
    expect(refusedShare(readCorpus("asks-for-secret", half))).toBeGreaterThanOrEqual(LEAST_RECALL);
  });

  test.each(["develop", "held-out"] as const)(
    "of ordinary questions in the %s half at most 2 percent are refused",
    (half) => {
      expect(refusedShare(readCorpus("ordinary", half))).toBeLessThanOrEqual(MOST_FALSE);
    },
  );

  test("the refusal says what to ask instead", () => {
    expect(() => parseAsk({ question: "DB password?" }, { via: "mcp" }, DEFAULT_RULES, instant(0))).toThrow(
      expect.objectContaining({
        code: "asks_for_secret",
        hint: "Ask the person to put it into the environment or a secret store, and ask only whether that is done",
      }),
    );
  });

  test.each([
    { header: "Password", question: "Please enter it." },
    { question: "Go on?", placeholder: "Paste the token here" },
    { question: "How do we go on?", options: ["Skip", "I'll paste the token here"] },
    { question: "How?", options: [{ label: "Yours", description: "Type your password as the answer" }] },
    { question: "How do we go on?", context: "Please send me the password of the database." },
    { items: [{ text: "Host?" }, { text: "Password?" }] },
    { question: "Please provide the following:\n- host name\n- database password" },
    { question: "Ple\u00adase e\u200bnter your pass\u00adword" },
  ])("no part of an ask gets around it: %j", (ask) => {
    expect(isRefused(ask)).toBe(true);
  });

  test("the arguments of a tool that waits for approval are shown, not said", () => {
    const input = { command: 'read -s -p "Please enter your password here: "' };
    expect(isRefused({ kind: "approval", tool: { name: "Bash", input } })).toBe(false);
  });
});

describe("the check takes no longer than the text is long", () => {
  const most = DEFAULT_LIMITS.contextBytes;
  const fill = (text: string): string => text.repeat(Math.floor(most / Buffer.byteLength(text)));
  test.each([
    ["verbs", fill("and paste ")],
    ["requests", fill("can you please ")],
    ["secrets", fill("token ")],
    ["commas", fill("paste it, ")],
    ["quotes", fill('"')],
    ["open quotes", fill('"a ')],
    ["dashes", fill(" -")],
    ["hyphens", fill("a-")],
    ["underscores", fill("_token")],
    ["line breaks", fill("- \n")],
    ["spaces", `.${fill(" ").slice(2)}x`],
    ["characters that become many", fill("\ufdfa")],
  ])("%s", (_, context) => {
    const begin = performance.now();
    isRefused({ question: "Go on?", context });
    // One pass takes a few milliseconds; the square of the length would take minutes.
    expect(performance.now() - begin).toBeLessThan(2_000);
  });
});
