import { findAddress } from "../core/channel/target.ts";
import type { OpenChannel } from "../core/channel/channel.ts";
import { testMessage } from "../core/channel/test-message.ts";
import type { Person } from "../core/people/person.ts";
import type { ReachChannel } from "../core/rules.ts";
import type { DoctorContext } from "./doctor-context.ts";
import type { Finding } from "./finding.ts";
import { errorText } from "./run-checks.ts";

type SendContext = Pick<DoctorContext, "rules"> & {
  openChannel: OpenChannel;
  listPeople(): Promise<Person[]>;
  /** Rings the terminal's bell; false without a terminal, undefined if it is off. */
  ring(): boolean | undefined;
};

/** Sends a real test message on every configured channel, as questions are sent, and reports the results. */
export async function sendTests(at: SendContext): Promise<Finding[]> {
  const sent = await Promise.all(at.rules.reach.map((channel) => report(channel, at)));
  return [...ring(at), ...sent];
}

async function report(reach: ReachChannel, at: SendContext): Promise<Finding> {
  const about = { area: "channels", subject: reach.name } as const;
  const failure = await send(reach, at).catch((error: unknown) => errorText(error));
  if (failure === undefined) return { ...about, code: "test_sent", level: "ok", text: "test sent" };
  return { ...about, code: "test_failed", level: "problem", text: `the test message failed: ${failure}` };
}

async function send({ name, isPersonal }: ReachChannel, { openChannel, listPeople }: SendContext) {
  const channel = await openChannel(name);
  const addresses = isPersonal ? (await listPeople()).map((person) => findAddress(person, name)) : [undefined];
  const reached = isPersonal ? addresses.filter((address) => address !== undefined) : addresses;
  if (reached.length === 0) return `nobody has paired an account; type: askd setup ${name}`;
  for (const address of reached) {
    const result = await channel.send(channel.build(testMessage(), { address }));
    if (!result.ok) return result.why;
  }
  return undefined;
}

function ring(at: SendContext): Finding[] {
  const about = { area: "channels", subject: "bell" } as const;
  const hasRung = at.ring();
  if (hasRung === undefined) return [];
  if (hasRung) return [{ ...about, code: "test_sent", level: "ok", text: "test sent" }];
  return [{ ...about, code: "test_skipped", level: "off", text: "not rung: this is not a terminal" }];
}
