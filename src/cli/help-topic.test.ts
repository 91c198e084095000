import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { howToAskByTool } from "../core/run/how-to-ask.ts";
import { Scene } from "../../test/scene.ts";
import { type } from "../../test/typed.ts";
import { renderSkill } from "./help-topic.ts";

const FILE = new URL("../../skills/ask-human/SKILL.md", import.meta.url);

/** Without empty lines, which whoever formats the file sets. */
function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

test("the skill says what every door says", () => {
  expect(linesOf(readFileSync(FILE, "utf8"))).toEqual(linesOf(renderSkill()));
});

test("the skill has a name and a description within the limits of those who read it", () => {
  const description = /^description: (.+)$/m.exec(renderSkill())?.[1] ?? "";
  expect(description.length).toBeGreaterThan(40);
  expect(description.length).toBeLessThanOrEqual(1024);
  expect(renderSkill()).toMatch(/^---\nname: ask-human\n/);
});

test("help agents prints a block that can be taken out again", async () => {
  const { exit, stdout } = await type(new Scene(), ["help", "agents"]);
  expect(exit).toBe(0);
  const block = /<!-- askd:begin -->\n([\s\S]*)<!-- askd:end -->\n/.exec(stdout)?.[1];
  expect(block).toContain(howToAskByTool());
});
