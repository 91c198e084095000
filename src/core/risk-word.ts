import { makeVisible } from "./text/visible.ts";

const QUOTED = /[`"“']([^`"”'\s]{3,40})[`"”']/;
// A name as programs have it: joined by signs that words of a sentence are not joined by.
const NAME = /[A-Za-z0-9]+(?:[_/.:-][A-Za-z0-9]+)+/;

/** The word that somebody types to show that they read a question of high risk: what it is about, or its run's name. */
export function wordToType(title: string, runName: string): string {
  const found = QUOTED.exec(title)?.[1] ?? NAME.exec(title)?.[0];
  // What a reader cannot see they cannot type.
  const isTypeable = found !== undefined && found.length <= 40 && makeVisible(found) === found;
  return isTypeable ? found : runName.trim();
}
