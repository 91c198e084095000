import { sayOnlyDenied } from "../../core/channel/answer-elsewhere.ts";
import type { CardElement } from "chat";
import { type QuestionMessage, choicesOf, cutText, fitText, sayHowToReply } from "../../core/channel/message.ts";
import { neutraliseLinks, neutraliseMentions } from "../../core/text/mention.ts";
import { makeVisible } from "../../core/text/visible.ts";
import type { Platform } from "./platform.ts";

const JOINER = "\u2060"; // a word joiner: invisible, and no service continues a name across it

/** Makes foreign text harmless: it mentions nobody, links nowhere, and everything in it can be seen. */
export function harmless(text: string): string {
  return neutraliseLinks(neutraliseMentions(makeVisible(text))).replaceAll("{{emoji:", `{${JOINER}{emoji:`);
}

/** The card of a question: its text, and a button for each choice if there are few enough. */
export function questionCard(message: QuestionMessage, platform: Platform, hasContext: boolean): CardElement {
  const { text, isWhole } = fitCard(message, platform, hasContext);
  const choices = choicesOf(message, { isWhole, strength: "person" });
  const buttons = choices.length > platform.mostButtons ? [] : choices;
  return {
    type: "card",
    children: [
      { type: "text", content: text },
      ...(buttons.length === 0
        ? []
        : [
            {
              type: "actions" as const,
              children: buttons.map(({ key, label, value }) => ({
                type: "button" as const,
                id: message.token,
                value: key,
                label: cutText(harmless(`${key}) ${label}`), platform.labelChars, (part) => part.length).text,
                ...styleOf(message, value),
              })),
            },
          ]),
    ],
  };
}

function styleOf({ kind, denials, items }: QuestionMessage, value: string) {
  if (kind === "approval" && denials.has(value)) return { style: "danger" as const };
  const isRecommended = items[0]?.options.find((option) => option.value === value)?.recommended;
  return isRecommended ? { style: "primary" as const } : {};
}

/** The text of a card. An approval that does not fit can only be denied there, and says so. */
export function fitCard(message: QuestionMessage, { text }: Platform, hasContext: boolean) {
  const fit = (how: string) =>
    fitText(message, {
      limit: text.limit,
      count: (part) => text.count(part),
      foreign: harmless,
      hasContext,
      hasTitle: true,
      how,
    });
  const whole = fit(message.accepts.length === 0 ? "" : sayHowToReply(message));
  if (whole.isWhole || message.kind !== "approval") return whole;
  return { ...fit(sayOnlyDenied(message)), isWhole: false };
}

/** A card that is only words: a response, a reminder or a note. */
export function wordsCard(text: string, { text: { limit, count } }: Platform): CardElement {
  const content = cutText(harmless(text), limit, (part) => count(part)).text;
  return { type: "card", children: [{ type: "text", content: content === "" ? "…" : content }] };
}
