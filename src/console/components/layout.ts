import { renderAsOfBar, type AsOfState, withAsOf, withQuery } from './as-of.js';
import { formatDay } from './instants.js';
import { Html, html, type HtmlContent } from './html.js';
import { renderPageToken } from './page-token.js';

/** The theme that a visitor has chosen; null follows the system. */
export type Theme = 'light' | 'dark' | null;

export interface LayoutOptions {
  readonly title: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** The part of the body that is ready. */
  readonly body: Html;
  readonly intro: Html | false;
  readonly reloadsWithoutScript: boolean;
  /** Null if the page has no history view. */
  readonly history: AsOfState | null;
  readonly hasDemo: boolean;
  readonly theme: Theme;
  readonly pageToken: string;
}

interface NavigationLink {
  readonly path: string;
  readonly label: string;
}

/** Pages that share a tab bar. The section opens on its first page. */
interface NavigationSection {
  readonly name: string;
  readonly pages: readonly NavigationLink[];
}

const SECTIONS = [
  createSection('Now', ''),
  createSection('Credits', 'warehouse inventory reservations orders projects inventory-requests'),
  createSection('Retirements', 'retirements retirement-totals certificates'),
  createSection('Organizations', 'organizations installations members addresses'),
  createSection('Changes', 'changes compare restatements balance'),
  createSection('Operations', 'deliveries rejected-webhooks jobs syncs'),
];
const SECTIONS_WITHOUT_HISTORY = ['Changes', 'Operations'];
/** Labels of the theme buttons by cookie value; the empty value follows the system. */
const THEMES = { light: 'Light', dark: 'Dark', '': 'System' };

/** Creates a navigation section. `paths` lists its pages, separated by spaces, such as "changes balance". */
function createSection(name: string, paths: string): NavigationSection {
  const shortLabels: Readonly<Record<string, string>> = {
    '': 'Now',
    'inventory-requests': 'Requests',
    'rejected-webhooks': 'Rejected',
    'retirement-totals': 'Totals',
    balance: 'Reconciliation',
  };
  const toPageLabel = (path: string) =>
    shortLabels[path] ?? `${path.charAt(0).toUpperCase()}${path.slice(1)}`;
  const pages = paths.split(' ').map(path => ({ path: `/${path}`, label: toPageLabel(path) }));
  return { name, pages };
}

/**
 * Renders a page in two parts: the part before the slow content (the rest of the page) and the part after it. The first part can be sent
 * before the slow content is ready.
 */
export function renderLayout(options: LayoutOptions): {
  /** The part of the page before the slow content. */
  readonly beforeRest: Html;
  /** The part of the page after the slow content: the end of the page. */
  readonly afterRest: Html;
} {
  const { title, path, query, body, intro, reloadsWithoutScript, history, theme } = options;
  const section = SECTIONS.find(({ pages }) => pages.some(page => isAtOrBelow(path, page.path)));
  const hasTabs = section !== undefined && section.pages.length > 1;
  const beforeRest = html`<!doctype html>
<html lang="en"${theme !== null && html` class="${theme}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}${history !== null && history.at !== null && ` as of ${formatDay(history.at)}`} – carbon-mirror</title>
<link rel="stylesheet" href="/console.css">
${SCRIPT}${reloadsWithoutScript && RELOAD}
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
${renderHeader(options, section)}
<p id="link" role="status" hidden>This page could not be updated and may be out of date.</p>
${(hasTabs || intro || history !== null) && html`<div class="under">${hasTabs && renderTabs(section, path, history?.at ?? null)}${intro && html`<section aria-label="About this mirror">${intro}</section>`}${history !== null && renderAsOfBar(path, query, history)}</div>`}
<main id="content">${body}`;
  const afterRest = html`</main>
<footer>${renderThemeSwitch(options)}</footer>
</body>
</html>
`;
  return { beforeRest, afterRest };
}

/** Renders the top bar of a page with the navigation, the search field and the links to SQL, Demo and Help. */
function renderHeader(
  { path, query, history, hasDemo }: LayoutOptions,
  currentSection: NavigationSection | undefined,
): Html {
  const sections = SECTIONS.map(({ name, pages: [firstPage] }) =>
    renderNavigationItem(
      toSectionHref(name, firstPage?.path ?? '/', history?.at ?? null),
      // At a past instant, the first page does not show the present.
      name === 'Now' && history !== null && history.at !== null ? 'Overview' : name,
      name === currentSection?.name && CURRENT_SECTION,
    ),
  );
  const tools = [SQL, ...(hasDemo ? [DEMO] : []), HELP].map(tool =>
    renderNavigationItem(tool.path, tool.label, path === tool.path && CURRENT_PAGE),
  );
  return html`<header class="top">
<a class="brand" href="/">carbon-mirror</a>${hasDemo && html` <a class="state doubt" href="/demo" title="This mirror reads a sandbox registry with invented data">demo</a>`}
<nav aria-label="Pages"><ul>${sections}</ul></nav>
<form class="search" method="get" action="/search" role="search" aria-label="Everything"><label><span>Search</span><input id="search" name="q" type="search" placeholder="Search  /" value="${path === '/search' && query.get('q')}"></label></form>
<ul>${tools}</ul>
<details class="menu"><summary>Menu</summary><ul>${sections}${tools}</ul></details>
</header>`;
}

/** Returns whether `path` is the path of a page or of a page below it: `/jobs/7` is below `/jobs`. */
function isAtOrBelow(path: string, page: string): boolean {
  return path === page || (page !== '/' && path.startsWith(`${page}/`));
}

/** Returns the URL of a page. Adds the parameter `as-of` if the section has a history view. */
function toSectionHref(section: string, path: string, at: string | null): string {
  return SECTIONS_WITHOUT_HISTORY.includes(section) ? path : withAsOf(path, at);
}

function renderNavigationItem(href: string, label: string, current: Html | false): Html {
  return html`<li><a href="${href}"${current}>${label}</a></li>`;
}

/** Renders links to the pages of a navigation section as tabs. */
function renderTabs({ name, pages }: NavigationSection, path: string, at: string | null): HtmlContent {
  return html`<nav class="tabs" aria-label="${name}">${pages.map(
    page =>
      html`<a href="${toSectionHref(name, page.path, at)}"${path === page.path ? CURRENT_PAGE : isAtOrBelow(path, page.path) && CURRENT_SECTION}>${page.label}</a>`,
  )}</nav>`;
}

/** Renders the buttons for the light, dark and system theme. A click returns the visitor to the current page. */
function renderThemeSwitch({ theme, path, query, pageToken }: LayoutOptions): Html {
  return html`<form method="post" action="/theme">${renderPageToken(pageToken)}<input type="hidden" name="to" value="${withQuery(path, query, {})}">${Object.entries(
    THEMES,
  ).map(
    ([value, label]) =>
      html`<button name="theme" value="${value}" aria-pressed="${(theme ?? '') === value ? 'true' : 'false'}">${label}</button>`,
  )}</form>`;
}

const SQL: NavigationLink = { path: '/ask', label: 'SQL' };
const DEMO: NavigationLink = { path: '/demo', label: 'Demo' };
const HELP: NavigationLink = { path: '/help', label: 'Help' };
/** Not an `html` template: a bundler rewrites templates that end a script. */
const SCRIPT = new Html('<script src="/console.js" defer></script>');
const RELOAD = html`<noscript><meta http-equiv="refresh" content="2"></noscript>`;
const CURRENT_PAGE = html` aria-current="page"`;
const CURRENT_SECTION = html` aria-current="true"`;
