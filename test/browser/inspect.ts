import axe from "axe-core";
import type { Page } from "playwright-core";
import { z } from "zod";

const Problems = z.array(z.string());

/** What axe finds wrong with a page, one line each: with all of its rules, or with those that are named. */
export async function findAxeProblems(page: Page, ...rules: string[]): Promise<string[]> {
  await page.evaluate(axe.source);
  const extra = { rules: { "target-size": { enabled: true } } };
  const options = { resultTypes: ["violations"], ...(rules.length > 0 ? { runOnly: rules } : extra) };
  // A press on the label of a box is a press on the box, and half of a row at the edge of a list can be scrolled to.
  const found: unknown = await page.evaluate(`(async () => {
    const isLarge = (selector) => {
      const element = document.querySelector(selector);
      const { width = 0, height = 0 } = (element?.closest("label") ?? element)?.getBoundingClientRect() ?? {};
      return width >= 24 && height >= 24;
    };
    const { violations } = await axe.run(document, ${JSON.stringify(options)});
    return violations.flatMap(({ id, nodes }) =>
      nodes
        .filter(({ target }) => id !== "target-size" || !isLarge(target[0]))
        .map(({ target, failureSummary }) => id + " " + target.join(" ") + " " + failureSummary));
  })()`);
  return Problems.parse(found);
}

/**
 * What goes beyond the page's width, or is cut off where no dots say so: every line of text is held against every box
 * around it. What can be scrolled to is not cut off.
 */
export async function findLayoutProblems(page: Page): Promise<string[]> {
  return Problems.parse(await page.evaluate(`(${LOOK})()`));
}

const LOOK = `() => {
  const problems = new Set();
  const root = document.scrollingElement;
  if (root.scrollWidth > innerWidth) problems.add("the page is " + root.scrollWidth + " wide, the window " + innerWidth);
  const unseen = ".unseen, .inbox-title, .skip, script, style, noscript, option, title, desc";
  const name = (element) => element.tagName.toLowerCase() + "." + (element.getAttribute("class") ?? "");
  const scrolls = (overflow) => /auto|scroll/.test(overflow);
  const cuts = (overflow) => /hidden|clip/.test(overflow);

  const look = (holder, rect, said) => {
    let isScrolled = false;
    let hasBlock = false;
    for (let box = holder; box && box !== document.documentElement; box = box.parentElement) {
      const style = getComputedStyle(box);
      if (/^(inline|contents)$/.test(style.display)) continue;
      const edge = box.getBoundingClientRect();
      const isWide = rect.left < edge.left - 1 || rect.right > edge.right + 1;
      const isTall = rect.top < edge.top - 3 || rect.bottom > edge.bottom + 3;
      const isDotted = style.textOverflow === "ellipsis" && cuts(style.overflowX);
      if (scrolls(style.overflowX) || scrolls(style.overflowY) || isDotted) isScrolled = true;
      if (isScrolled) continue;
      const isHeld = /paint|content|strict/.test(style.contain);
      if (isWide && (cuts(style.overflowX) || isHeld)) problems.add("cut off at the side by " + name(box) + ": " + said);
      if (isTall && (cuts(style.overflowY) || isHeld)) problems.add("cut off above or below by " + name(box) + ": " + said);
      // Spaces at the end of a line hang out of a box that keeps them.
      if (isWide && !hasBlock && style.whiteSpaceCollapse !== "preserve") problems.add("runs out of " + name(box) + ": " + said);
      hasBlock = true;
    }
    if (!isScrolled && (rect.right > innerWidth + 1 || rect.left < -1)) problems.add("outside the window: " + said);
  };

  const range = document.createRange();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const holder = node.parentElement;
    if (node.data.trim() === "" || holder.closest(unseen) || !holder.checkVisibility()) continue;
    range.selectNodeContents(node);
    const said = name(holder) + " " + node.data.trim().slice(0, 40);
    for (const rect of range.getClientRects()) if (rect.width > 0 && rect.height > 0) look(holder, rect, said);
  }

  for (const button of document.querySelectorAll("button, summary, .button, .chip, nav a:not(.row), th, td")) {
    if (!button.checkVisibility() || button.closest(unseen)) continue;
    const parts = document.createTreeWalker(button, NodeFilter.SHOW_TEXT);
    for (let node = parts.nextNode(); node; node = parts.nextNode()) {
      for (const word of node.data.matchAll(/[^\\s-]{2,20}/g)) {
        if (word[0].includes("\\u00ad")) continue; // it may be hyphenated there
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        const tops = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
        if (tops.size > 1) problems.add("a word is torn in " + name(button) + ": " + word[0]);
      }
    }
  }

  const pen = document.createElement("canvas").getContext("2d");
  for (const field of document.querySelectorAll("input, select, button, textarea")) {
    if (!field.checkVisibility() || field.closest(unseen) || field.type === "hidden") continue;
    const rect = field.getBoundingClientRect();
    const words = field.placeholder || (field.tagName === "SELECT" ? field.selectedOptions[0]?.text : "") || "";
    look(field.parentElement, rect, name(field) + " " + words);
    const style = getComputedStyle(field);
    pen.font = style.fontWeight + " " + style.fontSize + " " + style.fontFamily;
    const room = field.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    const isDotted = style.textOverflow === "ellipsis";
    if (!isDotted && field.tagName !== "TEXTAREA" && pen.measureText(words).width > room + 1) problems.add("no room in " + name(field) + ": " + words);
  }
  return [...problems];
}`;
