import { loadavg } from "node:os";
import { join } from "node:path";

import { z } from "zod";
import { WebStage } from "../test/browser/stage.ts";
import { seed } from "./web-seed.ts";
import { openSqliteStore } from "../src/store/sqlite/sqlite.ts";

const MS = 5_000;
const LONGEST_FRAME_MS = 50;
const Frames = z.object({
  deltas: z.array(z.number()),
  rows: z.number(),
  height: z.number(),
  tasks: z.array(z.number()),
});

/** Scrolls a list of so many waiting questions in a real browser and says how long frames took. */
export async function measureScroll(pending: number): Promise<void> {
  const stage = new WebStage();
  const store = await openSqliteStore(join(stage.home, "data", "askd.db"));
  await seed(store, { closed: 0, pending });
  await store.close();
  await stage.serve();
  const page = await stage.person("mika", { viewport: { width: 1280, height: 860 } });
  for (const path of ["/", `/?from=${Math.max(0, pending - 100)}`]) {
    await page.goto(`${stage.url}${path}`);
    await page.waitForSelector("#list li");
    const frames = Frames.parse(await page.evaluate(SCROLL.replace("$MS", String(MS))));
    const sorted = frames.deltas.toSorted((one, other) => one - other);
    const at = (part: number): string => (sorted[Math.ceil(part * sorted.length) - 1] ?? 0).toFixed(1);
    const long = sorted.filter((delta) => delta > LONGEST_FRAME_MS).length;
    console.log(
      `${path}: ${frames.rows} rows, ${frames.height} px; ${sorted.length} frames in ${MS / 1000} s of scrolling: median ` +
        `${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms, over ${LONGEST_FRAME_MS} ms: ${long} (goal 0); ` +
        `tasks of the page over ${LONGEST_FRAME_MS} ms: ${frames.tasks.length}`,
    );
  }
  console.log(`load of the machine: ${loadavg()[0]?.toFixed(1)}`);
  await stage.close();
}

// Goes down and up the list, a piece in every frame, while the page is also told that something happened.
const SCROLL = `(async () => {
  const list = document.querySelector("#list");
  const tasks = [];
  new PerformanceObserver((entries) => tasks.push(...entries.getEntries().map(({ duration }) => duration))).observe({ type: "longtask" });
  const place = list.scrollHeight > list.clientHeight + 1 ? list : document.scrollingElement;
  const deltas = [];
  let step = 60;
  const startedAt = performance.now();
  let last = await new Promise(requestAnimationFrame);
  while (performance.now() - startedAt < $MS) {
    const before = place.scrollTop;
    place.scrollTop += step;
    if (place.scrollTop === before) step = -step;
    const now = await new Promise(requestAnimationFrame);
    deltas.push(now - last);
    last = now;
  }
  return { deltas, tasks, rows: document.querySelectorAll("#list li").length, height: place.scrollHeight };
})()`;
