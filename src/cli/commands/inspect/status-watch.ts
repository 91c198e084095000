import type { Context } from "../../context.ts";
import { pauseFor } from "../../terminal/pause.ts";
import type { StatusView } from "./status-view.ts";

const LOOK_MS = 1_000;
const HOME_AND_CLEAR = "\x1b[H\x1b[2J";

/** Reads and shows the status repeatedly. */
export interface StatusWatch {
  read(): Promise<StatusView>;
  /** Renders the page or the line. */
  render(view: StatusView): string;
  isShort: boolean;
  /** Prints a page, a line or JSON. */
  print(view: StatusView): void;
  isOver(view: StatusView): boolean;
  doDue(): Promise<void>;
}

/**
 * Shows the status whenever it changes: in place on a terminal, else appended.
 * Returns true when a question waits and that ends the watch, false on an interrupt.
 */
export async function watchStatus(watch: StatusWatch, context: Context): Promise<boolean> {
  const signal = context.interrupt();
  const isPage = !context.json && !watch.isShort;
  const isInPlace = isPage && context.stdout.isTty && context.env["TERM"] !== "dumb" && !isAccessible(context);
  let shown: string | undefined;
  for (;;) {
    const view = await watch.read();
    const now = isInPlace || (watch.isShort && !context.json) ? watch.render(view) : keyOf(view);
    if (now !== shown) {
      if (isInPlace) context.stdout.write(`${HOME_AND_CLEAR}${now}`);
      else watch.print(view);
    }
    shown = now;
    if (watch.isOver(view)) return true;
    await pauseFor(LOOK_MS, signal, context);
    if (signal.aborted) return false;
    await watch.doDue();
  }
}

/** The part of the status that counts as a change: everything but relative times. */
function keyOf(view: StatusView): string {
  const { waiting, answered, running, queued, failing, clocks, damage, failed, completed } = view;
  const runs = [
    ...answered.map(({ run }) => run),
    ...running,
    ...queued,
    ...failed.map(({ run }) => run),
    ...completed,
  ];
  return JSON.stringify([
    waiting.map(({ question }) => [question.id, question.version]),
    runs.map(({ id, version }) => [id, version]),
    failing.map(({ key, why }) => [key, why]),
    clocks,
    damage,
  ]);
}

function isAccessible({ env }: Context): boolean {
  return Boolean(env["ASKD_ACCESSIBLE"]);
}
