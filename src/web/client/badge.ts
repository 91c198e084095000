import { body } from "./dom.ts";

/** Puts how many questions wait on the icon of the app, where the page is one. */
export function showBadge(): void {
  if (!("setAppBadge" in navigator)) return;
  const waiting = Number(body.dataset["waiting"] ?? 0);
  // Refused where the page is not an app; the title and the icon of the page say it too.
  (waiting > 0 ? navigator.setAppBadge(waiting) : navigator.clearAppBadge()).catch(() => undefined);
}
