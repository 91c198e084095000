import type { Page } from "playwright-core";
import { z } from "zod";

const Problems = z.array(z.string());

// Whatever runs calls this, and whatever is forbidden is told here.
const TRAP = `
  window.hits = [];
  window.hit = () => window.hits.push("ran");
  addEventListener("securitypolicyviolation", (event) => window.hits.push(event.violatedDirective + " " + event.blockedURI));
`;

// What a page may consist of: our own elements, no handlers, no styles, no addresses but of the web and of ourselves.
const FIND = `(document) => {
  const found = [];
  const bad = "iframe,object,embed,base,style,img,picture,image,video,audio,source,math,marquee,frameset,template,slot,x,xmp,plaintext,listing,animate,set,use,foreignObject,annotation-xml,area,applet";
  for (const element of document.querySelectorAll(bad)) found.push("element " + element.outerHTML.slice(0, 120));
  for (const element of document.querySelectorAll("*")) {
    for (const { name, value } of element.attributes) {
      if (name.startsWith("on") || name === "style" || name === "srcdoc" || name === "background") found.push(name + " on " + element.tagName);
      if (!/^(href|src|action|formaction|xlink:href|data|poster|srcset)$/.test(name)) continue;
      const isOwn = /^\\/(?![/\\\\])/.test(value) || value.startsWith("#");
      const isLink = element.tagName === "A" && name === "href" && /^(https?:\\/\\/|mailto:)/i.test(value);
      if (!isOwn && !isLink) found.push(name + "=" + value.slice(0, 80));
    }
  }
  for (const script of document.querySelectorAll("script")) {
    if (!script.getAttribute("src")?.startsWith("/assets/") || script.textContent) found.push("a script");
  }
  return [...new Set(found)];
}`;

/** A page on which everything is noticed that should not happen. */
export class Trap {
  readonly page: Page;
  readonly #url: string;
  /** What happened that nobody sees on the page itself. */
  readonly #happened = new Set<string>();

  private constructor(page: Page, url: string) {
    this.page = page;
    this.#url = url;
  }

  /** Sets the trap on a page that goes to the server at this address and nowhere else. */
  static async set(page: Page, url: string): Promise<Trap> {
    const trap = new Trap(page, url);
    const { host } = new URL(url);
    await page.addInitScript(TRAP);
    page.on("request", (request) => {
      const to = new URL(request.url());
      if (to.host !== host) trap.#happened.add(`asked ${to.host}`);
      if (to.pathname === "/csp-report") trap.#happened.add(`reported ${request.postData() ?? ""}`.slice(0, 300));
    });
    page.on("popup", (popup) => trap.#happened.add(`opened ${popup.url()}`));
    page.on("dialog", (dialog) => {
      trap.#happened.add(`said ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on("download", (download) => trap.#happened.add(`loaded ${download.url()}`));
    return trap;
  }

  /** Opens an address, and everything on its page, touches it, and says what is there that should not be. */
  async look(path: string): Promise<string[]> {
    await this.page.goto(path.startsWith("http") ? path : this.#url + path);
    return this.lookHere(path);
  }

  /** The same for the page that is open. */
  async lookHere(name: string): Promise<string[]> {
    await this.page.evaluate("document.querySelectorAll('details').forEach((details) => (details.open = true))");
    await this.page.mouse.move(500, 300);
    await this.page.mouse.move(520, 420);
    const found = Problems.parse(await this.page.evaluate(`[...window.hits, ...(${FIND})(document)]`));
    const isHere = new URL(this.page.url()).host === new URL(this.#url).host;
    const problems = [...found, ...this.#happened, ...(isHere ? [] : [`led to ${this.page.url()}`])];
    this.#happened.clear();
    return problems.map((problem) => `${name.slice(0, 80)}: ${problem}`);
  }
}

/** What is wrong with pages that are only read: many at a time, on a page that has no policy of its own. */
export async function readInert(page: Page, pages: readonly string[]): Promise<string[]> {
  const find = `(pages) => pages.flatMap((html) => (${FIND})(new DOMParser().parseFromString(html, "text/html")))`;
  return Problems.parse(await page.evaluate(`(${find})(${JSON.stringify(pages)})`));
}
