import { afterAll, beforeAll, expect, test } from "vitest";
import { WebStage } from "./stage.ts";
import { ask } from "./states.ts";

const stage = new WebStage();
beforeAll(() => stage.serve());
afterAll(() => stage.close());

/** Texts that would do something where a page believes them. */
const ATTACKS = [
  "<script>window.hit=1</script>",
  '"><script>window.hit=1</script>',
  "'><img src=x onerror=window.hit=1>",
  "<svg onload=window.hit=1>",
  "</title><script>window.hit=1</script>",
  "</textarea><script>window.hit=1</script>",
  '" autofocus onfocus="window.hit=1',
  "javascript:window.hit=1",
  "[x](javascript:window.hit=1)",
  "![x](https://example.invalid/x.png)",
  "<iframe srcdoc='<script>parent.hit=1</script>'>",
  "<style>*{background:url(https://example.invalid/x)}</style>",
  "<meta http-equiv=refresh content='0;url=https://example.invalid'>",
  "<base href=https://example.invalid/>",
  "<form action=https://example.invalid><button>x</button></form>",
  "{{constructor.constructor('window.hit=1')()}}",
  "${window.hit=1}",
  "<math><mtext><style><img src=x onerror=window.hit=1>",
  '[a](https://e"onmouseover=window.hit=1)',
  "```\n</code></pre><script>window.hit=1</script>\n```",
  "\u202e<script>window.hit=1</script>",
  "<a href=javascript:window.hit=1 autofocus onfocus=window.hit=1>x</a>",
  "<details open ontoggle=window.hit=1>",
];

test("nothing that an agent or a person wrote runs, loads or goes anywhere", async () => {
  const page = await stage.person("mika");
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).host));
  const engine = await stage.engine();
  for (const text of ATTACKS) {
    const question = await ask(
      stage,
      {
        question: `? ${text}`,
        context: text,
        options: [{ label: text, description: text, preview: text }, "b"],
        timeout: "1h",
      },
      { name: text, repo: text, branch: text, agent: text },
    );
    await engine.comment(question.id, text, { scope: "human", id: text, channel: "web", strength: "local" });
    await page.goto(`${stage.url}/q/${question.id}`);
    for (const closed of await page.locator("details").all())
      await closed.evaluate("(details) => (details.open = true)");
    await page.fill("#note", text);
    await page.mouse.move(400, 300);
    expect(await page.evaluate("window.hit")).toBeUndefined();
    expect(page.url()).toContain(question.id);
  }
  await page.goto(`${stage.url}/?find=${encodeURIComponent(ATTACKS[0] ?? "")}`);
  expect(await page.evaluate("window.hit")).toBeUndefined();
  expect(new Set(asked)).toEqual(new Set([new URL(stage.url).host]));
  expect(stage.violations).toEqual([]);
});

test("a page with three questions, its style and its script have at most 60 kB together", async () => {
  await stage.cancelAll();
  for (const name of ["One", "Two", "Three"]) await ask(stage, { question: `${name}?`, options: ["Yes", "No"] });
  const page = await stage.person("mika");
  const html = await (await page.goto(`${stage.url}/`))!.text();
  const assets = [...html.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path]) => path ?? "");
  expect(assets).toHaveLength(2);
  const texts = await Promise.all(assets.map(async (path) => (await fetch(stage.url + path)).text()));
  const bytes = [html, ...texts].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  process.stdout.write(`page weight: ${bytes} bytes\n`);
  expect(bytes).toBeLessThanOrEqual(60 * 1000);
});
