import { asOfBar, withAt } from './as-of.js';
import { Html, html } from './html.js';

export interface Frame {
  readonly title: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** What of the body is there at once. */
  readonly body: Html;
  /** Null where a page is of no instant. */
  readonly dated: { readonly at: string | null; readonly now: string } | null;
  readonly hasDemo: boolean;
}

const DATED: readonly (readonly [path: string, name: string])[] = [
  ['/', 'Now'],
  ['/organizations', 'Organizations'],
  ['/warehouse', 'Warehouse'],
  ['/retirements', 'Retirements'],
];
const MENU: readonly (readonly [path: string, name: string])[] = [
  ['/changes', 'Changes'],
  ['/deliveries', 'Deliveries'],
  ['/jobs', 'Jobs'],
  ['/syncs', 'Syncs'],
  ['/ask', 'Ask'],
];
const DEMO: typeof MENU = [['/demo', 'Demo']];

interface Layout {
  /** To the end of the body that is there at once. */
  readonly first: Html;
  /** After whatever follows it. */
  readonly last: Html;
}

/** A whole page. It says all that it says without a script. */
export function layout({ title, path, query, body, dated, hasDemo }: Frame): Layout {
  const at = dated?.at ?? null;
  const menu = [
    ...DATED.map(([to, name]) => [withAt(to, at), name, to] as const),
    ...MENU,
    ...(hasDemo ? DEMO : []),
  ];
  const bar = dated !== null && asOfBar(path, query, dated);
  const first = html`<!doctype html>
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
<nav aria-label="Pages"><ul>${menu.map(
    ([href, name, to = href]) => html`<li><a href="${href}"${path === to && CURRENT}>${name}</a></li>`,
  )}</ul></nav>
<form class="search" method="get" action="/search" role="search"><label>Search<input id="search" name="q" type="search" value="${path === '/search' && query.get('q')}"></label></form>
<a href="/help">Help</a>
<p id="link" role="status" hidden>The connection to the console is gone. What you see may be old.</p>
</header>
<main id="content">${at !== null && bar}${body}`;
  const last = html`${at === null && bar}</main>
</body>
</html>
`;
  return { first, last };
}

/** Not in a template: a bundler rewrites those that end a script. */
const SCRIPT = new Html('<script src="/console.js" defer></script>');
const CURRENT = html` aria-current="page"`;
