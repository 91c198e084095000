import { describe, expect, test } from "vitest";
import { ADA } from "../../../test/builders.ts";
import { Scene } from "../../../test/scene.ts";
import { post } from "./post.ts";
import { isDenied } from "./public-address.ts";

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
    "::ffff:0:7f00:1",
    "::ffff:0:127.0.0.1",
    "::ffff:0:a00:1",
    "::7f01",
    "64:ff9b:1::7f00:1",
    "64:ff9b:1:7f00:0:100::",
    "2001:0:7f00:1:8000:63bf:f7f7:f7f7",
    "2001:470::5efe:7f00:1",
    "2001:470::200:5efe:a00:1",
    "2001:db8::1",
    "3fff::1",
    "fe80::1%eth0",
    "4000::1",
    "100::1",
  ])("%s", (address) => {
    expect(isDenied(address, STRICT)).toBe(true);
  });

  test.each([
    "1.1.1.1",
    "93.184.216.34",
    "172.32.0.1",
    "2606:4700::1111",
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
    "::ffff:0:808:808",
    "2002:808:808::1",
  ])("a public one is not: %s", (address) => {
    expect(isDenied(address, STRICT)).toBe(false);
  });
});

test.each([
  "https://127.0.0.1/",
  "https://127.1/",
  "https://2130706433/",
  "https://0x7f000001/",
  "https://[::ffff:7f00:1]/",
  "https://localhost/",
  "https://localhost./",
  "https://x.localhost/",
  "https://127.0.0.1./",
  "https://0177.0.0.1/",
  "https://[::ffff:0:7f00:1]/",
  "http://93.184.216.34/",
])("nothing is sent to %s", async (url) => {
  const posted = await post(url, { body: "{}", headers: {} }, STRICT);
  expect(posted).toMatchObject({ ok: false, isFinal: true });
});

test.each([
  "https://[::ffff:0:7f00:1]/",
  "https://10.0.0.1/hook",
  "https://2130706433/",
  "https://localhost./",
  "http://example.com/",
])("a callback to %s is refused when it is asked for, and nothing is kept", async (url) => {
  const scene = new Scene({ rules: { callbackLoopback: false } });
  const callback = { url, secret: `whsec_${Buffer.alloc(24, 7).toString("base64")}` };
  await expect(scene.engine.ask(scene.input(), ADA, { run: { callback } })).rejects.toMatchObject({
    code: "bad_input",
  });
  await expect(scene.engine.createRun({ name: "x", callback }, ADA)).rejects.toMatchObject({ code: "bad_input" });
  expect(await scene.engine.listRuns({ order: "newest", limit: 1 })).toEqual([]);
  const open = { url: "https://example.com/hook", secret: callback.secret };
  expect((await scene.engine.createRun({ name: "x", callback: open }, ADA)).giveBack).toBe("callback");
});
