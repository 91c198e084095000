import type { QuestionSnapshot } from "../changes.ts";
import { shortId } from "../id.ts";
import type { Option } from "../question/content.ts";
import { isPending } from "../question/question.ts";
import type { Rules } from "../rules.ts";
import { sayReason } from "../run/reason-words.ts";
import type { Run } from "../run/run.ts";
import type { Language } from "../text/language.ts";
import { messageRun } from "./message-facts.ts";
import { tellIn } from "./message-words.ts";
import { type QuestionMessage, countCharacters, cutText, messageLine, questionMessage } from "./message.ts";
import { pageLink } from "./page-link.ts";
import { RUN_PART_CHARS, sayRun } from "./run-line.ts";
import { testMessage } from "./test-message.ts";
import type { Notice } from "./notice.ts";

/** Builds the message of news: it only tells, and nobody can answer it. */
export function noticeMessage(
  run: Run,
  notice: Notice,
  token: string,
  rules: Rules,
  language: Language = rules.language,
): QuestionMessage {
  const line = messageLine(rules);
  const { reason, ...values } = notice.values;
  const said = {
    run: `#${run.number}`,
    number: run.number,
    ...values,
    reason: sayReason(language, String(reason ?? "")),
  };
  return {
    ...testMessage(language),
    questionId: token,
    runId: run.id,
    shortId: shortId(run.id),
    token,
    news: notice.what,
    title: line(tellIn(language, `notice.${notice.what}`, said).replace(/: \./, ".").replace(/: $/, "")),
    about: sayRun(run, messageLine(rules, RUN_PART_CHARS), language),
    run: messageRun(run, line),
    link: pageLink(`/r/${run.id}`, rules),
  };
}

/** The most questions that a digest names. */
const MOST_LISTED = 20;
const LISTED_CHARS = 90;

/** Builds one message for many questions and news: its buttons bring a question, and answer none. */
export function digestMessage(
  reads: readonly QuestionSnapshot[],
  news: readonly string[],
  { token, rules, language = rules.language }: { token: string; rules: Rules; language: Language | undefined },
): QuestionMessage {
  const listed = reads.slice(0, MOST_LISTED);
  // A letter stays with its question when others close.
  const options = listed.flatMap((read, index): Option[] => {
    if (!isPending(read.question)) return [];
    const { title, shortId: id, about } = questionMessage(read, "", rules, language);
    const label = cutText(title, LISTED_CHARS, countCharacters).text;
    return [{ key: digestKey(index), value: read.question.id, label, description: `${about} · askd answer ${id}` }];
  });
  const waiting = reads.filter(({ question }) => isPending(question)).length;
  const more = waiting - options.length;
  const word = waiting === 0 ? "digest.over" : waiting === 1 ? "digest.title.one" : "digest.title";
  const title = tellIn(language, word, { n: waiting });
  return {
    ...testMessage(language),
    questionId: token,
    token,
    isOpen: waiting > 0,
    title,
    items: [{ id: "digest", text: title, options, multiple: false, allowText: false }],
    notes: [...(more > 0 ? [tellIn(language, "digest.more", { n: more })] : []), ...news],
    link: pageLink("/", rules),
  };
}

/** A to T. */
export function digestKey(index: number): string {
  return String.fromCharCode("a".charCodeAt(0) + index);
}
