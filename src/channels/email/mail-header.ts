/** One header of a mail, its name in lower case, unfolded. */
export interface MailHeader {
  name: string;
  value: string;
}

const MOST_HEADERS = 500;
const MOST_VALUE_CHARS = 8_000;

/** The headers of a mail in the order in which they stand: servers write theirs above what came before. */
export function readHeaders(source: string): MailHeader[] {
  const end = /\r?\n\r?\n/.exec(source)?.index ?? source.length;
  return source
    .slice(0, end)
    .replace(/\r?\n[ \t]+/g, " ")
    .split(/\r?\n/, MOST_HEADERS)
    .flatMap((line) => {
      const [, name, value = ""] = /^([!-9;-~]+)[ \t]*:(.*)$/.exec(line) ?? [];
      return name === undefined ? [] : [{ name: name.toLowerCase(), value: value.trim().slice(0, MOST_VALUE_CHARS) }];
    });
}

/** All values of a header, first to last. */
export function headerValues(headers: readonly MailHeader[], name: string): string[] {
  return headers.filter((header) => header.name === name).map(({ value }) => value);
}

export function headerValue(headers: readonly MailHeader[], name: string): string | undefined {
  return headers.find((header) => header.name === name)?.value;
}
