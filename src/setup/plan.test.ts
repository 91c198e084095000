import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse as parseToml } from "smol-toml";
import { describe, expect, test } from "vitest";
import { parse as parseYaml } from "yaml";
import { SetupHome } from "../../test/setup-home.ts";
import { type Json, isJson } from "../agents/json.ts";
import { applyPlans } from "./apply.ts";
import type { Format } from "../edit/editor.ts";
import type { Target } from "../agents/wiring.ts";
import { AGENTS } from "../agents/agents.ts";
import { clientsOf, findClient } from "./clients.ts";
import { type FilePlan, isChange, planClients } from "./plan.ts";
import { recordsFor, undoRecord } from "./undo.ts";

const FIXTURES = fileURLToPath(new URL("../../test/fixtures/init", import.meta.url));

interface Fixture {
  client: string;
  name: string;
}
const all: Fixture[] = readdirSync(FIXTURES).flatMap((client) =>
  readdirSync(join(FIXTURES, client)).map((file) => ({ client, name: file.replace(/\.fixture$/, "") })),
);
const fixtures = all.filter(({ name }) => !name.endsWith(".expected"));
const fresh = fixtures.filter(({ name }) => !name.includes("older"));
const older = fixtures.filter(({ name }) => name.includes("older"));

/** A home in which one file of a client's settings is the fixture. */
function place({ client: name, name: fixture }: Fixture) {
  const home = new SetupHome();
  const client = findClient(clientsOf(AGENTS), name)!;
  const targets = client.targets("local", home.around);
  const target = targets[fixture.startsWith("settings") ? 1 : 0]!;
  const original = read(home, { client: name, name: fixture });
  home.write(target.file, original);
  const plan = async (): Promise<FilePlan> => {
    const plans = await planClients([{ client, scope: "local" }], home.around);
    return plans.find(({ file }) => file === target.file)!;
  };
  return { home, client, target, original, plan };
}

function read(home: SetupHome, { client, name }: Fixture): Buffer {
  const bytes = readFileSync(join(FIXTURES, client, `${name}.fixture`));
  return bytes.includes("@DIR@") ? Buffer.from(bytes.toString("utf8").replaceAll("@DIR@", home.around.dir)) : bytes;
}

test("there are at least 44 files to try, and four of every client", () => {
  expect(fixtures.length).toBeGreaterThanOrEqual(44);
  for (const { name } of clientsOf(AGENTS)) {
    expect(fixtures.filter(({ client }) => client === name).length).toBeGreaterThanOrEqual(4);
  }
});

describe.each(fixtures)("$client/$name", (fixture) => {
  test("is changed once, and undone to the last byte", async () => {
    const { home, target, original, plan } = place(fixture);
    const first = await plan();
    expect(first.problem).toBeUndefined();
    expect(isChange(first)).toBe(true);
    expect((await applyPlans([first], home.at)).failed).toEqual([]);
    const changed = readFileSync(target.file);
    expect(changed.equals(first.after!)).toBe(true);
    const second = await plan();
    expect({ isChange: isChange(second), says: second.says }).toEqual({ isChange: false, says: [] });

    const [record] = await recordsFor(home.history, home.around.dir);
    expect(await undoRecord(record!)).toEqual([{ file: target.file, is: "restored" }]);
    expect(readFileSync(target.file).equals(original)).toBe(true);
    expect(await recordsFor(home.history, home.around.dir)).toEqual([]);
  });

  test("loses only what is ours when it was changed since", async () => {
    const { home, target, original, plan } = place(fixture);
    await applyPlans([await plan()], home.at);
    const since = `${readFileSync(target.file, "utf8")}\n`;
    home.write(target.file, since);
    const [record] = await recordsFor(home.history, home.around.dir);
    expect(await undoRecord(record!)).toEqual([{ file: target.file, is: "taken_out" }]);
    const left = readFileSync(target.file, "utf8");
    const parse = (text: string) => withoutEmpty(parseAs(target.format, text));
    expect(parse(left)).toEqual(parse(original.toString("utf8")));
    expect(commentsOf(left)).toEqual(commentsOf(original.toString("utf8")));
  });
});

