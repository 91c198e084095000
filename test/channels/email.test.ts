import { afterAll } from "vitest";
import { channelSuite } from "./channel.suite.ts";
import { MailCounterpart, stopSharedMailServer } from "./mail-counterpart.ts";

const TRAITS = { replies: true, provesPeople: true, hasWords: true, hasMentions: false, isFixed: true };

afterAll(stopSharedMailServer);

channelSuite("mail", TRAITS, () => MailCounterpart.start());
