import { open } from "node:fs/promises";
import { hasErrorCode } from "../../../core/error-code.ts";

const COPY_BYTES = 256 * 1024;

/** Reads growing files: each read returns the bytes since the last one. */
export class GrowingFiles {
  readonly #done = new Map<string, number>();

  /** Passes on the new bytes of a file; none while it does not exist. */
  async read(file: string, take: (bytes: Buffer) => void): Promise<void> {
    const handle = await open(file, "r").catch((error: unknown) => {
      if (hasErrorCode(error, "ENOENT")) return undefined;
      throw error;
    });
    if (!handle) return;
    try {
      for (let at = this.#done.get(file) ?? 0; ;) {
        const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(COPY_BYTES), 0, COPY_BYTES, at);
        if (bytesRead === 0) break;
        take(buffer.subarray(0, bytesRead));
        at += bytesRead;
        this.#done.set(file, at);
      }
    } finally {
      await handle.close();
    }
  }
}