describe.each(fresh)("$client/$name, which did not know askd,", (fixture) => {
  test("gets our block and keeps every byte outside of it", async () => {
    const { target, original, plan } = place(fixture);
    const before = original.toString("utf8");
    const after = (await plan()).after!.toString("utf8");
    // Everything that was there is still there, in its order: the change is made of insertions alone.
    expect(commonLength(before, after)).toBe(before.length);
    expect(commentsOf(after)).toEqual(commentsOf(before));
    const [was, is] = [parseAs(target.format, before), parseAs(target.format, after)];
    expect(withoutEmpty(withoutOurs(is, target))).toEqual(withoutEmpty(was));
    expect(endsOf(after)).toEqual(before.includes("\n") ? endsOf(before) : endsOf(after));
  });
});

describe.each(older)("$client/$name, which has an older form of our block,", (fixture) => {
  test("is brought up to date and keeps what its owner put into the block", async () => {
    const { home, plan } = place(fixture);
    const expected = read(home, { ...fixture, name: `${fixture.name}.expected` });
    expect((await plan()).after!.toString("utf8")).toBe(expected.toString("utf8"));
  });
});

/** Reads a text by other means than the editors do, where there are other means. */
function parseAs(format: Format, text: string): Json {
  const body = text.replace(/^\ufeff/, "");
  const value: unknown =
    format === "toml"
      ? parseToml(body, { integersAsBigInt: "asNeeded" })
      : format === "yaml"
        ? (parseYaml(body, { merge: true }) ?? {})
        : JSON.parse(body.trim() === "" ? "{}" : bare(body));
  return isJson(value) ? value : {};
}

/** JSON without comments and trailing commas; strings stay as they are. */
function bare(text: string): string {
  const tokens = /"(?:\\.|[^"\\])*"|\/\/[^\r\n]*|\/\*[\s\S]*?\*\/|[^"/]+|\//g;
  const plain = (text.match(tokens) ?? []).map((token) => (/^\/[/*]/.test(token) ? " " : token)).join("");
  return plain.replace(/("(?:\\.|[^"\\])*")|,(?=\s*[}\]])/g, (_, string: string | undefined) => string ?? "");
}

function commentsOf(text: string): string[] {
  const found = text.match(/"(?:\\.|[^"\\])*"|\/\/[^\r\n]*|\/\*[\s\S]*?\*\/|(?<=\s|^)#[^\r\n]*/g) ?? [];
  return found.filter((token) => !token.startsWith('"'));
}

/** A document without what a target is to say, taken out by hand. */
function withoutOurs(document: Json, { wishes }: Target): Json {
  const copy = structuredClone(document) as Record<string, unknown>;
  for (const wish of wishes) {
    const parent = wish.path.slice(0, -1).reduce<unknown>((inner, name) => (isJson(inner) ? inner[name] : {}), copy);
    const holder = parent as Record<string, unknown>;
    const name = wish.path.at(-1)!;
    const list = holder[name];
    if (wish.is === "server") delete holder[name];
    else if (Array.isArray(list)) holder[name] = list.filter((one) => !JSON.stringify(one).includes("askd"));
  }
  return copy;
}

/** Objects and lists without members, and nulls, do not count: something of ours may have stood there. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (!isJson(value) || value instanceof Date) return value;
  const members = Object.entries(value).map(([name, inner]) => [name, withoutEmpty(inner)] as const);
  const isFull = (inner: unknown) => inner !== null && (typeof inner !== "object" || Object.keys(inner).length > 0);
  return Object.fromEntries(members.filter(([, inner]) => isFull(inner) || inner instanceof Date));
}

function endsOf(text: string): string[] {
  return [...new Set(text.match(/\r?\n/g) ?? [])];
}

/** The length of the longest text that both contain in this order (by the book, apart from our own diff). */
function commonLength(one: string, other: string): number {
  let row = new Uint16Array(other.length + 1);
  for (let x = 1; x <= one.length; x += 1) {
    const next = new Uint16Array(other.length + 1);
    for (let y = 1; y <= other.length; y += 1) {
      next[y] = one[x - 1] === other[y - 1] ? row[y - 1]! + 1 : Math.max(row[y]!, next[y - 1]!);
    }
    row = next;
  }
  return row[other.length]!;
}
