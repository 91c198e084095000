import { makeVisible } from "../../core/text/visible.ts";

const CODE = /(`[^`]+`)/;

/** The title of a question; text between backticks is code, as in the Markdown that agents write. */
export function TitleText({ title }: { title: string }) {
  const parts = makeVisible(title).split(CODE);
  return <>{parts.map((part) => (CODE.test(part) ? <code>{part.slice(1, -1)}</code> : part))}</>;
}
