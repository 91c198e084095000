import type { OpenChannel } from "../../core/channel/channel.ts";
import { type MessagePreview, withoutAddresses } from "../../core/channel/message-preview.ts";
import { questionMessage } from "../../core/channel/message.ts";
import { recipientOf } from "../../core/channel/recipient.ts";
import { targetsOf } from "../../core/channel/target.ts";
import type { QuestionId } from "../../core/id.ts";
import { SYSTEM } from "../../core/people/actor.ts";
import { Refusal } from "../../core/refusal.ts";
import type { Decider } from "../decide.ts";

/** Stands for the token of a real message, so that nobody can answer with what is shown. */
const NO_TOKEN = "0".repeat(32);

/** Builds what each channel would get of a question as it is now; sends nothing. */
export async function previewMessages(
  { decider, openChannel }: { decider: Decider; openChannel: OpenChannel | undefined },
  id: QuestionId,
): Promise<MessagePreview[]> {
  if (!openChannel) return [];
  const { rules, now } = decider.at(SYSTEM);
  const read = await decider.rows.read(id);
  const people = await decider.readPeople();
  const targets = targetsOf(read.question, { rules, people, now });
  return Promise.all(
    targets.map(async ({ channel, person }) => {
      const recipient = people.find((each) => each.id === person);
      const message = questionMessage(read, NO_TOKEN, rules, recipient?.language);
      try {
        const to = recipientOf(read.question, { channel, person }, people);
        const wire = (await openChannel(channel)).build(message, to);
        return { channel, person, message: withoutAddresses(wire) };
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        return { channel, person, problem: error.message };
      }
    }),
  );
}
