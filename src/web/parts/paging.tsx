import { type PageReader, tell } from "./page-reader.ts";

/** The part of a list that a page shows. */
export interface PagePart {
  /** Number of entries before it. */
  from: number;
  /** Maximum number of entries per page. */
  most: number;
  /** Number of all entries. */
  count: number;
  /** There are more than were read. */
  isCapped?: boolean;
}

/** Cuts the page out of a list that starts at an offset. */
export function partOf<Item>(items: readonly Item[], from: number, most: number): { items: Item[]; part: PagePart } {
  return { items: items.slice(from, from + most), part: { from, most, count: items.length } };
}

/** A count of what was read up to a limit: `50+` where there is more. */
export function capCount(count: number, most: number): string {
  return count > most ? `${most}+` : String(count);
}

/** Links to the previous and the next page, if there are any. */
export function Paging(given: { reader: PageReader; title: string; part: PagePart; address: string; find?: string }) {
  const { reader, title, part, address, find = "" } = given;
  const { from, most, count } = part;
  const end = Math.min(from + most, count);
  if (from === 0 && end === count) return null;
  const to = (start: number) => {
    const query = new URLSearchParams({ ...(find !== "" && { find }), ...(start > 0 && { from: String(start) }) });
    return query.size === 0 ? address : `${address}?${query.toString()}`;
  };
  return (
    <nav class="paging" aria-label={tell(reader, "list.pages", { title })}>
      <span class="quiet">{tell(reader, "list.part", { first: Math.min(from + 1, count), last: end, n: count })}</span>
      {from > 0 ? (
        <a rel="prev" href={to(Math.max(0, from - most))}>
          {tell(reader, "list.before")}
        </a>
      ) : null}
      {end < count ? (
        <a rel="next" href={to(end)}>
          {tell(reader, "list.after")}
        </a>
      ) : null}
    </nav>
  );
}
