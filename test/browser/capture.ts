import type { Page } from "playwright-core";

const MOST_ATTEMPTS = 5;

/** Takes a picture; on a busy machine Chromium has at times no frame to give, and has one when it is asked again. */
export async function capture(page: Page, options: { path: string; fullPage?: boolean }): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return void (await page.screenshot(options));
    } catch (error) {
      if (attempt >= MOST_ATTEMPTS || !String(error).includes("Unable to capture screenshot")) throw error;
    }
  }
}
