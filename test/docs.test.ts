import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { z } from "zod";
import { snakeCase } from "../src/core/api/snake-case.ts";
import { askShape } from "../src/core/question/ask-input.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PAGES = [
  "README.md",
  "ARCHITECTURE.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  "plugin/README.md",
  ...readdirSync(join(ROOT, "docs")).map((name) => `docs/${name}`),
];
const textOf = (page: string): string => readFileSync(join(ROOT, page), "utf8");

test("every link between the pages leads to a page and a heading that exist", () => {
  const links = PAGES.flatMap((page) => findLinks(textOf(page)).map((link) => ({ page, link })));
  expect(links.length).toBeGreaterThan(60);
  expect(links.filter(({ page, link }) => !leadsSomewhere(page, link))).toEqual([]);
});

test("every page of the docs can be reached from the README", () => {
  const linked = findLinks(textOf("README.md"));
  const left = PAGES.filter((page) => page.startsWith("docs/") && !linked.includes(page));
  expect(left).toEqual([]);
});

test("every script that a page names is in package.json", () => {
  const { scripts } = z.object({ scripts: z.record(z.string(), z.string()) }).parse(JSON.parse(textOf("package.json")));
  const named = PAGES.flatMap((page) =>
    [...textOf(page).matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name = ""]) => name),
  );
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
});

test.each([
  ["a page", "answer.md", true],
  ["a page that does not exist", "answers.md", false],
  ["a heading of another page", "security.md#who-may-do-what", true],
  ["a heading of another page that does not exist", "security.md#who-may-do-nothing", false],
  ["a heading of the same page", "#in-your-editor", true],
  ["a file above the docs", "../CONTRIBUTING.md", true],
])("tells whether a link leads somewhere: %s", (_case, link, expected) => {
  expect(leadsSomewhere("docs/answer.md", link)).toBe(expected);
});

/** The targets of the links in a Markdown text, without addresses on the web. */
function findLinks(markdown: string): string[] {
  return [...withoutCode(markdown).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^https?:/.test(target));
}

function leadsSomewhere(page: string, link: string): boolean {
  const [path = "", heading] = link.split("#");
  const target = path === "" ? page : normalize(join(dirname(page), path));
  if (!existsSync(join(ROOT, target))) return false;
  return heading === undefined || findHeadings(textOf(target)).includes(heading);
}

/** The names by which the headings of a page are linked to. */
function findHeadings(markdown: string): string[] {
  return [...withoutCode(markdown).matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} -]/gu, "")
      .replaceAll(" ", "-"),
  );
}

function withoutCode(markdown: string): string {
  return markdown.replace(/^```[\s\S]*?^```/gm, "");
}

test("the page about asking lists every field of an ask in JSON", () => {
  const page = textOf("docs/ask.md");
  const table = /## Fields of an ask[^]*?(?=\n## |$)/.exec(page)?.[0] ?? "";
  for (const field of askShape().names) expect(table).toContain(`\`${snakeCase(field)}\``);
});
