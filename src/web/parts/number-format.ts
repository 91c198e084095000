import type { Reader } from "./reader.ts";

const SHAPES = {
  number: { maximumFractionDigits: 1 },
  share: { style: "percent", maximumFractionDigits: 0 },
  usd: { minimumFractionDigits: 2, maximumFractionDigits: 2 },
  small: { style: "percent", maximumFractionDigits: 1 },
} as const satisfies Record<string, Intl.NumberFormatOptions>;
const LEAST_SHARE = 0.01;

const formats = new Map<string, Intl.NumberFormat>();

/** A number as the reader writes it, with one place after the point at most. */
export function sayNumber(reader: Pick<Reader, "language">, value: number): string {
  return formatOf(reader, "number").format(value);
}

/** An amount of money, without its sign. */
export function sayUsd(reader: Pick<Reader, "language">, value: number): string {
  return formatOf(reader, "usd").format(value);
}

/** A part of a whole in percent. */
export function sayShare(reader: Pick<Reader, "language">, part: number): string {
  return formatOf(reader, part > 0 && part < LEAST_SHARE ? "small" : "share").format(part);
}

function formatOf({ language }: Pick<Reader, "language">, shape: keyof typeof SHAPES): Intl.NumberFormat {
  const name = `${language} ${shape}`;
  const found = formats.get(name) ?? new Intl.NumberFormat(language === "en" ? "en-GB" : language, SHAPES[shape]);
  formats.set(name, found);
  return found;
}
