const CONTEXT_LINES = 3;

interface Line {
  sign: " " | "-" | "+";
  text: string;
  /** How many lines of the old and of the new text come before it. */
  old: number;
  new: number;
}

/** The difference of two texts in the format of `patch`. Line ends belong to their lines; undefined is no file. */
export function unifiedDiff(name: string, before: string | undefined, after: string | undefined): string {
  const lines = compare(linesOf(before ?? ""), linesOf(after ?? ""));
  const hunks = groupHunks(lines);
  if (hunks.length === 0) return "";
  const heads = [`--- ${before === undefined ? "/dev/null" : name}`, `+++ ${after === undefined ? "/dev/null" : name}`];
  return `${heads.join("\n")}\n${hunks.map(renderHunk).join("")}`;
}

function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function renderHunk(hunk: readonly Line[]): string {
  const [first] = hunk;
  const range = (sign: "-" | "+", start: number): string => {
    const count = hunk.filter((line) => line.sign === " " || line.sign === sign).length;
    return `${sign}${count === 0 ? start : start + 1},${count}`;
  };
  const body = hunk.map(({ sign, text }) =>
    text.endsWith("\n") ? `${sign}${text}` : `${sign}${text}\n\\ No newline at end of file\n`,
  );
  return `@@ ${range("-", first?.old ?? 0)} ${range("+", first?.new ?? 0)} @@\n${body.join("")}`;
}

/** Changes that lie close together are shown as one, with some lines around them. */
function groupHunks(lines: readonly Line[]): Line[][] {
  const hunks: Line[][] = [];
  let end = 0;
  for (const [index, { sign }] of lines.entries()) {
    if (sign === " ") continue;
    const from = Math.max(0, index - CONTEXT_LINES);
    const to = Math.min(lines.length, index + CONTEXT_LINES + 1);
    const last = hunks.at(-1);
    if (last && from <= end) last.push(...lines.slice(end, Math.max(end, to)));
    else hunks.push(lines.slice(from, to));
    end = Math.max(end, to);
  }
  return hunks;
}

/** The shortest way from one list to the other (Myers): long files with few changes are compared fast. */
function compare(before: readonly string[], after: readonly string[]): Line[] {
  const steps: Array<Map<number, number>> = [];
  const reach = new Map([[1, 0]]);
  for (let cost = 0; cost <= before.length + after.length; cost += 1) {
    steps.push(new Map(reach));
    for (let diagonal = -cost; diagonal <= cost; diagonal += 2) {
      let x = isDown(reach, diagonal, cost) ? at(reach, diagonal + 1) : at(reach, diagonal - 1) + 1;
      while (x < before.length && x - diagonal < after.length && before[x] === after[x - diagonal]) x += 1;
      reach.set(diagonal, x);
      if (x >= before.length && x - diagonal >= after.length) return walkBack(steps, before, after);
    }
  }
  return [];
}

function walkBack(
  steps: ReadonlyArray<Map<number, number>>,
  before: readonly string[],
  after: readonly string[],
): Line[] {
  const lines: Line[] = [];
  let x = before.length;
  let y = after.length;
  for (let cost = steps.length - 1; cost >= 0; cost -= 1) {
    const reach = steps[cost] ?? new Map<number, number>();
    const previous = isDown(reach, x - y, cost) ? x - y + 1 : x - y - 1;
    const start = at(reach, previous);
    while (x > start && y > start - previous && x > 0 && y > 0) {
      lines.push({ sign: " ", text: before[(x -= 1)] ?? "", old: x, new: (y -= 1) });
    }
    if (cost === 0) break;
    if (x === start) lines.push({ sign: "+", text: after[(y -= 1)] ?? "", old: x, new: y });
    else lines.push({ sign: "-", text: before[(x -= 1)] ?? "", old: x, new: y });
  }
  return lines.toReversed();
}

function isDown(reach: ReadonlyMap<number, number>, diagonal: number, cost: number): boolean {
  return diagonal === -cost || (diagonal !== cost && at(reach, diagonal - 1) < at(reach, diagonal + 1));
}

function at(reach: ReadonlyMap<number, number>, diagonal: number): number {
  return reach.get(diagonal) ?? -1;
}
