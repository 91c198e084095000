import { channelSuite } from "./channel.suite.ts";
import { WebhookServer } from "./webhook-server.ts";

const TELLS = { strength: undefined, hasWords: false, hasStatuses: true };

channelSuite("webhook, signed", { ...TELLS, hasMentions: false }, () => WebhookServer.start("standard"));
for (const format of ["slack", "discord", "teams"] as const) {
  channelSuite(`webhook for ${format}`, { ...TELLS, hasMentions: true }, () => WebhookServer.start(format));
}
