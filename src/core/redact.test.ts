import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { redact } from "./redact.ts";

const ALNUM = "Ab3dEf6hIj9lMn2pQr5tUv8xYz1cDe4gHi7kLm0o";

describe("well-known keys are taken out", () => {
  test.each([
    ["AWS", "AKIAIOSFODNN7EXAMPLE"],
    ["GitHub", `ghp_${ALNUM.slice(0, 36)}`],
    ["GitHub fine-grained", `github_pat_${ALNUM}${ALNUM}`],
    ["GitLab", `glpat-${ALNUM.slice(0, 20)}`],
    ["Anthropic", `sk-ant-api03-${ALNUM}${ALNUM}`],
    ["OpenAI", `sk-proj-${ALNUM}`],
    ["Slack", `xoxb-1234567890-${ALNUM.slice(0, 24)}`],
    ["Google", `AIza${ALNUM.slice(0, 35)}`],
    ["npm", `npm_${ALNUM.slice(0, 36)}`],
    ["Stripe", `sk_live_${ALNUM.slice(0, 24)}`],
    ["JWT", `eyJ${ALNUM}.${ALNUM}.${ALNUM}`],
    ["Hugging Face", `hf_${ALNUM.slice(0, 34)}`],
    ["a private key", `-----BEGIN RSA PRIVATE KEY-----\n${ALNUM}\n-----END RSA PRIVATE KEY-----`],
  ])("%s", (_, secret) => {
    expect(redact(`before ${secret} after`, [])).toBe("before [redacted] after");
  });

  test.each([
    ["postgres://ada:s3cr3tpw@db/app", "postgres://ada:[redacted]@db/app"],
    ['password = "hunter2-hunter3"', 'password = "[redacted]"'],
    ["DB_PASSWORD=Zx9!kQ2mPw", "DB_PASSWORD=[redacted]"],
    ["Authorization: Bearer abcDEF123456ghiJKL", "Authorization: Bearer [redacted]"],
  ])("%s", (text, clean) => {
    expect(redact(text, [])).toBe(clean);
  });
});

test("a value that is known to be secret is taken out wherever it stands", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 8, maxLength: 40 }), fc.string(), fc.string(), (secret, before, after) => {
      expect(redact(`${before}${secret}${after}`, [secret])).not.toContain(secret);
    }),
  );
});

test.each([
  "Should the API use JWT tokens or session cookies?",
  "The token bucket allows 10 requests; the key is the user's id.",
  "password: string; // the type of the field",
  "const token = process.env.TOKEN",
  "secret=${SECRET}",
  "See https://example.org:8080/path?x=1",
  "git commit 3f786850e387550fdab836ed7e6dc881de23001b",
])("clean text stays as it is: %s", (text) => {
  expect(redact(text, [])).toBe(text);
});

test("patterns of one's own are taken out as well, everywhere", () => {
  expect(redact("CUST-12 and CUST-3456, not CUST-x", [], [/CUST-\d+/gu])).toBe("[redacted] and [redacted], not CUST-x");
});

test.each(["eyJ", "://a:", "password=", "-----BEGIN PRIVATE KEY-----", "sk-", "Bearer ", "a-key-", "a".repeat(50)])(
  "twice as much of %j takes about twice the time, not four times",
  (unit) => {
    const text = unit.repeat(Math.ceil(200_000 / unit.length));
    const best = (size: number) =>
      Math.min(...Array.from({ length: 5 }, () => timed(() => redact(text.slice(0, size), []))));
    best(50_000);
    expect(best(200_000)).toBeLessThan(20 * Math.max(best(50_000), 1));
  },
);

function timed(work: () => void): number {
  const started = performance.now();
  work();
  return performance.now() - started;
}
