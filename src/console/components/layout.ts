import { asOfBar, type Dated, withAt } from './as-of.js';
import { Html, html, type Part } from './html.js';

/** Light or dark as somebody has chosen; null as the system has it. */
export type Theme = 'light' | 'dark' | null;

export interface Frame {
  readonly title: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** What of the body is there at once. */
  readonly body: Html;
  readonly about: Html | false;
  readonly goesOn: boolean;
  /** Null where a page is of no instant. */
  readonly dated: Dated | null;
  readonly hasDemo: boolean;
  readonly theme: Theme;
}

type Place = readonly [path: string, name: string];

/** Six rooms, each with its pages; a room is entered by its first. */
const ROOMS = [
  room('Now', ''),
  room('Credits', 'warehouse inventory reservations projects inventory-requests'),
  room('Retirements', 'retirements certificates'),
  room('Organizations', 'organizations installations members addresses'),
  room('Changes', 'changes balance'),
  room('Operations', 'deliveries rejected-webhooks jobs syncs'),
];
const UNDATED = ['Changes', 'Operations'];
const THEMES = { light: 'Light', dark: 'Dark', '': 'System' };

type Room = ReturnType<typeof room>;

function room(name: string, pages: string): readonly [name: string, pages: readonly Place[]] {
  const called: Readonly<Record<string, string>> = {
    '': 'Now',
    'inventory-requests': 'Requests',
    'rejected-webhooks': 'Rejected',
    balance: 'Reconciliation',
  };
  const nameOf = (page: string) => called[page] ?? `${page.charAt(0).toUpperCase()}${page.slice(1)}`;
  return [name, pages.split(' ').map(page => [`/${page}`, nameOf(page)])];
}

/** A whole page, to the end of the body that is there at once and after whatever follows it. It says all that it says without a script. */
export function layout({ title, path, query, body, about, goesOn, dated, hasDemo, theme }: Frame) {
  const at = dated?.at ?? null;
  const entered = ROOMS.find(([, pages]) => pages.some(([to]) => isIn(path, to)));
  const rooms = ROOMS.map(([name, [[to] = ['/']]]) =>
    link(UNDATED.includes(name) ? to : withAt(to, at), name, name === entered?.[0] && IN_ROOM),
  );
  const hasTabs = entered !== undefined && entered[1].length > 1;
  const aside = [['/ask', 'SQL'] as const, ...(hasDemo ? [['/demo', 'Demo'] as const] : []), HELP].map(
    ([to, name]) => link(to, name, path === to && CURRENT),
  );
  const first = html`<!doctype html>
<html lang="en"${theme !== null && html` class="${theme}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · carbon-mirror</title>
<link rel="stylesheet" href="/console.css">
${SCRIPT}${goesOn && AGAIN}
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header class="top">
<a class="brand" href="/">carbon-mirror</a>${hasDemo && html` <a class="state doubt" href="/demo" title="This mirror reads a sandbox registry with invented data">demo</a>`}
<nav aria-label="Pages"><ul>${rooms}</ul></nav>
<form class="search" method="get" action="/search" role="search" aria-label="Everything"><label><span>Search</span><input id="search" name="q" type="search" placeholder="Search  /" value="${path === '/search' && query.get('q')}"></label></form>
<ul>${aside}</ul>
<details class="menu"><summary>Menu</summary><ul>${rooms}${aside}</ul></details>
</header>
<p id="link" role="status" hidden>This page could not be updated and may be out of date.</p>
${(hasTabs || about || dated !== null) && html`<div class="under">${hasTabs && tabs(entered, path, at)}${about}${dated !== null && asOfBar(path, query, dated)}</div>`}
<main id="content">${body}`;
  const last = html`</main>
<footer>${themes(theme, path, query)}</footer>
</body>
</html>
`;
  return { first, last };
}

function isIn(path: string, to: string): boolean {
  return path === to || (to !== '/' && path.startsWith(`${to}/`));
}

function link(href: string, name: string, current: Html | false): Html {
  return html`<li><a href="${href}"${current}>${name}</a></li>`;
}

function tabs([name, pages]: Room, path: string, at: string | null): Part {
  return html`<nav class="tabs" aria-label="${name}">${pages.map(
    ([to, page]) =>
      html`<a href="${UNDATED.includes(name) ? to : withAt(to, at)}"${path === to ? CURRENT : isIn(path, to) && IN_ROOM}>${page}</a>`,
  )}</nav>`;
}

function themes(theme: Theme, path: string, query: URLSearchParams): Html {
  return html`<form method="post" action="/theme"><input type="hidden" name="to" value="${query.size === 0 ? path : `${path}?${query.toString()}`}">${Object.entries(
    THEMES,
  ).map(
    ([value, name]) =>
      html`<button name="theme" value="${value}" aria-pressed="${(theme ?? '') === value ? 'true' : 'false'}">${name}</button>`,
  )}</form>`;
}

const HELP: Place = ['/help', 'Help'];
/** Not in a template: a bundler rewrites those that end a script. */
const SCRIPT = new Html('<script src="/console.js" defer></script>');
const AGAIN = html`<noscript><meta http-equiv="refresh" content="2"></noscript>`;
const CURRENT = html` aria-current="page"`;
const IN_ROOM = html` aria-current="true"`;
