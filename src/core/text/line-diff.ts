/** More pairs of lines than this are not compared: the old lines are shown first, then the new ones. */
const MOST_PAIRS = 1_000_000;

/** A line of a comparison: kept, only in the old text, or only in the new one. */
export interface DiffLine {
  mark: " " | "-" | "+";
  text: string;
}

/** Compares two texts line by line. Every line of both is in the result; where they differ, the old ones come first. */
export function diffLines(before: string, after: string): DiffLine[] {
  const olds = before.split("\n");
  const news = after.split("\n");
  let start = 0;
  while (start < olds.length && start < news.length && olds[start] === news[start]) start += 1;
  let end = 0;
  const most = Math.min(olds.length, news.length) - start;
  while (end < most && olds[olds.length - 1 - end] === news[news.length - 1 - end]) end += 1;
  return [
    ...marked(" ", olds.slice(0, start)),
    ...diffMiddle(olds.slice(start, olds.length - end), news.slice(start, news.length - end)),
    ...marked(" ", olds.slice(olds.length - end)),
  ];
}

function diffMiddle(olds: readonly string[], news: readonly string[]): DiffLine[] {
  if (olds.length * news.length > MOST_PAIRS) return [...marked("-", olds), ...marked("+", news)];
  const common = commonLengths(olds, news);
  const width = news.length + 1;
  const lines: DiffLine[] = [];
  // New lines wait until the next kept line, so that a replaced block reads as old, then new.
  let added: string[] = [];
  let from = 0;
  let to = 0;
  while (from < olds.length || to < news.length) {
    const old = olds[from];
    const next = news[to];
    if (old !== undefined && old === next) {
      lines.push(...marked("+", added), { mark: " ", text: old });
      added = [];
      from += 1;
      to += 1;
    } else if (
      old !== undefined &&
      (next === undefined || isLonger(common, (from + 1) * width + to, from * width + to + 1))
    ) {
      lines.push({ mark: "-", text: old });
      from += 1;
    } else if (next !== undefined) {
      added.push(next);
      to += 1;
    }
  }
  return [...lines, ...marked("+", added)];
}

/** The length of the longest common sequence from each pair of lines on. */
function commonLengths(olds: readonly string[], news: readonly string[]) {
  const width = news.length + 1;
  const lengths = new Uint32Array((olds.length + 1) * width);
  for (let from = olds.length - 1; from >= 0; from -= 1) {
    for (let to = news.length - 1; to >= 0; to -= 1) {
      const at = from * width + to;
      lengths[at] =
        olds[from] === news[to]
          ? (lengths[at + width + 1] ?? 0) + 1
          : Math.max(lengths[at + width] ?? 0, lengths[at + 1] ?? 0);
    }
  }
  return lengths;
}

function isLonger(lengths: Uint32Array, one: number, other: number) {
  return (lengths[one] ?? 0) >= (lengths[other] ?? 0);
}

function marked(mark: DiffLine["mark"], texts: readonly string[]): DiffLine[] {
  return texts.map((text) => ({ mark, text }));
}
