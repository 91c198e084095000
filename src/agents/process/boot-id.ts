import { readFileSync } from "node:fs";

const BOOT_FILE = "/proc/sys/kernel/random/boot_id";
const SYSCTL_MS = 10_000;

/** Reads the boot id of this machine. Every command needs it, so nothing is loaded for it on Linux. */
export async function readBootId(): Promise<string> {
  if (process.platform === "linux") return readFileSync(BOOT_FILE, "utf8").trim();
  const { execFile } = await import("node:child_process");
  const { promisify } = await import("node:util");
  const { stdout } = await promisify(execFile)("sysctl", ["-n", "kern.bootsessionuuid"], {
    env: { PATH: "/bin:/usr/bin:/usr/sbin:/sbin" },
    timeout: SYSCTL_MS,
  });
  return stdout.trim();
}
