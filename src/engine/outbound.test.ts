import { describe, expect, test } from "vitest";
import { isDenied, post } from "./outbound.ts";

const STRICT = { allowLoopback: false };

describe("an address inside is denied in every form", () => {
  test.each([
    "127.0.0.1",
    "127.8.8.8",
    "10.1.2.3",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "255.255.255.255",
    "::1",
    "::",
    "fe80::1",
    "fc00::1",
    "fd12:3456::1",
    "ff02::1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "64:ff9b::7f00:1",
    "64:ff9b::10.0.0.1",
    "2002:7f00:1::",
    "2002:0a00:0001::1",
    "2001:0:4136:e378:8000:63bf:80ff:fffe",
    "::127.0.0.1",
  ])("%s", (address) => {
    expect(isDenied(address, STRICT)).toBe(true);
  });

  test.each(["1.1.1.1", "93.184.216.34", "172.32.0.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])(
    "a public one is not: %s",
    (address) => {
      expect(isDenied(address, STRICT)).toBe(false);
    },
  );
});

test.each([
  "https://127.0.0.1/",
  "https://127.1/",
  "https://2130706433/",
  "https://0x7f000001/",
  "https://[::ffff:7f00:1]/",
  "https://localhost/",
  "http://93.184.216.34/",
])("nothing is sent to %s", async (url) => {
  const posted = await post(url, { body: "{}", headers: {} }, STRICT);
  expect(posted).toMatchObject({ ok: false, isFinal: true });
});
