const en = {
  "chan.state.sent": "Last sent",
  "chan.state.first": "Nothing sent yet",
  "chan.state.failing": "failing",
  "chan.state.since": "since",
  "chan.state.listening": "Replies are read",
  "chan.state.waiting": "{n} messages waiting",
  "chan.state.waiting.one": "1 message waiting",
  "chan.state.reaches": "Reaches {n} people",
  "chan.state.reaches.one": "Reaches 1 person",
  "chan.state.nobody": "reaches nobody",
  "chan.state.nobody.how": "No account is paired yet. Pair one:",
  "chan.what.message": "message",
  "chan.what.edit": "change",
  "chan.what.reminder": "reminder",
};

const de: Readonly<Record<keyof typeof en, string>> = {
  "chan.state.sent": "Zuletzt gesendet",
  "chan.state.first": "Noch nichts gesendet",
  "chan.state.failing": "gestört",
  "chan.state.since": "seit",
  "chan.state.listening": "Antworten werden gelesen",
  "chan.state.waiting": "{n} Nachrichten warten",
  "chan.state.waiting.one": "1 Nachricht wartet",
  "chan.state.reaches": "Erreicht {n} Personen",
  "chan.state.reaches.one": "Erreicht 1 Person",
  "chan.state.nobody": "erreicht niemanden",
  "chan.state.nobody.how": "Noch ist kein Konto gekoppelt. So geht es:",
  "chan.what.message": "Nachricht",
  "chan.what.edit": "Änderung",
  "chan.what.reminder": "Erinnerung",
};

export const CHANNEL_WORDS = { en, de } as const;
