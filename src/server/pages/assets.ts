import { hash } from "node:crypto";
import { Hono } from "hono";
import { Refusal } from "../../core/refusal.ts";
import type { Assets } from "../../web/parts/layout.tsx";
import type { RouteGroup } from "../app.ts";

declare const ASKD_ASSETS: Assets | undefined; // the file contents, set by the build

const TEXTS: Assets = typeof ASKD_ASSETS === "object" ? ASKD_ASSETS : { script: "", style: "", besideStyle: "" };
const FOREVER = "public, max-age=31536000, immutable";
const FOR_A_DAY = "public, max-age=86400";
const MOST_SHOWN = 99;
/** Web app manifest, so that the inbox can be installed with a badge on its icon. */
const MANIFEST = JSON.stringify({
  name: "askd",
  short_name: "askd",
  start_url: "/",
  scope: "/",
  display: "standalone",
  background_color: "#FBFBFA",
  theme_color: "#2F5BD7",
  icons: [{ src: "/favicon.svg", sizes: "any", type: "image/svg+xml", purpose: "any" }],
});

/** Addresses of the script and the styles; each contains the hash of its content. */
export const ASSETS: Assets = {
  script: `/assets/${hash("sha256", TEXTS.script, "hex").slice(0, 16)}.js`,
  style: `/assets/${hash("sha256", TEXTS.style, "hex").slice(0, 16)}.css`,
  besideStyle: `/assets/${hash("sha256", TEXTS.besideStyle, "hex").slice(0, 16)}.css`,
};

/** Serves the script, the styles and the icon from memory. They contain no personal data. */
export function assetsPart(): RouteGroup {
  const app = new Hono();
  const files: Readonly<Record<string, { text: string; type: string }>> = {
    [ASSETS.script]: { text: TEXTS.script, type: "text/javascript; charset=utf-8" },
    [ASSETS.style]: { text: TEXTS.style, type: "text/css; charset=utf-8" },
    [ASSETS.besideStyle]: { text: TEXTS.besideStyle, type: "text/css; charset=utf-8" },
  };
  app.get("/assets/:file", (context) => {
    const file = Object.hasOwn(files, context.req.path) ? files[context.req.path] : undefined;
    if (!file) throw new Refusal("not_found", "There is no such file; load the page again");
    return context.body(file.text, 200, { "Content-Type": file.type, "Cache-Control": FOREVER });
  });
  app.get("/favicon.svg", (context) => {
    const count = Math.min(MOST_SHOWN, Math.max(0, Math.trunc(Number(context.req.query("n")) || 0)));
    return context.body(icon(count), 200, { "Content-Type": "image/svg+xml", "Cache-Control": FOR_A_DAY });
  });
  app.get("/manifest.webmanifest", (context) =>
    context.body(MANIFEST, 200, { "Content-Type": "application/manifest+json", "Cache-Control": FOR_A_DAY }),
  );
  return { path: "/", public: app };
}

/** The icon: a question mark, or the number of waiting questions. */
function icon(count: number) {
  const mark = count === 0 ? "?" : String(count);
  const fill = count === 0 ? "#2F5BD7" : "#B3261E";
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="${fill}"/>` +
    `<text x="16" y="23" font-family="system-ui,sans-serif" font-size="${mark.length > 1 ? 18 : 21}" font-weight="700" ` +
    `fill="#fff" text-anchor="middle">${mark}</text></svg>`
  );
}
