import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cleanFiles, measureClean, measureRecall } from "../../../test/redaction.ts";
import { SECRET_FORMS } from "./secret-form.ts";
import { redact } from "./redact.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

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
    ['$apiToken .= "e4ztsveawrjimr4"', '$apiToken .= "[redacted]"'],
    ["birdToken=mrwaootfofim957g8maukfolt", "birdToken=[redacted]"],
    [`sonar_token: '${"12345678ABCDEFH".repeat(2)}123'`, "sonar_token: '[redacted]'"],
    ['sumo_access_id = "sug5XpdpaoxtOH"', 'sumo_access_id = "[redacted]"'],
    [`sourcegraph: ${"6d2FabeB6A".repeat(4)}`, "sourcegraph: [redacted]"],
    ["https://cafeb4b3:d3adb33f@gems.example.org/", "https://[redacted]@gems.example.org/"],
    ["postgresql://ada:Nw|4(y0<Xa[1@db.example.org/app", "postgresql://ada:[redacted]@db.example.org/app"],
    [`mysql://ada:Nw"4y0Xa1@db/app`, "mysql://ada:[redacted]@db/app"],
    [`dapi${"9F".repeat(16)}`, "[redacted]"],
  ])("%s", (text, clean) => {
    expect(redact(text, [])).toBe(clean);
  });
});

test.each(measureRecall([7]))("at least 98 of 100 made-up secrets are taken out: $group", ({ samples, missed }) => {
  expect(samples).toBeGreaterThan(60);
  expect(missed.slice(0, Math.max(0, missed.length - Math.floor(samples * 0.02)))).toEqual([]);
});

test("the forms of at least 120 providers are known", () => {
  expect(new Set(SECRET_FORMS.map(([provider]) => provider)).size).toBeGreaterThanOrEqual(120);
});

test("of lines without secrets at most one in 200 is changed", () => {
  const files = [
    ...cleanFiles(join(ROOT, "src"), 150),
    ...cleanFiles(join(ROOT, "docs"), 20),
    join(ROOT, "package-lock.json"),
  ];
  const { lines, redacted } = measureClean(files);
  expect(lines).toBeGreaterThan(10_000);
  expect(redacted.length / lines).toBeLessThan(0.005);
});

test("what is redacted stays as it is when it is redacted again", () => {
  const text = 'password="[redacted]" token: [redacted] https://ada:[redacted]@db/app Bearer [redacted]';
  expect(redact(text, [])).toBe(text);
});

test.each(["%", "%0", "\\", "\\u", "\\u00", "\\x", "&", "&#", "&#x1"])(
  "a known secret is taken out where %s before it makes an escape of its first letters",
  (before) => {
    for (const secret of ["00  00000A", "n0wsecret9", "0041;abcdefgh", "amp;passw0rd"])
      expect(redact(`${before}${secret}`, [secret])).not.toContain(secret);
  },
);

test("a value that is known to be secret is taken out wherever it stands", () => {
  const unit = fc.constantFrom(...Array.from("%&\\#;ux0n1Aa "));
  const text = fc.string({ unit });
  fc.assert(
    fc.property(fc.string({ unit, minLength: 8 }), text, text, (secret, before, after) => {
      expect(redact(`${before}${secret}${after}`, [secret])).not.toContain(secret);
    }),
    { numRuns: 2_000 },
  );
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
  `"integrity": "sha512-${ALNUM}${ALNUM}=="`,
  "The question is q_01jcs7z0aa9m2xmn8pqrstvwxy, key of the run r_01jcs7z0aa9m2xmn8pqrstvwxy",
  "if (typeof this.password === 'function') return options?.authInfo",
  '{"db":"postgres://localhost:5432","mail":"ada@example.org"}',
  '{"db":"mongodb://localhost","mail":"ada@example.org"}',
  "redis://localhost:6379/0?owner=ada@example.org",
  "postgres://<user>:<password>@<host>/app",
  "max_tokens: 4096, primaryKey: 'user_id_2', keyCode: 'ArrowDown'",
])("clean text stays as it is: %s", (text) => {
  expect(redact(text, [])).toBe(text);
});

test("patterns of one's own are taken out as well, everywhere", () => {
  expect(redact("CUST-12 and CUST-3456, not CUST-x", [], [/CUST-\d+/gu])).toBe("[redacted] and [redacted], not CUST-x");
});

test.each([
  "eyJ",
  "://a:",
  "password=",
  "-----BEGIN PRIVATE KEY-----",
  "sk-",
  "Bearer ",
  "a-key-",
  "key:",
  'key="',
  "aB3dE5fG7h",
  "M1.",
  "%3D",
  "a".repeat(50),
])("twice as much of %j takes about twice the work, not four times", (unit) => {
  const text = unit.repeat(Math.ceil(200_000 / unit.length));
  const best = (size: number) =>
    Math.min(...Array.from({ length: 5 }, () => cpuMsOf(() => redact(text.slice(0, size), []))));
  best(50_000);
  expect(best(200_000)).toBeLessThan(20 * Math.max(best(50_000), 1));
});

/** Time on the processor: what else the machine does meanwhile does not count. */
function cpuMsOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
