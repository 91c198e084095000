import type { PageReader } from "./page-reader.ts";

const SHAPES = {
  number: { maximumFractionDigits: 1 },
  share: { style: "percent", maximumFractionDigits: 0 },
  usd: { minimumFractionDigits: 2, maximumFractionDigits: 2 },
  small: { style: "percent", maximumFractionDigits: 1 },
} as const satisfies Record<string, Intl.NumberFormatOptions>;
const LEAST_SHARE = 0.01;

const formats = new Map<string, Intl.NumberFormat>();

/** Formats a number in the reader's language, with at most one decimal. */
export function sayNumber(reader: Pick<PageReader, "language">, value: number): string {
  return formatOf(reader, "number").format(value);
}

/** Formats an amount in US dollars, without the sign. */
export function sayUsd(reader: Pick<PageReader, "language">, value: number): string {
  return formatOf(reader, "usd").format(value);
}

/** Formats a share of one as a percentage. */
export function sayShare(reader: Pick<PageReader, "language">, part: number): string {
  return formatOf(reader, part > 0 && part < LEAST_SHARE ? "small" : "share").format(part);
}

function formatOf({ language }: Pick<PageReader, "language">, shape: keyof typeof SHAPES) {
  const name = `${language} ${shape}`;
  const found = formats.get(name) ?? new Intl.NumberFormat(language === "en" ? "en-GB" : language, SHAPES[shape]);
  formats.set(name, found);
  return found;
}
