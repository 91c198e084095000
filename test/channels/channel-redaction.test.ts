import { expect, test } from "vitest";
import type { WireMessage } from "../../src/core/channel/channel.ts";
import { questionMessage } from "../../src/core/channel/message.ts";
import { ADA } from "../builders.ts";
import { OWN_SECRETS, isHalfLeft } from "../redaction.ts";
import { Scene, said } from "../scene.ts";
import { secretSamples } from "../secret-samples.ts";
import { OWN_FORMS } from "../secret-texts.ts";
import { allChannels } from "./all-channels.ts";
import { lettersOf, textsIn } from "./wire-text.ts";

/** Every sample of one in so many: all providers and syntaxes are among them. */
const ONE_IN = 3;
const TOKEN = "T0KEN";

interface Sample {
  name: string;
  text: string;
  /** What must not leave. */
  secret: string;
  /** The secrets that the asker knows. */
  own: readonly string[];
}

const KNOWN: readonly Sample[] = secretSamples(11)
  .filter((_, index) => index % ONE_IN === 0)
  .map((sample) => ({ ...sample, own: [] }));
const OWN: readonly Sample[] = OWN_SECRETS.flatMap((secret) =>
  OWN_FORMS.map(([name, write]) => ({ name, text: write(secret), secret: write(secret), own: [secret] })),
);

/** Everything that a channel sends about a question: asked, with its answer, and as a reminder of it. */
async function wiresOf({ text, own }: Sample) {
  const scene = new Scene({ rules: { publicUrl: "https://askd.example.com" } });
  const options = [{ label: text, description: text }, { label: "No" }];
  const input = scene.input({ question: `Is this right? ${text}`, context: text, options });
  const asked = await scene.engine.ask(input, ADA, { secrets: own });
  // The secrets of an asker are kept nowhere: what a person types later is only searched for known forms.
  const note = own.length > 0 ? {} : { note: text };
  const closed = await scene.engine.answer(asked.question.id, said("1", note), ADA);
  const messages = [asked, closed].map((read) => questionMessage(read, TOKEN, scene.rules));
  return (build: (message: (typeof messages)[number]) => WireMessage) => messages.map(build);
}

/** The samples that leave by each channel, wholly or by half, and how many of them it shows the place of. */
async function measure(samples: readonly Sample[]) {
  const channels = await allChannels();
  const found = channels.map(({ name }) => ({ name, left: [] as string[], masked: 0 }));
  for (const sample of samples) {
    const wires = await wiresOf(sample);
    const secret = lettersOf(sample.secret);
    for (const [index, { channel }] of channels.entries()) {
      const texts = wires((message) => channel.build(message, { address: "42", person: "mika" })).flatMap(textsIn);
      const measured = found[index];
      const letters = lettersOf(texts.join("\n"));
      if (isHalfLeft(letters, secret)) measured?.left.push(`${sample.name}: ${sample.text}`);
      if (measured && letters.includes("redacted")) measured.masked += 1;
    }
  }
  return found;
}

test("no channel sends more than 2 of 100 made-up secrets of others, and each shows that something was there", async () => {
  for (const { name, left, masked } of await measure(KNOWN)) {
    expect({ name, recall: 1 - left.length / KNOWN.length >= 0.98, left }).toMatchObject({ name, recall: true });
    expect({ name, masked: masked / KNOWN.length >= 0.95 }).toEqual({ name, masked: true });
  }
}, 120_000);

test("no channel sends a secret of the asker, in whatever form it is written", async () => {
  for (const { name, left, masked } of await measure(OWN)) {
    expect({ name, left }).toEqual({ name, left: [] });
    expect({ name, masked: masked / OWN.length >= 0.95 }).toEqual({ name, masked: true });
  }
}, 120_000);
