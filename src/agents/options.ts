/** How many words an option takes: none, one, as many as follow, or one if one follows. */
type Takes = "none" | "one" | "many" | "maybe";

/** The options of a program, each by all its names, the first being the one that we use. */
export type OptionTable = ReadonlyArray<readonly [takes: Takes, ...names: string[]]>;

/** One thing on a command line, with the arguments that it is written in. */
export type Piece =
  | { kind: "option"; name: string; values: readonly string[]; args: readonly string[] }
  | { kind: "word"; word: string; args: readonly string[] };

/** Takes a command line apart as the program would. An unknown option takes nothing. */
export function parsePieces(args: readonly string[], table: OptionTable): Piece[] {
  const pieces: Piece[] = [];
  for (let at = 0; at < args.length;) {
    const arg = args[at] ?? "";
    if (arg === "--") return [...pieces, ...args.slice(at + 1).map(wordPiece)];
    if (!arg.startsWith("-") || arg === "-") {
      pieces.push(wordPiece(arg));
      at += 1;
      continue;
    }
    const option = readOption(arg, table);
    const count = option.value === undefined ? countValues(args, at + 1, option.takes) : 0;
    const values = option.value === undefined ? args.slice(at + 1, at + 1 + count) : [option.value];
    pieces.push({ kind: "option", name: option.name, values, args: args.slice(at, at + 1 + count) });
    at += 1 + count;
  }
  return pieces;
}

/** The last value that an option was given; an empty text when it was given without one. */
export function findOption(pieces: readonly Piece[], name: string): string | undefined {
  const piece = pieces.findLast((one) => one.kind === "option" && one.name === name);
  return piece?.kind === "option" ? (piece.values.at(-1) ?? "") : undefined;
}

/** The pieces without these options. */
export function withoutOptions(pieces: readonly Piece[], ...names: string[]): Piece[] {
  return pieces.filter((piece) => piece.kind !== "option" || !names.includes(piece.name));
}

/** Writes pieces as arguments again. */
export function writePieces(pieces: readonly Piece[]): string[] {
  return pieces.flatMap((piece) => piece.args);
}

function wordPiece(word: string): Piece {
  return { kind: "word", word, args: [word] };
}

function readOption(arg: string, table: OptionTable): { name: string; takes: Takes; value?: string } {
  const equals = arg.startsWith("--") ? arg.indexOf("=") : -1;
  const given = equals < 0 ? arg : arg.slice(0, equals);
  const row = table.find(([, ...names]) => names.includes(given));
  if (row) return { name: row[1] ?? given, takes: row[0], ...(equals >= 0 && { value: arg.slice(equals + 1) }) };
  // A short option may carry its value in the same word: -mgpt-5.
  const short = arg.startsWith("--") ? undefined : table.find(([, ...names]) => names.includes(arg.slice(0, 2)));
  if (short && short[0] !== "none") {
    return { name: short[1] ?? arg, takes: short[0], value: arg.slice(2).replace(/^=/, "") };
  }
  return { name: given, takes: "none" };
}

function countValues(args: readonly string[], from: number, takes: Takes): number {
  if (takes === "none") return 0;
  if (takes === "one") return from < args.length ? 1 : 0;
  const rest = args.slice(from);
  const end = rest.findIndex((arg) => arg.startsWith("-") && arg !== "-");
  const count = end < 0 ? rest.length : end;
  return takes === "maybe" ? Math.min(1, count) : count;
}
