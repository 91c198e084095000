import { raw } from "hono/html";
import { renderMarkdown } from "./parts/markdown.tsx";

/** What an agent wrote, as Markdown in a box of its own. */
export function Markdown({ text }: { text: string }) {
  return <div class="md">{raw(renderMarkdown(text))}</div>;
}
