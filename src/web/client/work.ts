import { find, parsePage } from "./dom.ts";

/** Puts what the agent changed into the card; reading it takes git a while, so the card does not wait for it. */
export function showWork(): void {
  const place = find<HTMLElement>("#work[data-src]");
  if (place) read(place.dataset["src"] ?? "").catch(() => undefined); // the link to it is still there
}

async function read(address: string): Promise<void> {
  const response = await fetch(address, { headers: { accept: "text/html" } });
  const work = response.ok ? find("#work", parsePage(await response.text())) : null;
  if (work) find("#work")?.replaceWith(work);
}
