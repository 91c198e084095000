import { channelSuite } from "./channel.suite.ts";
import { NtfyServer } from "./ntfy-server.ts";

const TRAITS = { strength: "bearer", hasWords: false, hasMentions: false, hasStatuses: true } as const;

channelSuite("ntfy", TRAITS, () => NtfyServer.start());
