import { channelSuite } from "./channel.suite.ts";
import { NtfyServer } from "./ntfy-server.ts";

const TRAITS = { replies: true, provesPeople: false, hasWords: false, hasMentions: false };

channelSuite("ntfy", TRAITS, () => NtfyServer.start());
