/** The sentences of the page of an answer link in English. */
export const enLink = {
  "event.linked": "{name} made an answer link",
  "link.as": "You answer as {name}.",
  "link.personal": "This link is only for {name} and only for this question. If that is not you, close this page.",
  "link.bad": "This link does not work.",
  "link.badAbout": "It was withdrawn, or it was copied in part. Ask whoever sent it for a new one.",
  "link.yours": "You have answered this question; the link is used.",
  "link.closed": "This question is closed; nothing can be answered here any more.",
  "link.voted": "You chose “{answer}”: {n} of {need}. Until it is decided you can change it here.",
  "link.kept": "This is what you wrote; it was not sent:",
  "link.send": "Answer",
  "link.sendWords": "Answer in your own words",
  "link.undo": "You can take it back for {span}.",
  "way.unproven": "{channel}, not proven",
} as const;
