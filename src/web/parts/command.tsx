import { makeVisible } from "../../core/text/visible.ts";
import { type Reader, tell } from "./reader.ts";

/** Something to type into a terminal, with a button that copies it. */
export function Command({ reader, id, text }: { reader: Reader; id: string; text: string }) {
  return (
    <p class="command">
      <code id={id}>{makeVisible(text)}</code>
      <button type="button" data-copy={`#${id}`} hidden>
        {tell(reader, "copy")}
      </button>
    </p>
  );
}
