import type { Block, View } from "../channels/slack-shape.ts";

/** A message or form of Slack, with the name of the state that it shows. */
export interface SlackShot {
  name: string;
  blocks?: readonly Block[];
  /** A message without blocks: a note or a reminder. */
  text?: string;
  view?: View;
}

const STYLE = `
  :root { color-scheme: light dark; --ink: light-dark(#1d1c1d, #d1d2d3); --quiet: light-dark(#616061, #ababad);
    --page: light-dark(#fff, #1a1d21); --line: light-dark(#bbb, #565856); --code: light-dark(#f8f8f8, #232529); }
  body { margin: 0; padding: 16px; font: 15px/1.46 Lato, "Noto Sans", sans-serif; color: var(--ink); background: var(--page); }
  main { display: grid; gap: 24px; grid-template-columns: repeat(auto-fill, minmax(min(100%, 580px), 1fr)); align-items: start; }
  figure { margin: 0; min-width: 0; border: 1px dashed var(--line); padding: 8px 12px; border-radius: 8px; }
  figcaption { font-size: 12px; color: var(--quiet); margin-bottom: 4px; }
  h2 { font-size: 18px; line-height: 1.35; margin: 4px 0; overflow-wrap: anywhere; }
  p { margin: 6px 0; white-space: pre-wrap; overflow-wrap: anywhere; }
  pre { margin: 4px 0; padding: 8px; border: 1px solid var(--line); border-radius: 4px; background: var(--code);
    font: 12px/1.5 monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
  code { font: 12px monospace; color: light-dark(#c01343, #e8912d); background: var(--code); padding: 1px 3px; }
  .context { font-size: 13px; color: var(--quiet); display: flex; flex-wrap: wrap; gap: 2px 8px; }
  .context span { white-space: pre-wrap; overflow-wrap: anywhere; }
  .actions { display: flex; flex-wrap: wrap; gap: 8px; margin: 8px 0; }
  .button { border: 1px solid var(--line); border-radius: 4px; padding: 4px 12px; font-weight: 700; max-width: 100%;
    overflow: hidden; text-overflow: ellipsis; white-space: nowrap; box-sizing: border-box; }
  .primary { background: #007a5a; border-color: #007a5a; color: #fff; } .danger { color: light-dark(#c01343, #ff8fa3); border-color: currentColor; }
  .mention { background: light-dark(#e8f5fa, #1d3d4f); color: light-dark(#1264a3, #78c4f5); padding: 0 2px; border-radius: 3px; }
  .menu { font-size: 12px; color: var(--quiet); width: 100%; }
  .modal { box-shadow: 0 2px 16px #0006; border-radius: 8px; padding: 12px 20px; }
  .field { border: 1px solid var(--line); border-radius: 4px; min-height: 56px; margin: 4px 0; }
  .bar { display: flex; justify-content: space-between; font-weight: 900; font-size: 18px; }
  .foot { display: flex; justify-content: flex-end; gap: 8px; margin-top: 8px; }
  a { color: light-dark(#1264a3, #78c4f5); }`;

/** Draws blocks as Slack shows them, near enough to see what people see. */
export function drawBlockKit(shots: readonly SlackShot[]): string {
  const figures = shots.map(
    ({ name, blocks = [], text, view }) =>
      `<figure><figcaption>${escapeHtml(name)}</figcaption>${text === undefined ? "" : paragraph(text)}${
        blocks.map(drawBlock).join("") + (view ? drawView(view) : "")
      }</figure>`,
  );
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
    <title>Slack</title><style>${STYLE}</style><main>${figures.join("\n")}</main></html>`;
}

type AnyBlock = View["blocks"][number];
type Element = Extract<Block, { type: "actions" }>["elements"][number];

function drawBlock(block: AnyBlock): string {
  switch (block.type) {
    case "header":
      return `<h2>${escapeHtml(block.text.text)}</h2>`;
    case "section":
      return paragraph(block.text.text);
    case "context":
      return `<div class="context">${block.elements.map(({ text }) => `<span>${inline(text)}</span>`).join("")}</div>`;
    case "actions":
      return `<div class="actions">${block.elements.map(drawElement).join("")}</div>`;
    default:
      return drawInput(block);
  }
}

function drawElement(element: Element): string {
  const sure = element.confirm ? ` <small>⟨${escapeHtml(element.confirm.title.text)}⟩</small>` : "";
  if (element.type === "button") {
    return `<span class="button ${element.style ?? ""}">${escapeHtml(element.text.text)}</span>${sure}`;
  }
  const options = element.options.map(({ text }) => escapeHtml(text.text));
  if (element.type === "overflow")
    return `<span class="button">⋯</span>${sure}<div class="menu">⋯ ${options.join(" · ")}</div>`;
  const hint = "placeholder" in element ? (element.placeholder?.text ?? "") : "";
  return `<span class="button">${escapeHtml(hint)} ▾</span>${sure}<div class="menu">▾ ${options.slice(0, 12).join(" · ")} (${options.length})</div>`;
}

function drawInput({ label, element, optional }: Extract<AnyBlock, { type: "input" }>): string {
  const head = `<p><b>${escapeHtml(label.text)}</b>${optional ? " <small>(optional)</small>" : ""}</p>`;
  if (element.type === "plain_text_input") return `${head}<div class="field"></div>`;
  const mark = element.type === "radio_buttons" ? "○" : element.type === "checkboxes" ? "☐" : "▾";
  const lines = element.options.map(
    ({ text, description }) =>
      `<div>${mark} ${escapeHtml(text.text)}${description ? `<br><small>${escapeHtml(description.text)}</small>` : ""}</div>`,
  );
  return head + lines.join("");
}

function drawView({ title, submit, close, blocks }: View): string {
  return `<div class="modal"><div class="bar"><span>${escapeHtml(title.text)}</span><span>×</span></div>${blocks
    .map(drawBlock)
    .join(
      "",
    )}<div class="foot"><span class="button">${escapeHtml(close.text)}</span><span class="button primary">${escapeHtml(submit.text)}</span></div></div>`;
}

/** Slack's text is escaped already: what looks like a tag of ours in it stays text. */
function paragraph(text: string): string {
  const parts = text.split(/^```$/m);
  return parts
    .map((part, at) => (at % 2 === 1 ? `<pre>${part.trim()}</pre>` : `<p>${inline(part.trim())}</p>`))
    .join("");
}

function inline(text: string): string {
  return text
    .replace(/<!date\^\d+\^[^|]*\|([^>]*)>/g, "$1")
    .replace(/<(https?:[^|>]*)\|([^>]*)>/g, '\u0001a href="$1"\u0002$2\u0001/a\u0002')
    .replace(/<([@!][^>]*)>/g, '\u0001span class="mention"\u0002$1\u0001/span\u0002')
    .replaceAll("<", "&lt;")
    .replace(/`([^`\n]+)`/g, "\u0001code\u0002$1\u0001/code\u0002")
    .replace(/(^|\s)\*([^*\n]+)\*/g, "$1\u0001b\u0002$2\u0001/b\u0002")
    .replaceAll("\u0001", "<")
    .replaceAll("\u0002", ">");
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
