import { expect, test } from "vitest";
import { getMailProvider } from "./mail-provider.ts";

test("the servers of a known provider need not be named", () => {
  expect(getMailProvider("ada@Gmail.com", {})).toMatchObject({
    smtp: { host: "smtp.gmail.com", port: 465 },
    imap: { host: "imap.gmail.com", port: 993 },
    authserv: "mx.google.com",
    removesForged: true,
    hasTags: true,
  });
  expect(getMailProvider("ada@gmx.de", {})).toMatchObject({ hasTags: false, authserv: undefined });
});

test("other servers are named, with or without a port", () => {
  const named = { smtp: "mail.example.com", imap: "mail.example.com:1993", authserv: "mx.example.com" };
  expect(getMailProvider("ada@example.com", named)).toMatchObject({
    smtp: { host: "mail.example.com", port: 587 },
    imap: { host: "mail.example.com", port: 1993 },
    authserv: "mx.example.com",
    removesForged: false,
  });
});

test.each([
  ["ada@example.com", {}, /not known here/],
  ["ada@outlook.com", {}, /lets no program in/],
  ["ada@example.com", { smtp: "a b", imap: "x" }, /--smtp needs a host/],
  ["ada@example.com", { smtp: "x", imap: "x:99999" }, /--imap needs a host/],
])("%s with %j is refused, with what to type", (address, given, message) => {
  expect(() => getMailProvider(address, given)).toThrow(message);
});
