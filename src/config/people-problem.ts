import { plainName } from "../core/people/person.ts";
import { findNearest } from "../core/text/nearest.ts";
import { formatKey } from "./key.ts";
import type { ConfigProblem } from "./config-problem.ts";
import { reachOf } from "./reach.ts";
import type { Values } from "./schema.ts";

const ADDRESSES = ["email", "slack", "github", "chat", "telegram", "ntfy"] as const;

type PeopleProblem = Pick<ConfigProblem, "level" | "message" | "hint"> & { path: readonly string[] };

/** The contradictions between people, groups and routes, which no single value shows. */
export function findPeopleProblems(
  values: Values,
  origins: ReadonlyMap<string, { file: string; line: number }>,
): ConfigProblem[] {
  const found = [
    ...groupProblems(values),
    ...mistypedNames(values),
    ...sharedAddresses(values),
    ...idleChannels(values),
  ];
  return found.map(({ path, ...problem }) => {
    const key = formatKey(path);
    const origin = origins.get(key);
    return { ...problem, key, source: origin?.file ?? "", line: origin?.line };
  });
}

/** A name means one thing: a person or a group. A group lists people: nobody has to look through groups of groups. */
function groupProblems({ people = {}, groups = {} }: Values): PeopleProblem[] {
  const isGroup = (name: string) => Object.hasOwn(groups, name);
  return Object.entries(groups).flatMap(([group, members]): PeopleProblem[] => {
    const path = ["groups", group];
    const inner = members.map(plainName).find(isGroup);
    const nested: PeopleProblem[] =
      inner === undefined
        ? []
        : [
            {
              level: "error",
              path,
              message: `groups.${group} contains the group "${inner}"; a group lists people`,
              hint: `Write the people of ${inner} into it`,
            },
          ];
    if (!Object.hasOwn(people, group)) return nested;
    const message = `"${group}" is a person in [people.${group}] and a group in [groups]; a name means one of them`;
    return [...nested, { level: "error", path, message, hint: "Rename the group" }];
  });
}

/** A name that is nearly one of the settings is a typo; any other may be a person of `askd user`. */
function mistypedNames({ people = {}, groups = {}, routes = [], alerts = {} }: Values): PeopleProblem[] {
  const all = [...Object.keys(people), ...Object.keys(groups)];
  const namedBy = [
    ...Object.entries(groups).map(([group, members]) => ({ path: ["groups", group], says: "names", members })),
    { path: ["routes"], says: "name", members: routes.flatMap((route) => route.people ?? []) },
    { path: ["alerts", "to"], says: "names", members: alerts.to ?? [] },
  ];
  return namedBy.flatMap(({ path, says, members }) =>
    [...new Set(members.map(plainName))].flatMap((name): PeopleProblem[] => {
      const meant = all.includes(name) ? undefined : findNearest(name, all);
      if (meant === undefined) return [];
      const message = `${formatKey(path)} ${says} "${name}", which is not in [people] or [groups]`;
      return [{ level: "warning", path, message, hint: `Did you mean ${meant}? If not, add [people.${name}]` }];
    }),
  );
}

/** A reply from an address proves one person. */
function sharedAddresses({ people = {} }: Values): PeopleProblem[] {
  const all = Object.entries(people);
  return ADDRESSES.flatMap((field) =>
    all.flatMap(([id, person], index): PeopleProblem[] => {
      const address = person[field]?.toLowerCase();
      const first = all.slice(0, index).find(([, other]) => other[field]?.toLowerCase() === address);
      if (address === undefined || !first) return [];
      const message = `people.${id}.${field} is the same as that of ${first[0]}; each person needs one of their own`;
      return [{ level: "error", path: ["people", id, field], message }];
    }),
  );
}

/** A rule that names a channel without settings tells nobody there. */
function idleChannels(values: Values): PeopleProblem[] {
  const configured = reachOf(values).map(({ name }) => name);
  const named = (values.routes ?? []).flatMap(({ channels = [] }) => channels);
  return [...new Set(named)]
    .filter((name) => !configured.includes(name))
    .map((name) => ({
      level: "warning",
      path: ["routes"],
      message: `routes name the channel ${name}, which is not configured: nobody is told there`,
      hint: `Set it up: askd setup ${name}`,
    }));
}
