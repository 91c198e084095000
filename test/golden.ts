import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Typed } from "./typed.ts";

/** Set to write golden files anew instead of comparing with them; look at what changed before you commit it. */
const UPDATE = "ASKD_UPDATE_GOLDEN";

/** What was typed and what came back, as it stands in the file of that name below `test/golden`. */
export class Transcript {
  readonly #type: (argv: readonly string[]) => Promise<Typed>;
  readonly #root: string;
  #text = "";

  /** What lies below `root`, which has another name each time, is shown below `/project`. */
  constructor(type: (argv: readonly string[]) => Promise<Typed>, root = "/project") {
    this.#type = type;
    this.#root = root;
  }

  /** Types a command and writes down what it printed, on which stream, and its exit code if it is not 0. */
  async type(...argv: string[]): Promise<Typed> {
    const typed = await this.#type(argv);
    this.add(argv, typed);
    return typed;
  }

  add(argv: readonly string[], { exit, stdout, stderr }: Typed): void {
    const said = [
      `$ askd ${argv.map(shown).join(" ")}`.trimEnd(),
      stdout.replace(/\n$/, ""),
      ...(stderr === "" ? [] : [stderr.replace(/\n$/, "").replace(/^/gm, "2> ")]),
      ...(exit === 0 ? [] : [`(exit ${exit})`]),
    ];
    this.#text += `${said.filter((part, index) => index === 0 || part !== "").join("\n")}\n\n`;
  }

  /** Everything so far, without what differs from day to day. */
  get text(): string {
    return settle(this.#text.replaceAll(this.#root, "/project"));
  }

  /** What the golden file of that name holds; one that is missing is never made by itself. */
  golden(name: string): string {
    const file = fileURLToPath(new URL(`golden/${name}.txt`, import.meta.url));
    if (process.env[UPDATE] === "1") {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, this.text);
    }
    if (!existsSync(file)) throw new Error(`There is no ${file}; make it with ${UPDATE}=1`);
    return readFileSync(file, "utf8");
  }
}

/** Ids that people are shown in full depend on how many were made before; of questions the part stays that they type. */
function settle(text: string): string {
  return (
    text
      // The ids of tokens are made by chance.
      .replace(/\b[0-9a-f]{12}\b/g, "0123456789ab")
      .replace(/\bq_[0-9a-z]{10}(?=[0-9a-z]{16}\b)/g, "q_01jcs7z0aa")
      .replace(/\b([arw])_[0-9a-z]{26}\b/g, "$1_01jcs7z0aa8d2cmn8pqrstvwxy")
      .replace(/\banswer-[0-9a-z]{16}\b/g, "answer-4f7c2a9d")
      .replace(/\br-[0-9a-z]{4}\b/g, "r-8d2c")
  );
}

function shown(word: string): string {
  return /^[\w#=:.,?/@+-]+$/.test(word) ? word : `"${word}"`;
}
