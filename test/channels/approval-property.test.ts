import fc from "fast-check";
import { expect, test } from "vitest";
import type { WireMessage } from "../../src/core/channel/channel.ts";
import { questionMessage } from "../../src/core/channel/message.ts";
import { AGENT } from "../builders.ts";
import { SCRIPT, Scene } from "../scene.ts";
import { allChannels } from "./all-channels.ts";
import { lettersOf, textsIn } from "./wire-text.ts";

const TOKEN = "T0KEN";
const SECRET = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
/** What a press sends, in each channel's own form. */
const PRESS =
  /T0KEN[: ]([A-Z]+)"|body=([A-Z]+)\\?"|- \[ \] \*\*([A-Z]+)\)|"choose:([A-Z]+)"|"id":"T0KEN","value":"([A-Z]+)"/g;

/** Lengths around every limit: a notification's 600 characters, and up to more than any service takes. */
const lengths = fc.oneof(fc.nat(80), fc.nat(1_200), fc.integer({ min: 1_500, max: 9_000 }));
const words = fc.array(fc.stringMatching(/^[a-zäß0-9 .,/<>&"'`*_$|-]{1,40}$/), { minLength: 1, maxLength: 12 });
const text = fc
  .record({ words, length: lengths, secretAt: fc.option(fc.nat(), { freq: 4 }), isOnLines: fc.boolean() })
  .map(({ words: some, length, secretAt, isOnLines }) => {
    const line = some.join(isOnLines ? "\n" : " ");
    const long = `x${line}`.repeat(Math.ceil((length + 1) / (line.length + 1))).slice(0, length + 1);
    const at = secretAt === null ? undefined : secretAt % long.length;
    return at === undefined ? long : `${long.slice(0, at)} ${SECRET} ${long.slice(at)}`;
  });
const toolCall = fc.oneof(
  text.map((command) => ({ name: "Bash", input: { command } })),
  fc
    .record({ file_path: fc.constant("/repo/src/a.ts"), old_string: text, new_string: text })
    .map((input) => ({ name: "Edit", input })),
  fc.record({ file_path: fc.constant("/repo/b.md"), content: text }).map((input) => ({ name: "Write", input })),
  fc
    .record({ path: text, options: fc.record({ note: text, flags: fc.array(text, { maxLength: 3 }) }) })
    .map((input) => ({ name: "mcp__files__move", input })),
);

/** Each channel sees a call that it can show and one that it cannot, whatever is generated. */
const EXAMPLES: Array<[{ name: string; input: Record<string, unknown> }, "low" | "medium" | "high"]> = [
  [{ name: "Bash", input: { command: "ls -la /repo" } }, "low"],
  [{ name: "Bash", input: { command: `curl -H 'x: ${SECRET}' example.com` } }, "medium"],
  [{ name: "Bash", input: { command: "rm -rf /repo/build" } }, "high"],
];

/** The keys of the options that the message lets its reader press. */
function pressable(wire: WireMessage) {
  return [...JSON.stringify(wire).matchAll(PRESS)].map((found) => found.slice(1).find((key) => key !== undefined));
}

test("no channel has a button that approves unless all of the call is visible in that message", async () => {
  const channels = await allChannels();
  const seen = new Map(channels.map(({ name }) => [name, { approving: 0, withheld: 0 }]));
  await fc.assert(
    fc.asyncProperty(toolCall, fc.constantFrom("low", "medium", "high"), async (tool, risk) => {
      const scene = new Scene({ rules: { publicUrl: "https://askd.example.com" } });
      const input = scene.input({ kind: "approval", tool, risk }, SCRIPT);
      const read = await scene.engine.ask(input, AGENT);
      const message = questionMessage(read, TOKEN, scene.rules);
      const approving = message.items[0]?.options
        .filter(({ value }) => !message.denials.has(value))
        .map(({ key }) => key.toUpperCase());
      for (const { name, channel } of channels) {
        const wire = channel.build(message, { address: "42", person: "mika" });
        expect(JSON.stringify(wire)).not.toContain(SECRET);
        const counts = seen.get(name);
        const isApproving = pressable(wire).some((key) => approving?.includes(key ?? ""));
        if (message.risk === "high" && channel.strength !== "person")
          expect({ name, isApproving }).toEqual({ name, isApproving: false });
        if (!isApproving) {
          if (counts) counts.withheld += 1;
          continue;
        }
        if (counts) counts.approving += 1;
        const parts = textsIn(wire).map(lettersOf);
        // A line longer than a section of Slack continues in the next.
        const shown = [...parts, parts.filter((part) => part !== "section" && part !== "mrkdwn").join("")];
        for (const line of textsIn(tool.input).flatMap((each) => each.split("\n"))) {
          const isShown = shown.some((each) => each.includes(lettersOf(line)));
          if (!isShown) throw new Error(`${name} lets people approve without showing: ${line}`);
        }
      }
    }),
    { numRuns: 50, examples: EXAMPLES },
  );
  // The channels that take replies by buttons show them where they may; the others never do.
  const hasButtons = (name: string) => !/^(?:webhook|apprise|chat linear)/.test(name);
  for (const [name, { approving, withheld }] of seen) {
    expect({ name, approves: approving > 0 }).toEqual({ name, approves: hasButtons(name) });
    expect(withheld).toBeGreaterThan(0);
  }
});
