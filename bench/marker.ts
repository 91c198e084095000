import { MarkerScanner } from "../src/agents/marker/marker.ts";

/** Pieces as a model streams them, and the seconds after which the naive way is given up. */
const PIECE_CHARS = 4096;
const GIVE_UP_S = Number(process.argv[2] ?? 5);
const MB = 1024 * 1024;
const GOAL = 100;

const PROSE = 'The cache is <T>generic; a << 2 shifts, {braces} and "quotes" are plain words. ';
const subjects = [
  { name: "plain", start: "" },
  { name: "unclosed marker", start: '<<ASK_HUMAN>> {"question": "' },
];
const ways = [
  { name: "scanner", make: makeScanner },
  { name: "naive", make: makeNaive },
];

console.log(`marker search, pieces of ${PIECE_CHARS} characters, Node ${process.versions.node}; goal: ${GOAL} MB/s`);
const rows = [1, 10, 100].flatMap((size) =>
  subjects.map(({ name, start }) => ({
    "": `${size} MB, ${name}`,
    ...Object.fromEntries(ways.map((way) => [way.name, measure(way.make(), start, size * MB)])),
  })),
);
console.table(rows);

/** Feeds that much text and says how fast it was looked through. */
function measure(push: (text: string) => void, start: string, chars: number): string {
  const piece = PROSE.repeat(Math.ceil(PIECE_CHARS / PROSE.length)).slice(0, PIECE_CHARS);
  const startedAt = performance.now();
  push(start);
  for (let seen = 0; seen < chars; seen += piece.length) {
    push(piece);
    if (performance.now() - startedAt > GIVE_UP_S * 1000) {
      return `gave up after ${GIVE_UP_S} s, at ${(seen / MB).toFixed(1)} MB`;
    }
  }
  return `${(chars / MB / ((performance.now() - startedAt) / 1000)).toFixed(0)} MB/s`;
}

function makeScanner(): (text: string) => void {
  const scanner = new MarkerScanner();
  return (text) => void scanner.push(text);
}

/** All words are kept and searched again with every piece. */
function makeNaive(): (text: string) => void {
  let all = "";
  return (text) => {
    all += text;
    /<<ASK_HUMAN>>\s*(\{[\s\S]*?\})\s*<<\/ASK_HUMAN>>/.exec(all);
  };
}
