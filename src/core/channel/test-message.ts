import type { Language } from "../text/language.ts";
import type { QuestionMessage } from "./message.ts";
import { tellIn } from "./message-words.ts";

/** A message that only tests whether a channel works. */
export function testMessage(language: Language = "en"): QuestionMessage {
  return {
    questionId: "test",
    runId: "test",
    shortId: "test",
    language,
    token: "",
    news: undefined,
    kind: "question",
    risk: "low",
    needsPerson: false,
    isOpen: false,
    isSettling: false,
    accepts: [],
    issue: undefined,
    closedBy: undefined,
    isRedacted: false,
    title: tellIn(language, "test"),
    outcome: undefined,
    items: [],
    context: undefined,
    about: "askd",
    notes: [],
    deadline: undefined,
    dueAt: undefined,
    timeout: undefined,
    allowText: false,
    denials: new Set(),
    link: undefined,
  };
}
