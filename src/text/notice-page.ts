import { createHash } from 'node:crypto';

/** The style of pages outside the console, which cannot load its stylesheet. */
const STYLE = `
:root { color-scheme: light dark; --ink: light-dark(#16211d, #e6ece9); --quiet: light-dark(#52615b, #9fafa8); --line: light-dark(#dfe5e2, #29332f); --good: light-dark(#0d5f35, #77d39a); --strong: light-dark(#9aa8a1, #52615b); }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-content: start center; padding: 12vh 1rem 2rem; color: var(--ink); background: light-dark(#f4f6f5, #0e1311); font: .9375rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; overflow-wrap: anywhere; }
main { width: min(34rem, 100vw - 2rem); padding: 1.5rem 1.75rem; background: light-dark(#ffffff, #161d1a); border: 1px solid var(--line); border-radius: .5rem; }
.brand { margin: 0 0 1rem; font-weight: 700; }
.brand::before { content: ""; display: inline-block; width: .8rem; height: .8rem; margin-right: .45rem; border-radius: 50%; border: .2rem solid light-dark(#2f66b0, #6ea3e6); vertical-align: -.1rem; }
h1 { margin: 0 0 .5rem; font-size: 1.375rem; line-height: 1.3; }
p { margin: 0 0 .75rem; }
ol { margin: 1rem 0 0; padding: 0; list-style: none; }
li { position: relative; padding: 0 0 1rem 1.75rem; }
li::before { content: ""; position: absolute; left: .3rem; top: .45rem; width: .6rem; height: .6rem; border-radius: 50%; background: var(--strong); }
li.done::before { background: var(--good); }
li:not(:last-child)::after { content: ""; position: absolute; left: .57rem; top: 1.3rem; bottom: -.25rem; width: 1px; background: var(--line); }
li span { display: block; color: var(--quiet); }
code { padding: .1rem .35rem; border: 1px solid var(--line); border-radius: .3rem; font: .875rem ui-monospace, Menlo, Consolas, monospace; }
form { display: flex; flex-wrap: wrap; gap: .5rem; }
select, button { font: inherit; color: inherit; background: none; padding: .35rem .6rem; border: 1px solid var(--strong); border-radius: .5rem; }
select { flex: 1 1 12rem; min-width: 0; }
option { color: #16211d; background: #ffffff; }
button { font-weight: 550; cursor: pointer; }
`;

/** The source of the style for the directive `style-src` of a Content-Security-Policy. */
export const NOTICE_STYLE_SOURCE = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;

interface Notice {
  readonly title: string;
  /** The heading, if it is not the title. Escaped by the caller, like `content`. */
  readonly heading?: string;
  /** The name above the heading, if it is not that of this program. */
  readonly brand?: string;
  readonly content: string;
}

/** Renders a page with one message, for people who are not signed in to the console. `content` is HTML. */
export function renderNoticePage({
  title,
  heading = title,
  brand = 'carbon-mirror',
  content,
}: Notice): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title><style>${STYLE}</style></head>
<body><main><p class="brand">${brand}</p><h1>${heading}</h1>
${content}
</main></body>
</html>
`;
}
