import { renderAsOfBar, type AsOfState, withAsOf } from './as-of.js';
import { Html, html, type HtmlContent } from './html.js';

/** The theme that a visitor has chosen; null follows the system. */
export type Theme = 'light' | 'dark' | null;

export interface LayoutOptions {
  readonly title: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** The part of the body that is ready. */
  readonly body: Html;
  readonly intro: Html | false;
  readonly refreshes: boolean;
  /** Null if the page has no history view. */
  readonly dated: AsOfState | null;
  readonly hasDemo: boolean;
  readonly theme: Theme;
}

type NavigationLink = readonly [path: string, name: string];

/** The sections of the navigation. A section opens on its first page. */
const SECTIONS = [
  createSection('Now', ''),
  createSection('Credits', 'warehouse inventory reservations projects inventory-requests'),
  createSection('Retirements', 'retirements certificates'),
  createSection('Organizations', 'organizations installations members addresses'),
  createSection('Changes', 'changes balance'),
  createSection('Operations', 'deliveries rejected-webhooks jobs syncs'),
];
const UNDATED = ['Changes', 'Operations'];
const THEMES = { light: 'Light', dark: 'Dark', '': 'System' };

type NavigationSection = ReturnType<typeof createSection>;

function createSection(
  name: string,
  pages: string,
): readonly [name: string, pages: readonly NavigationLink[]] {
  const called: Readonly<Record<string, string>> = {
    '': 'Now',
    'inventory-requests': 'Requests',
    'rejected-webhooks': 'Rejected',
    balance: 'Reconciliation',
  };
  const nameOf = (page: string) => called[page] ?? `${page.charAt(0).toUpperCase()}${page.slice(1)}`;
  return [name, pages.split(' ').map(page => [`/${page}`, nameOf(page)])];
}

/** Renders a page without its slow part: the markup before that part and the markup after it. Pages need no script. */
export function renderLayout({
  title,
  path,
  query,
  body,
  intro,
  refreshes,
  dated,
  hasDemo,
  theme,
}: LayoutOptions) {
  const at = dated?.at ?? null;
  const entered = SECTIONS.find(([, pages]) => pages.some(([to]) => isAtOrBelow(path, to)));
  const rooms = SECTIONS.map(([name, [[to] = ['/']]]) =>
    renderNavigationLink(
      UNDATED.includes(name) ? to : withAsOf(to, at),
      name,
      name === entered?.[0] && IN_ROOM,
    ),
  );
  const hasTabs = entered !== undefined && entered[1].length > 1;
  const aside = [['/ask', 'SQL'] as const, ...(hasDemo ? [['/demo', 'Demo'] as const] : []), HELP].map(
    ([to, name]) => renderNavigationLink(to, name, path === to && CURRENT),
  );
  const first = html`<!doctype html>
<html lang="en"${theme !== null && html` class="${theme}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · carbon-mirror</title>
<link rel="stylesheet" href="/console.css">
${SCRIPT}${refreshes && RELOAD}
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
${(hasTabs || intro || dated !== null) && html`<div class="under">${hasTabs && renderTabs(entered, path, at)}${intro}${dated !== null && renderAsOfBar(path, query, dated)}</div>`}
<main id="content">${body}`;
  const last = html`</main>
<footer>${renderThemeSwitch(theme, path, query)}</footer>
</body>
</html>
`;
  return { first, last };
}

function isAtOrBelow(path: string, to: string): boolean {
  return path === to || (to !== '/' && path.startsWith(`${to}/`));
}

function renderNavigationLink(href: string, name: string, current: Html | false): Html {
  return html`<li><a href="${href}"${current}>${name}</a></li>`;
}

function renderTabs([name, pages]: NavigationSection, path: string, at: string | null): HtmlContent {
  return html`<nav class="tabs" aria-label="${name}">${pages.map(
    ([to, page]) =>
      html`<a href="${UNDATED.includes(name) ? to : withAsOf(to, at)}"${path === to ? CURRENT : isAtOrBelow(path, to) && IN_ROOM}>${page}</a>`,
  )}</nav>`;
}

function renderThemeSwitch(theme: Theme, path: string, query: URLSearchParams): Html {
  return html`<form method="post" action="/theme"><input type="hidden" name="to" value="${query.size === 0 ? path : `${path}?${query.toString()}`}">${Object.entries(
    THEMES,
  ).map(
    ([value, name]) =>
      html`<button name="theme" value="${value}" aria-pressed="${(theme ?? '') === value ? 'true' : 'false'}">${name}</button>`,
  )}</form>`;
}

const HELP: NavigationLink = ['/help', 'Help'];
/** Not an `html` template: a bundler rewrites templates that end a script. */
const SCRIPT = new Html('<script src="/console.js" defer></script>');
const RELOAD = html`<noscript><meta http-equiv="refresh" content="2"></noscript>`;
const CURRENT = html` aria-current="page"`;
const IN_ROOM = html` aria-current="true"`;
