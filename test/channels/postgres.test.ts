import { afterAll, beforeAll } from "vitest";
import { createDatabase } from "../postgres.ts";
import { type Twin, clockedTwin, postgresTwin } from "../proof/twin.ts";
import { channelSuite } from "./channel.suite.ts";
import { TelegramServer } from "./telegram-server.ts";

const ABLE = { hasMentions: true, hasStatuses: true, tellsOfDeletion: true, mayRepeat: true };
const TRAITS = { strength: "person", hasWords: true, ...ABLE } as const;
let twin: Twin;

beforeAll(async () => {
  twin = await postgresTwin(await createDatabase(`channels_${process.pid}`));
});

afterAll(() => twin.close());

channelSuite(
  "Telegram on PostgreSQL",
  TRAITS,
  () => TelegramServer.start(),
  async () => {
    await twin.empty();
    return (now) => clockedTwin(twin, now);
  },
);
