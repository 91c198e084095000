import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accessTable } from "../src/core/people/access-table.ts";
import { ACCESS, type AccessVerb, ROLES, type Role } from "../src/core/people/access.ts";
import { DOCUMENTED, TABLE_TEXT, type Case, casesOf, expected } from "./access-case.ts";
import { DOORS } from "./access-door.ts";
import { AccessStage } from "./access-stage.ts";

const VERBS = Object.keys(ACCESS) as AccessVerb[]; // the keys of the table
// A row is replaced while a test looks whether anybody notices.
const rows: Record<AccessVerb, { may: readonly Role[]; isGuarded?: true | "said" | undefined }> = ACCESS;

/** What the pages show goes by who signed in, or by the link: an agent gets as far as neither. */
const UNREAD: ReadonlySet<string> = new Set(["look by web", "see_all by web", "look by link"]);

let stage: AccessStage;
beforeAll(async () => (stage = await AccessStage.start()), 60_000);
afterAll(() => stage.stop());

test("the table in docs/security.md is that of the code; npm run access writes it", () => {
  expect(TABLE_TEXT).toBe(accessTable());
  expect([...DOCUMENTED.keys()]).toEqual(VERBS);
});

test.each(Object.entries(DOORS))(
  "every verb is played at the door %s, or it says why it has none",
  (_, { verbs, lacks }) => {
    const listed = [...verbs, ...lacks.flatMap(([, lacking]) => lacking)];
    expect(listed.toSorted()).toEqual(VERBS.toSorted());
  },
);

describe("through every door somebody may do what the docs say, and nothing else:", () => {
  test.each(VERBS)("%s", { timeout: 120_000 }, async (verb) => {
    const wrong: string[] = [];
    for (const one of casesOf(verb)) {
      const came = await stage.play(one);
      if (came !== expected(one)) wrong.push(`${say(one)}: ${came}, not ${expected(one)}`);
    }
    expect(wrong).toEqual([]);
    expect(casesOf(verb).length).toBeGreaterThan(0);
  });
});

describe("a row of the table that is turned off is noticed:", () => {
  test.each(VERBS)("%s", { timeout: 120_000 }, async (verb) => {
    const cases = casesOf(verb);
    const allowed = cases.filter((one) => expected(one) === "yes");
    for (const door of new Set(allowed.map((one) => one.door))) {
      const there = allowed.filter((one) => one.door === door && !UNREAD.has(`${verb} by ${door}`));
      if (there.length > 0)
        expect(await findDifferent(verb, { may: [] }, there), `nobody may by ${door}`).toBeDefined();
    }
    const refused = cases.filter((one) => expected(one) === "no" || expected(one) === "unconfirmed");
    if (refused.length === 0) return;
    expect(await findDifferent(verb, { may: ROLES, isGuarded: undefined }, refused), "everybody may").toBeDefined();
  });
});

/** The first case that comes out otherwise while the row is another one. */
async function findDifferent(
  verb: AccessVerb,
  over: (typeof rows)[AccessVerb],
  cases: readonly Case[],
): Promise<string | undefined> {
  const row = rows[verb];
  for (const one of cases) {
    rows[verb] = row;
    const came = await stage.play(one, () => (rows[verb] = { ...row, ...over })).finally(() => (rows[verb] = row));
    if (came !== expected(one)) return `${say(one)}: ${came}`;
  }
  return undefined;
}

function say({ verb, door, who, kind }: Case): string {
  return `${verb} by ${door} as ${who}, ${kind}`;
}
