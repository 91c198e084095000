export const DOCS = "https://docs.github.com/rest";

export type Send = (status: number, body: unknown, more?: Record<string, string>) => void;

/** A request that fits GitHub's description. */
export interface GithubAsked {
  /** The method and the path after the repository, with its parameters in braces. */
  name: string;
  parameters: Record<string, string>;
  query: URLSearchParams;
  body: Record<string, unknown>;
}

export function notFound(message = "Not Found") {
  return { message, documentation_url: DOCS, status: "404" };
}

export function invalid(message: string) {
  return { message, documentation_url: DOCS, status: "422" };
}
