import { watch } from "node:fs";

/** Calls back when a file, or something in a directory, may have changed; ends when the function it returns is called. */
export function watchPath(path: string, onChange: () => void): () => void {
  try {
    const watcher = watch(path, onChange);
    watcher.on("error", () => watcher.close());
    return () => watcher.close();
  } catch {
    return () => undefined; // A system without free watches: whoever waits looks from time to time anyway.
  }
}
