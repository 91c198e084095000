import { expect, test } from "vitest";
import { ConfigHome } from "../../test/config-home.ts";
import { loadConfig } from "./load.ts";
import { formatProblem } from "../core/text/file-problem.ts";
import { rulesOf } from "./rules.ts";

async function load(text: string, file: "userFile" | "projectFile" = "userFile") {
  const home = new ConfigHome();
  home.write(home[file], text);
  const { values, errors, warnings } = await loadConfig(home.around());
  const say = (problem: (typeof errors)[number]) =>
    home.plain(formatProblem(problem)).replace(/^\S*?config\.toml:/, "");
  const hints = warnings.map(({ hint }) => hint);
  return { values, errors: errors.map(say), warnings: warnings.map(say), hints };
}

const GOOD = `
[people.lena]
name = "Lena"
telegram = "4711"
channels = ["telegram", "ntfy"]
muted = ["webhook"]

[groups]
ops = ["lena", "mika"]

[[routes]]
name = "payments"
repo = "acme/*"
label = ["payments", "billing"]
kind = "approval"
risk = ["high", "medium"]
people = ["@ops"]
channels = ["webhook"]

[[routes]]
people = ["ada"]

[channels.webhook]
url = "https://example.com/hook"
`;

test("people, groups and routes are read in their order, without problems", async () => {
  const { values, errors, warnings } = await load(GOOD);
  expect([...errors, ...warnings]).toEqual([]);
  const { routes, directory } = rulesOf(values);
  expect(directory).toEqual({
    people: { lena: { name: "Lena", telegram: "4711", channels: ["telegram", "ntfy"], muted: ["webhook"] } },
    groups: { ops: ["lena", "mika"] },
  });
  expect(routes).toMatchObject([
    {
      name: "payments",
      repo: ["acme/*"],
      label: ["payments", "billing"],
      kind: ["approval"],
      risk: ["high", "medium"],
      people: ["ops"],
      channels: ["webhook"],
    },
    { name: "route 2", people: ["ada"], channels: [] },
  ]);
});

test.each([
  [
    "a group in a group",
    '[groups]\nops = ["lena"]\noncall = ["mika", "ops"]\n',
    '3: groups.oncall contains the group "ops"; a group lists people',
  ],
  [
    "a group that is called like a person",
    '[people.ops]\nname = "Ops"\n[groups]\nops = ["lena"]\n',
    '4: "ops" is a person in [people.ops] and a group in [groups]; a name means one of them',
  ],
  [
    "two people with one address",
    '[people.lena]\ntelegram = "7"\n[people.mika]\ntelegram = "7"\n',
    "4: people.mika.telegram is the same as that of lena; each person needs one of their own",
  ],
  [
    "a risk that does not exist",
    '[[routes]]\npeople = ["ada"]\n\n[[routes]]\nrisk = "hgh"\npeople = ["ada"]\n',
    '5:1: route 2: risk cannot be "hgh"; write one or a list of: "low", "medium", "high"',
  ],
  [
    "a misspelt key of a route",
    '[[routes]]\nrepos = "acme/*"\npeople = ["ada"]\n',
    '1:1: route 1: there is no "repos" in a route; write repo, agent, label, kind or risk, and people or channels',
  ],
  [
    "a route to nobody",
    '[[routes]]\nrepo = "acme/*"\n',
    '1:1: route 1: name people = ["lena"] or channels = ["telegram"] in it',
  ],
  [
    "a channel that does not exist",
    '[people.lena]\nmuted = ["pigeon"]\n',
    '2:1: people.lena.muted cannot be ["pigeon"]; write a list of channels, such as ["telegram"]: github, slack',
  ],
])("%s is an error that says where and what to write", async (_, text, said) => {
  const { errors } = await load(text);
  expect(errors).toEqual([expect.stringContaining(said)]);
});

test.each(['[[routes]]\nchannels = ["terminal"]\n', '[people.lena]\nchannels = ["terminal"]\n'])(
  "the terminal delivers nothing, so nobody is told there: %j",
  async (text) => {
    const { errors } = await load(text);
    expect(errors).toEqual([expect.stringContaining('write a list of channels, such as ["telegram"]')]);
    expect(errors[0]).not.toContain("terminal,");
  },
);

test("a route to a channel that is not configured is a warning", async () => {
  const { warnings } = await load('[[routes]]\nchannels = ["telegram"]\n');
  expect(warnings).toEqual(["1: routes name the channel telegram, which is not configured: nobody is told there"]);
});

const LENA = '[people.lena]\nname = "Lena"\n[groups]\nops = ["lena"]\n';

test.each([
  ["a group", '[people.lena]\nname = "Lena"\n[groups]\nops = ["mika", "lnea"]\n', "4: groups.ops", "lena"],
  ["a route", `${LENA}[[routes]]\npeople = ["@osp"]\n`, "5: routes", "ops"],
  ["alerts", `${LENA}[alerts]\nto = ["len"]\n`, "6: alerts.to", "lena"],
])("a name in %s that is nearly another one is a warning with that name", async (_, text, where, meant) => {
  const { errors, warnings, hints } = await load(text);
  expect(errors).toEqual([]);
  expect(warnings).toEqual([expect.stringMatching(`^${where} names? "\\w+", which is not in`)]);
  expect(hints).toEqual([expect.stringContaining(`Did you mean ${meant}?`)]);
});

test("people whom only askd user knows are no mistyped names", async () => {
  const { warnings } = await load(`${LENA}oncall = ["mika", "ada", "elena-maria"]\n`);
  expect(warnings).toEqual([]);
});

test.each(['[people.eve]\ntelegram = "1"\n', '[groups]\nops = ["eve"]\n', '[[routes]]\npeople = ["eve"]\n'])(
  "a project names nobody: %j",
  async (text) => {
    const { errors, values } = await load(text, "projectFile");
    expect(errors).toEqual([expect.stringContaining("A project may not set")]);
    expect(values).toEqual({});
  },
);
