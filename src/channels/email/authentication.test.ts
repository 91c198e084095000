import { describe, expect, test } from "vitest";
import { proveSender } from "./authentication.ts";
import { readHeaders } from "./mail-header.ts";

const RECEIVED = "Received: from x by mx.example.com (Postfix) with ESMTPS id 1; Mon, 16 Nov 2026 15:12:09 +0000";
const LMTP = "Received: from mx.example.com by mail with LMTP id 2; Mon, 16 Nov 2026 15:12:10 +0000";
const PASS = "Authentication-Results: mx.example.com; dmarc=pass (p=reject) header.from=example.org";
const FAIL = "Authentication-Results: mx.example.com; dmarc=fail header.from=example.org";

/** The line of the server itself, in which the sender's own words stand. */
function received(words: { helo?: string; from?: string }) {
  const { helo = "x", from = "a@evil.example" } = words;
  return `Received: from ${helo} (unknown [192.0.2.1]) by mx.example.com with ESMTPS (Exim 4.96) (envelope-from <${from}>) id 1; Mon, 16 Nov 2026 15:12:09 +0000`;
}

function prove(lines: readonly string[], over: { authserv?: string; removesForgedResults?: boolean } = {}) {
  const settings = { authserv: "mx.example.com", removesForgedResults: false, ...over };
  return proveSender(readHeaders(`${lines.join("\r\n")}\r\n\r\nA`), "example.org", settings);
}

describe("a sender is proven only by the configured server", () => {
  test.each([
    ["above the line with which it was received", [PASS, RECEIVED], "pass"],
    ["after it was handed to the mailbox", [LMTP, PASS, RECEIVED], "pass"],
    [
      "by an aligned signature",
      ["Authentication-Results: mx.example.com; dkim=pass header.d=example.org", RECEIVED],
      "pass",
    ],
    [
      "after it was handed to the mailbox with its sender",
      [
        "Received: from mx.example.com ([127.0.0.1]) by mail (Dovecot) with LMTP id 2 (envelope-from <a@example.org>); Mon",
        PASS,
        RECEIVED,
      ],
      "pass",
    ],
    ["not below that line, where the sender can write", [RECEIVED, PASS], "none"],
    ["not below the hand-over and the line", [LMTP, RECEIVED, PASS], "none"],
    ["not without any line", [PASS], "none"],
    [
      "not below a line that speaks of a hand-over in a quoted address",
      [received({ from: '"x with LMTP y"@evil.example' }), PASS, RECEIVED],
      "none",
    ],
    [
      "not below a line that speaks of a hand-over in an address which ends the comment",
      [received({ from: '"x) with LMTP (y"@evil.example' }), PASS, RECEIVED],
      "none",
    ],
    [
      "not below a line that speaks of a hand-over in the sender's name for itself",
      [received({ helo: "x with local" }), PASS, RECEIVED],
      "none",
    ],
    [
      "not below a line in which the sender's words hide the protocol",
      [received({ helo: "x with LMTP (", from: '"y)"@evil.example' }), PASS, RECEIVED],
      "none",
    ],
    ["not by another server", [PASS.replace("mx.example.com", "mx.evil.example"), RECEIVED], "none"],
    ["not by a name that only begins alike", [PASS.replace("mx.example.com", "mx.example.com.evil"), RECEIVED], "none"],
    [
      "not in a comment",
      ["Authentication-Results: mx.example.com; spf=none (dmarc=pass header.from=example.org)", RECEIVED],
      "none",
    ],
    [
      "not in a comment in a comment",
      ["Authentication-Results: mx.example.com; spf=none (a (b) ; dmarc=pass header.from=example.org)", RECEIVED],
      "none",
    ],
    [
      "not in quotation marks",
      ['Authentication-Results: mx.example.com; spf=none reason="x; dmarc=pass header.from=example.org"', RECEIVED],
      "none",
    ],
    ["not for another domain", [PASS.replace("example.org", "evil.example"), RECEIVED], "none"],
    [
      "not by the signature of another domain",
      ["Authentication-Results: mx.example.com; dkim=pass header.d=evil.example", RECEIVED],
      "none",
    ],
    [
      "not by the signature of all domains",
      ["Authentication-Results: mx.example.com; dkim=pass header.d=org", RECEIVED],
      "none",
    ],
    ["not if it failed", [FAIL, RECEIVED], "fail"],
    [
      "not if both path and signature failed and nothing is said of DMARC",
      ["Authentication-Results: mx.example.com; spf=fail smtp.mailfrom=a@example.org; dkim=fail", RECEIVED],
      "fail",
    ],
    [
      "not if only the path failed, as where a mail was forwarded",
      ["Authentication-Results: mx.example.com; spf=fail; dkim=none", RECEIVED],
      "none",
    ],
    ["not if it failed and the sender says otherwise", [FAIL, RECEIVED, PASS], "fail"],
    ["not if it failed once and passed once", [PASS, FAIL, RECEIVED], "fail"],
  ])("%s", (_name, lines, expected) => {
    expect(prove(lines)).toBe(expected);
  });

  test("below the line where the server removes what others wrote in its name", () => {
    expect(prove([RECEIVED, PASS], { removesForgedResults: true })).toBe("pass");
  });

  test("not at all where no server is configured", () => {
    expect(prove([PASS, RECEIVED], { authserv: undefined as never })).toBe("none");
  });
});
