import { type PageReader, tell } from "./page-reader.ts";

/** A secret that is shown now and never again, with a button that copies it. */
export function ShownOnce({ reader, about, text }: { reader: PageReader; about: string; text: string }) {
  return (
    <div class="banner ok" role="status">
      <p>{about}</p>
      <pre class="once" id="shown-once" tabindex={0}>
        {text}
      </pre>
      <button type="button" data-copy="#shown-once" hidden>
        {tell(reader, "copy")}
      </button>
    </div>
  );
}
