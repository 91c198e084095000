/** Messages of the answer link page, in English. */
export const enLink = {
  "event.linked": "{name} created an answer link",
  "link.as": "You answer as {name}.",
  "link.personal": "This link is only for {name} and only for this question. If that is not you, close this page.",
  "link.bad": "This link does not work.",
  "link.badAbout": "It was revoked, or it was not copied completely. Ask the sender for a new one.",
  "link.yours": "You have answered this question; this link cannot be used again.",
  "link.closed": "This question is closed and can no longer be answered.",
  "link.voted": "You chose “{answer}”: {n} of {need}. You can change it here until it is decided.",
  "link.kept": "Your text was not sent:",
  "link.send": "Answer",
  "link.sendWords": "Send your own answer",
  "link.undo": "You can undo this for {span}.",
  "way.unproven": "{channel}, not proven",
} as const;
