/** How long somebody who was invited can take to sign in. */
export const INVITE_MS = 3 * 24 * 60 * 60 * 1000;

/** A path that signs a person in with one click and leads on to a page; nothing happens before the click. */
export function signInPath({ code, person, next }: { code: string; person: string; next?: string }): string {
  const query = new URLSearchParams({ code, as: person });
  if (next !== undefined && next !== "/") query.set("next", next);
  return `/login?${query.toString()}`;
}
