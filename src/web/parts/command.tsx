import { makeVisible } from "../../core/text/visible.ts";
import { type PageReader, tell } from "./page-reader.ts";

/** A command to type, with a button that copies it. */
export function Command({ reader, id, text }: { reader: PageReader; id: string; text: string }) {
  return (
    <p class="command">
      <code id={id}>{makeVisible(text)}</code>
      <button type="button" data-copy={`#${id}`} hidden>
        {tell(reader, "copy")}
      </button>
    </p>
  );
}
