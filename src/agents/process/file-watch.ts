import { watch } from "node:fs";

/** Calls back when a file or directory may have changed, until the returned function is called. */
export function watchPath(path: string, onChange: () => void): () => void {
  try {
    const watcher = watch(path, onChange);
    watcher.on("error", () => watcher.close());
    return () => watcher.close();
  } catch {
    return () => undefined; // no watches are available; callers also poll
  }
}
