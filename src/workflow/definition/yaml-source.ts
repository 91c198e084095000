import {
  type Alias,
  type CST,
  type Document,
  type Node,
  type Scalar,
  Composer,
  LineCounter,
  Parser,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  visit,
} from "yaml";
import { FORBIDDEN_NAMES } from "../../core/workflow/definition/expression.ts";
import type { ValuePath } from "../../core/workflow/definition/definition-problem.ts";

export const MOST_YAML_BYTES = 256 * 1024;
const MOST_DEPTH = 64;
const MOST_ALIASES = 100;
const MOST_VALUES = 20_000;
const MOST_CHARS = 1_000_000;
const LONGEST_LIBRARY_MESSAGE = 200;

/** A place in a file, counted from 1. */
export interface YamlPlace {
  line: number;
  column: number;
}

/** A mistake that keeps a file from being read as data. */
export interface YamlProblem extends YamlPlace {
  message: string;
  hint?: string;
}

/** The data of a file, and where each part of it stands. */
export interface YamlSource {
  value: unknown;
  /** The place of a value, or of its key; of the nearest value around it if it is missing. */
  findPlace(path: ValuePath, part?: { isKey?: boolean | undefined; offset?: number | undefined }): YamlPlace;
}

/** Reads YAML within limits: plain data only, with no tags, no directives and one document. */
export function readYaml(text: string): { source: YamlSource } | { problems: YamlProblem[] } {
  const bytes = Buffer.byteLength(text);
  if (bytes > MOST_YAML_BYTES) {
    return { problems: [{ line: 1, column: 1, message: `The file has ${bytes} bytes; at most ${MOST_YAML_BYTES}` }] };
  }
  const lines = new LineCounter();
  const tokens = [...new Parser(lines.addNewLine).parse(text)];
  const placeAt = (offset: number): YamlPlace => {
    const { line, col } = lines.linePos(Math.min(offset, text.length));
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  // The library composes nodes recursively, so the depth is checked on its tokens first.
  const tooDeep = findTooDeep(tokens);
  if (tooDeep !== undefined) return { problems: [{ ...placeAt(tooDeep), message: TOO_DEEP }] };
  // Each check compares with all keys before it, so keys are checked in `Reader` instead.
  const composer = new Composer({ schema: "core", version: "1.2", uniqueKeys: false, logLevel: "silent" });
  const documents = [...composer.compose(tokens, true, text.length)];
  const [document] = documents;
  const problems = findDocumentProblems(documents, placeAt);
  if (!document || problems.length > 0) return { problems };
  const reader = new Reader(document, placeAt);
  const value = reader.read(document.contents, 0);
  if (reader.problems.length > 0) return { problems: reader.problems };
  return {
    source: {
      value,
      findPlace: (path, { isKey, offset } = {}) => {
        const { node, key } = reader.findNode(path);
        return placeAt(isKey && key ? startOf(key) : startOf(node ?? key) + offsetIn(node, offset, text));
      },
    },
  };
}

const TOO_DEEP = `The file is nested deeper than ${MOST_DEPTH} levels`;

/** The offset of the first token that is nested too deep. */
function findTooDeep(tokens: readonly CST.Token[]): number | undefined {
  const open: Array<{ token: CST.Token; depth: number }> = tokens.map((token) => ({ token, depth: 0 }));
  for (;;) {
    const next = open.pop();
    if (!next) return undefined;
    const { token, depth } = next;
    if (depth > MOST_DEPTH + 1) return token.offset;
    const inner = innerTokens(token);
    open.push(...inner.map((each) => ({ token: each, depth: depth + 1 })));
  }
}

function innerTokens(token: CST.Token): CST.Token[] {
  if (token.type === "document") return token.value ? [token.value] : [];
  if (!("items" in token)) return [];
  return token.items.flatMap(({ key, value }) => [key, value].filter((each) => each !== undefined && each !== null));
}

function findDocumentProblems(
  documents: readonly Document.Parsed[],
  placeAt: (offset: number) => YamlPlace,
): YamlProblem[] {
  const [document, second] = documents;
  if (!document || document.contents === null) {
    if (document?.errors.length === 0) return [{ line: 1, column: 1, message: "The file is empty" }];
  }
  if (second)
    return [{ ...placeAt(second.range[0]), message: "A file holds one workflow; remove the second document" }];
  if (document?.directives.yaml.explicit === true) {
    return [{ line: 1, column: 1, message: "A workflow needs no % line; remove it" }];
  }
  return [...(document?.errors ?? []), ...(document?.warnings ?? [])].map(({ pos, message }) => ({
    ...placeAt(pos[0]),
    message: (message.split("\n")[0] ?? "").slice(0, LONGEST_LIBRARY_MESSAGE),
  }));
}

/** Turns nodes into plain data, with limits on what aliases can make of it. */
class Reader {
  readonly problems: YamlProblem[] = [];
  readonly #contents: Node | null;
  readonly #placeAt: (offset: number) => YamlPlace;
  readonly #targets = new Map<Alias, Node | undefined>();
  #valuesLeft = MOST_VALUES;
  #charsLeft = MOST_CHARS;

  constructor(document: Document.Parsed, placeAt: (offset: number) => YamlPlace) {
    this.#contents = document.contents;
    this.#placeAt = placeAt;
    this.#collect(document);
  }

  read(node: unknown, depth: number): unknown {
    if (this.problems.length > 0 || !isNode(node)) return null;
    this.#valuesLeft -= 1;
    if (depth > MOST_DEPTH) return this.#refuse(node, TOO_DEEP);
    if (this.#valuesLeft < 0) return this.#refuse(node, `The file has more than ${MOST_VALUES} values`);
    if (isAlias(node)) return this.#readAlias(node, depth);
    if (isScalar(node)) return this.#readScalar(node);
    if (isSeq(node)) return node.items.map((item) => this.read(item, depth + 1));
    return isMap(node) ? this.#readMap(node.items, depth) : null;
  }

  /** The node of a value and of its key. */
  findNode(path: ValuePath): { node: Node | undefined; key: Node | undefined } {
    let found: { node: Node | undefined; key: Node | undefined } = {
      node: this.#contents ?? undefined,
      key: undefined,
    };
    for (const name of path) {
      const inner = this.#findInner(found.node, name);
      if (!inner) return found;
      found = inner;
    }
    return found;
  }

  #findInner(outer: Node | undefined, name: string | number) {
    const node = isAlias(outer) ? this.#targets.get(outer) : outer;
    if (isSeq(node)) {
      const item = node.items[Number(name)];
      return isNode(item) ? { node: item, key: undefined } : undefined;
    }
    if (!isMap(node)) return undefined;
    const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(name));
    if (!pair || !isNode(pair.key)) return undefined;
    return { node: isNode(pair.value) ? pair.value : undefined, key: pair.key };
  }

  /** Finds the node of each alias, and what plain data has not. */
  #collect(document: Document.Parsed) {
    const anchors = new Map<string, Node>();
    visit(document, {
      Node: (_, node) => {
        if (isAlias(node)) this.#targets.set(node, anchors.get(node.source));
        else if (node.anchor !== undefined) anchors.set(node.anchor, node);
        if (this.#targets.size > MOST_ALIASES) {
          this.#refuse(node, `The file has more than ${MOST_ALIASES} aliases`);
          return visit.BREAK;
        }
        // The core schema has !!str, !!int and so on; they say nothing that the value does not.
        if (!isAlias(node) && node.tag !== undefined) this.#refuse(node, "Tags such as !name are not allowed");
        return undefined;
      },
    });
  }

  #readAlias(node: Alias, depth: number): unknown {
    const target = this.#targets.get(node);
    // One level deeper, so that an alias inside its own anchor has an end.
    return target ? this.read(target, depth + 1) : this.#refuse(node, `There is no anchor &${node.source} before this`);
  }

  #readScalar(node: Scalar): unknown {
    const { value } = node;
    if (typeof value === "string") {
      this.#charsLeft -= value.length;
      if (this.#charsLeft < 0) return this.#refuse(node, `The file has more than ${MOST_CHARS} characters in all`);
      return value;
    }
    if (typeof value === "number" && !Number.isFinite(value)) return this.#refuse(node, "This number is not finite");
    return typeof value === "number" || typeof value === "boolean" ? value : null;
  }

  #readMap(pairs: ReadonlyArray<{ key: unknown; value: unknown }>, depth: number): unknown {
    const members = new Map<string, unknown>();
    for (const { key, value } of pairs) {
      if (!isScalar(key) || key.value === null) {
        const node = isNode(key) ? key : undefined;
        return this.#refuse(node, "A key is a plain text");
      }
      const name = typeof key.value === "string" ? key.value : JSON.stringify(key.value);
      if (FORBIDDEN_NAMES.includes(name)) return this.#refuse(key, `The key ${name} is not allowed`);
      if (members.has(name)) return this.#refuse(key, `The key ${name} is there twice`);
      members.set(name, this.read(value, depth + 1));
    }
    return Object.fromEntries(members);
  }

  #refuse(node: Node | undefined, message: string): null {
    this.problems.push({ ...this.#placeAt(startOf(node)), message });
    return null;
  }
}

function startOf(node: Node | undefined): number {
  return node?.range?.[0] ?? 0;
}

/** How far into a text in the file a character of its value stands; 0 where that cannot be said. */
function offsetIn(node: Node | undefined, offset: number | undefined, text: string): number {
  if (!isScalar(node) || typeof node.value !== "string" || offset === undefined || !node.range) return 0;
  const written = text.slice(node.range[0], node.range[1]);
  const value = node.value;
  if (node.type === "BLOCK_LITERAL") return offsetInBlock(written, value, offset);
  const at = written.indexOf(value);
  return at < 0 ? 0 : at + offset;
}

/** In a block, each line of the value has a line of its own, indented, after the first. */
function offsetInBlock(written: string, value: string, offset: number): number {
  const before = value.slice(0, offset).split("\n");
  const lines = written.split("\n");
  const line = lines[before.length] ?? "";
  const column = before.at(-1)?.length ?? 0;
  const indent = line.length - (value.split("\n")[before.length - 1]?.length ?? 0);
  const above = lines.slice(0, before.length).reduce((sum, each) => sum + each.length + 1, 0);
  return above + Math.max(0, indent) + column;
}
