import type { Context } from "../context.ts";

/** A browser: its command line, and whether it needs the terminal. */
export interface Browser {
  argv: readonly string[];
  stdio: "inherit" | "pipe";
}

/** The user's browser; undefined without a display, as over ssh. */
export function findBrowser({ env, platform }: Pick<Context, "env" | "platform">): Browser | undefined {
  // BROWSER may list several, separated by colons; %s stands for the address, which comes last here anyway.
  const own = env["BROWSER"]
    ?.split(":")[0]
    ?.split(/\s+/)
    .filter((word) => word !== "" && word !== "%s");
  if (own && own.length > 0) return { argv: own, stdio: "inherit" };
  if (platform === "darwin") return { argv: ["open"], stdio: "pipe" };
  if (platform === "win32") return { argv: ["rundll32", "url.dll,FileProtocolHandler"], stdio: "pipe" };
  return env["DISPLAY"] || env["WAYLAND_DISPLAY"] ? { argv: ["xdg-open"], stdio: "pipe" } : undefined;
}
