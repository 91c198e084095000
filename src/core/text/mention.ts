const JOINER = "\u2060"; // a word joiner: invisible, and no service continues a name across it

/**
 * Neutralises what a chat service would act on in foreign text: mentions of people, groups and everybody, references to
 * issues, and Slack's angle brackets. Readers see the same text.
 */
export function neutraliseMentions(text: string): string {
  return text
    .replace(/@(?=[\w*])/g, `@${JOINER}`)
    .replace(/<(?=[!@#])/g, `<${JOINER}`)
    .replace(/#(?=\d)/g, `#${JOINER}`);
}

/** Neutralises links that hide their address behind other words, as Markdown has them: both are shown. */
export function neutraliseLinks(text: string): string {
  return text.replaceAll("](", `]${JOINER}(`);
}
