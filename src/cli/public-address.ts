import { isLoopback } from "../core/channel/page-link.ts";
import { Refusal } from "../core/refusal.ts";
import { findRunningServer, startServer } from "./commands/service/serve.ts";
import { isServiceOff } from "./commands/service/worker.ts";
import type { Context } from "./context.ts";

/** The address under which people reach the server: the public one, or that of the running server, which may be started. */
export async function getPublicAddress(context: Context): Promise<string> {
  const { publicUrl } = context.rules;
  return publicUrl === undefined ? getServer(context) : publicUrl.replace(/\/+$/, "");
}

/** The address of the running server; refuses if none runs. */
export async function getRunningServer(context: Context): Promise<string> {
  const found = await findRunningServer(context);
  if (found !== undefined) return found;
  throw new Refusal("store_unreachable", "No server is running", { hint: "Start it with: askd serve" });
}

/** The address of the running server; starts one if none runs. An agent starts none. */
export async function getServer(context: Context): Promise<string> {
  if (isServiceOff(context.env)) return getRunningServer(context);
  const found = await findRunningServer(context);
  if (found !== undefined) return found;
  if (!context.isQuiet) context.stderr.write("Starting the server…\n");
  return startServer(context);
}

/** Says that an address leads nowhere from another machine, and what to do about it. */
export function sayWhereItWorks(address: string, { stderr, program }: Pick<Context, "stderr" | "program">): void {
  if (!isLoopback(address)) return;
  stderr.write(
    `The address works on this machine only. For others: ${program} config set server.public_url https://<name>\n`,
  );
}
