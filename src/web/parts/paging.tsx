import { type Reader, tell } from "./reader.ts";

/** Which part of a list a page shows. */
export interface Part {
  /** How many come before it. */
  from: number;
  /** How many a page has at most. */
  most: number;
  /** How many there are in all. */
  count: number;
}

/** The part of a list that begins there. */
export function partOf<Item>(items: readonly Item[], from: number, most: number): { items: Item[]; part: Part } {
  return { items: items.slice(from, from + most), part: { from, most, count: items.length } };
}

/** The way to what comes before and after a part, where that is not all. */
export function Paging(given: { reader: Reader; title: string; part: Part; address: string; find?: string }) {
  const { reader, title, part, address, find = "" } = given;
  const { from, most, count } = part;
  const end = Math.min(from + most, count);
  if (from === 0 && end === count) return null;
  const to = (start: number): string => {
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
