// What a person said in a comment, or ticked in ours.

/** What only this action writes: in a person's words it is nothing. */
const MARK = /<!--\s*askd v1[\s\S]*?-->/g;
const BOX = /^- \[[xX]\] \*\*([A-Z])\) /;

/**
 * The answer in a comment: a key, number or label on its first line with a reason below it, or `/answer q-… B reason`.
 * Where there are options, other words answer only as a command: people also talk in issues. `isNamed` if it says which
 * question it answers.
 */
export function readAnswer(body, { id, options }) {
  const said = withoutQuotes(body.replace(MARK, ""));
  if (said === "" || said.startsWith("@")) return undefined;
  const [, name, command] = /^\/answer(?:[ \t]+(q-[0-9a-f]+))?(?=\s|$)[ \t]*([\s\S]*)$/i.exec(said) ?? [];
  if (name !== undefined && name.toLowerCase() !== id) return undefined;
  const answer = readWords((command ?? said).trim(), { options, isCommand: command !== undefined });
  return answer && { ...answer, isNamed: name !== undefined };
}

function readWords(text, { options, isCommand }) {
  const [first, ...rest] = text.split("\n");
  const option = findOption(options, first);
  if (option) return answered(option, rest.join("\n").trim());
  if (isCommand) {
    const [, word = "", reason = ""] = /^(\S+)[ \t]+(\S[\s\S]*)$/.exec(text) ?? [];
    const named = findOption(options, word);
    if (named) return answered(named, reason);
  }
  return text !== "" && (options.length === 0 || isCommand) ? { answer: text, values: [] } : undefined;
}

function answered({ value }, note) {
  return { answer: value, values: [value], ...(note !== "" && { note }) };
}

/** The option that a text names by its key, value, label or number. */
export function findOption(options, text = "") {
  const said = text
    .trim()
    .replace(/^[("'*_]+|[)"'*_.,!:]+$/g, "")
    .toLowerCase();
  return options.find((option, index) =>
    [option.key, option.value, option.label, String(index + 1), `${option.key}) ${option.label}`].some(
      (name) => name.toLowerCase() === said,
    ),
  );
}

/** The options whose boxes are ticked in our comment. */
export function readTicks(body, { options }) {
  const lines = (body ?? "").replaceAll("\r\n", "\n").split("\n");
  const rest = lines.slice(lines.indexOf("### Options") + 1);
  const end = rest.findIndex((line) => line.startsWith("### "));
  const keys = rest.slice(0, end < 0 ? undefined : end).flatMap((line) => BOX.exec(line)?.[1] ?? []);
  return options.filter(({ key }) => keys.includes(key));
}

function withoutQuotes(body) {
  return body
    .replaceAll("\r\n", "\n")
    .split("\n")
    .filter((line) => !/^ {0,3}>/.test(line))
    .join("\n")
    .trim();
}
