import { later } from "../../../core/instant.ts";
import { requireAccess } from "../../../core/people/access.ts";
import { Person } from "../../../core/people/person.ts";
import { INVITE_MS, signInPath } from "../../../core/people/sign-in-link.ts";
import { Refusal } from "../../../core/refusal.ts";
import { formatDuration } from "../../../core/text/duration.ts";
import { whoManages } from "../../actor.ts";
import { requireOneArgument } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Flags } from "../../flags.ts";
import { printResult } from "../../output.ts";
import { getPublicAddress, sayWhereItWorks } from "../../public-address.ts";
import { oneLine } from "../../view/sanitise.ts";

const flags = {
  name: { type: "string", value: "name", about: "Their display name, if they are new" },
  email: { type: "string", value: "address", about: "Their email address, if they are new" },
  group: {
    type: "string",
    multiple: true,
    value: "group",
    about: "A group of theirs, if they are new; can be repeated",
  },
} as const satisfies Flags;

export const command: Command<typeof flags> = {
  usage: "invite <person>",
  flags,
  fields: ["url", "person", "expires_at", "is_new"],
  examples: ["askd invite lena", "askd invite lena --email lena@example.com --group ops"],
  async run({ flags: given, positionals }, context) {
    const id = requireOneArgument(positionals, command.usage);
    const engine = await context.engine();
    const by = await whoManages(engine, context);
    const known = (await engine.listPeople()).some((person) => person.id === id);
    requireAccess("make_token", by);
    const { name, email, group: groups } = given;
    if (known && [name, email, groups].some((value) => value !== undefined)) {
      throw new Refusal("bad_input", `${oneLine(id)} is on the list of people already`, {
        hint: `Change them with: askd user set ${oneLine(id)} …; invite them with: askd invite ${oneLine(id)}`,
      });
    }
    const parsed = Person.safeParse({ id, version: 0, name, email, groups: groups ?? [] });
    if (!parsed.success) {
      throw new Refusal("bad_input", `"${oneLine(id)}" cannot be added as they stand`, {
        hint: "Write it like: askd invite lena --email lena@example.com --group ops",
      });
    }
    const address = await getPublicAddress(context);
    if (!known) await engine.putPerson(parsed.data, by);
    const expiresAt = later(await engine.now(), INVITE_MS);
    const { text } = await engine.issueToken({ scope: "login", subject: id, expiresAt }, by);
    const url = `${address}${signInPath({ code: text, person: id })}`;
    printResult(context, command.fields ?? [], {
      page: () => `${url}\n`,
      json: () => ({ url, person: id, expires_at: expiresAt, is_new: !known }),
    });
    if (context.isQuiet) return 0;
    const added = known ? "" : `${oneLine(id)} was added. `;
    context.stderr.write(
      `${added}Whoever opens this link signs in as ${oneLine(id)}; it works once, within ${formatDuration(INVITE_MS)}\n`,
    );
    sayWhereItWorks(address, context);
    return 0;
  },
};
