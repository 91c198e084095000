import axe from "axe-core";
import type { Page } from "playwright-core";
import { z } from "zod";

const Problems = z.array(z.string());

/** What axe finds wrong with a page, one line each. */
export async function findAxeProblems(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const found: unknown = await page.evaluate(`
    axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => id + " " + target.join(" ") + " " + failureSummary)))
  `);
  return Problems.parse(found);
}

/** What goes beyond the page's width, or is cut off where no dots say so. */
export async function findLayoutProblems(page: Page): Promise<string[]> {
  const found: unknown = await page.evaluate(`
    (() => {
      const problems = [];
      const root = document.scrollingElement;
      if (root.scrollWidth > innerWidth) problems.push("the page is " + root.scrollWidth + " wide, the window " + innerWidth);
      for (const element of document.querySelectorAll("button, summary, label, legend, h1, h2, p, a, dt, dd, .chip, .toast, .l, .c, li, input, select")) {
        if (!element.checkVisibility() || element.closest(".unseen, .inbox-title, .skip, .scroll, pre")) continue;
        const style = getComputedStyle(element);
        const isMeant = /auto|scroll/.test(style.overflowX) || style.textOverflow === "ellipsis" || element.querySelector(".cut, .q, pre, .scroll");
        const isWide = element.scrollWidth > element.clientWidth + 1 && style.display !== "inline";
        const name = element.tagName + "." + element.className + " " + element.textContent.trim().slice(0, 40);
        if (isWide && !isMeant) problems.push("cut off: " + name);
        const box = element.getBoundingClientRect();
        if (box.width > 0 && (box.right > innerWidth + 1 || box.left < -1) && !element.closest(".list, pre, .top nav")) problems.push("outside: " + name);
      }
      return problems;
    })()
  `);
  return Problems.parse(found);
}
