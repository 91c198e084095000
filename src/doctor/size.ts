const UNITS = ["bytes", "kB", "MB", "GB", "TB"] as const;
const STEP = 1000;

/** A size by its largest unit: `53 GB`, `1.2 MB`. */
export function sayBytes(bytes: number): string {
  const power = Math.min(UNITS.length - 1, bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3));
  const count = bytes / STEP ** power;
  return `${count >= 10 || power === 0 ? Math.round(count) : count.toFixed(1)} ${UNITS[power]}`;
}
