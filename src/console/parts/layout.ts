import { Html, html } from './html.js';

export interface Frame {
  readonly title: string;
  readonly path: string;
  readonly body: Html;
}

const MENU: readonly (readonly [path: string, name: string])[] = [
  ['/', 'Now'],
  ['/organizations', 'Organizations'],
  ['/retirements', 'Retirements'],
  ['/deliveries', 'Deliveries'],
  ['/jobs', 'Jobs'],
  ['/runs', 'Reads'],
];

/** A whole page. It says all that it says without a script. */
export function layout({ title, path, body }: Frame): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · carbon-mirror</title>
<link rel="stylesheet" href="/console.css">
${SCRIPT}
</head>
<body>
<a class="skip" href="#content">To the content</a>
<header>
<a class="name" href="/">carbon-mirror</a>
<nav aria-label="Pages"><ul>${MENU.map(
    ([to, name]) => html`<li><a href="${to}"${path === to && CURRENT}>${name}</a></li>`,
  )}</ul></nav>
<p id="link" role="status" hidden>The connection to the console is gone. What you see may be old.</p>
</header>
<main id="content">${body}</main>
</body>
</html>
`;
}

/** Not in a template: a bundler rewrites those that end a script. */
const SCRIPT = new Html('<script src="/console.js" defer></script>');
const CURRENT = html` aria-current="page"`;
