import { describe, expect, test } from "vitest";
import { Database } from "./proof/place.ts";
import { listShortReach } from "./proof/reach/reach-list.ts";
import { ChannelName } from "./proof/reach/reach-task.ts";
import { playReaches } from "./proof/reach/reaches.ts";

describe.each(Database.options)("on %s", (database) => {
  test("no message and no answer is lost or doubled, wherever the process that brings it is killed", async () => {
    // The stores differ in their commits alone, which one channel shows.
    const channels = database === "sqlite" ? ChannelName.options : ChannelName.options.slice(0, 1);
    const cases = channels.flatMap(listShortReach);
    const outcomes = await playReaches(database, cases, { times: 1, atOnce: channels.length });
    expect(outcomes.flatMap(({ name, problems }) => problems.map((problem) => `${name}: ${problem}`))).toEqual([]);
    expect(outcomes).toHaveLength(cases.length);
  }, 300_000);
});
