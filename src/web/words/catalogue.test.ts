import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { deRefusal } from "../../core/text/de-refusal.ts";
import { de } from "./de.ts";
import { en } from "./en.ts";

/** The files that hold the sentences themselves, in both languages or in one. */
const HOLDS_SENTENCES = /^(?:export )?const (?:en|de)\w* ?[:=]/m;
const SOURCES = ["src/web", "src/server"].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name) && !name.includes(".test."))
    .map((name) => readFileSync(join(folder, name), "utf8")),
);
const CODE = SOURCES.filter((text) => !HOLDS_SENTENCES.test(text)).join("\n");

function fieldsOf(text: string): string[] {
  return [...text.matchAll(/\{\w+\}/g)].map(([field]) => field).sort();
}

test("both languages have the same sentences with the same places to fill", () => {
  expect(Object.keys(de).sort()).toEqual(Object.keys(en).sort());
  const different = Object.entries(en).filter(([key, text]) => {
    const other: string = de[key as keyof typeof en]; // the keys are the same
    return fieldsOf(text).join() !== fieldsOf(other).join();
  });
  expect(different).toEqual([]);
});

test("what is done to a run has the same name on a card and on its own page", () => {
  for (const words of [en, de]) {
    expect([words["r.cancel"], words["r.cancel.sure"], words["r.cancel.reason"]]).toEqual([
      words.stop,
      words["stop.sure"],
      words["stop.reason"],
    ]);
  }
});

test("to give up a claim does not read like an approval", () => {
  const approving = /freigeb|freigegeben|genehmig|erlaub/i;
  expect([de.release, de["event.released"]].filter((text) => approving.test(text))).toEqual([]);
  const { claimed, unclaimed } = deRefusal.facts;
  expect([claimed, unclaimed].filter((text) => text.includes("freizugeb"))).toEqual([]);
});

test("every sentence is used", () => {
  // Sentences are no use of themselves: English and German, each with a file for pages and one for workflows, and two for both.
  expect(SOURCES.filter((text) => HOLDS_SENTENCES.test(text))).toHaveLength(8);
  const startsOf = (key: string) => [...key.matchAll(/\./g)].map(({ index }) => key.slice(0, index + 1));
  const isBuilt = (key: string) => startsOf(key).some((start) => CODE.includes(`\`${start}\${`));
  const unused = Object.keys(en).filter((key) => !CODE.includes(`"${key}"`) && !isBuilt(key));
  expect(unused).toEqual([]);
});

test("nothing is said on a page that is not in the catalogue", () => {
  const pages = readdirSync("src/web", { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".tsx"));
  // Words between two tags, on one line of their own or not.
  const words = pages.flatMap((name) =>
    [...readFileSync(join("src/web", name), "utf8").matchAll(/>\s*([A-Z][a-z]+ [a-z][^<>{}]*)</g)].map(
      ([, text]) => `${name}: ${text}`,
    ),
  );
  expect(words).toEqual([]);
});
