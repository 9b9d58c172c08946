import { sumStanding } from '../../query/available.js';
import { readHistory, readNamedProjects } from '../../query/lists/find.js';
import type { List } from '../../query/lists/list.js';
import { MIRRORED } from '../../query/lists/lists.js';
import { readKnownOf } from '../../query/history/as-of.js';
import { readNameOf, readProjectNamedBy } from '../../query/names.js';
import type { Reader } from '../../store/contract/reader.js';
import type { Row } from '../../store/contract/tables.js';
import { formatCreditType } from '../../text/tonnes.js';
import { formatKnownOrganizations, formatWithCommas } from '../../text/numbers.js';
import { renderDetailLink, getText } from '../components/cell.js';
import { renderRawText, BOOKKEEPING, renderRowFacts } from '../components/facts.js';
import { renderPageHead } from '../components/head.js';
import { html, type Html, type HtmlContent } from '../components/html.js';
import { withAsOf } from '../components/as-of.js';
import { renderGaps } from '../components/freshness.js';
import { selectVersionsKnownAt, renderVersions } from '../components/versions.js';
import { renderBadge, capitalize } from '../components/formats.js';
import type { PageRequest, ConsolePage } from '../page.js';
import { redirectByIdPrefix } from './by-id.js';
import { renderAvailability, renderProjectStock } from './by-vintage.js';

type PageAnswer = Awaited<ReturnType<ConsolePage['render']>>;

const OWN = ['projects', 'warehouse', 'inventory'];
const WITHOUT = [...BOOKKEEPING, 'fault'];

/** Detail pages of credits and projects: current values and version history. */
export const CREDIT_AND_PROJECT_PAGES: readonly ConsolePage[] = MIRRORED.filter(({ name }) =>
  OWN.includes(name),
).map(createDetailPage);

function createDetailPage(list: List): ConsolePage {
  return {
    path: `/${list.name}/:id`,
    hasHistory: true,
    render: async request => {
      const { at, params, reader } = request;
      const { id = '' } = params;
      const all = list.entry === null ? [] : await readHistory(reader, list.entry, id);
      const history = selectVersionsKnownAt(at, all);
      const rows = selectNewestVersions(history);
      const [first] = rows;
      if (first === undefined) return await explainMissingRow(list, id, all, request);
      const title = describeRow(list, first);
      const body = html`${renderPageHead([withAsOf(`/${list.name}`, at), list.title], title, rows.map(isClosed).every(Boolean) && renderBadge('No longer listed by the registry', 'bad'))}
${list.name === 'projects' && (await renderProjectCredits(id, request))}
${await Promise.all(rows.map(async (row, place) => await renderRow([row, place], history, request)))}
${at !== null && list.resource !== null && list.name !== 'projects' && (await renderGapsAt(list.resource, rows, at, request))}`;
      return { title: `${list.one} ${id}`, body };
    },
  };
}

/** Explains an id without a row, now or at the instant. Credits may name projects that the registry does not show to the app. */
async function explainMissingRow(
  list: List,
  id: string,
  all: readonly Row[],
  request: PageRequest,
): Promise<PageAnswer> {
  const { reader, at } = request;
  const isProject = list.name === 'projects';
  const name = isProject ? await readProjectNamedBy(reader, id, at) : null;
  const title = `${list.one} ${id}`;
  const way = [withAsOf(`/${list.name}`, at), list.title] as const;
  if (name !== null) {
    const lead = at === null ? renderBadge('The registry does not show this project to the app') : false;
    return {
      title,
      body: html`${renderPageHead(way, name, lead)}${await renderProjectCredits(id, request)}`,
    };
  }
  const isKnown = all.length > 0 || (isProject && (await readProjectNamedBy(reader, id)) !== null);
  if (!isKnown)
    return await redirectByIdPrefix(list, request, isProject ? await readNamedProjects(reader, id) : []);
  return { title, body: renderPageHead(way, `This ${list.one} was not in the mirror at that time.`, id) };
}

/** Renders the known gaps of the lists that contained these rows. */
async function renderGapsAt(
  resource: string,
  rows: readonly Row[],
  at: string,
  { reader }: PageRequest,
): Promise<Html> {
  const owners = rows.flatMap(row => getText(row, 'organization_id') ?? []);
  const known = owners.map(organizationId => readKnownOf(reader, { organizationId, resource, at }));
  return renderGaps(resource, await Promise.all(known));
}

/** Returns the newest version per organization and inventory: several may list the same credit. */
function selectNewestVersions(history: readonly Row[]): Row[] {
  return [...new Map(history.map(row => [toRowKey(row), row])).values()];
}

function toRowKey(row: Row): string {
  return JSON.stringify([row['organization_id'] ?? null, row['inventory_id'] ?? null]);
}

function isClosed(row: Row): boolean {
  return row['valid_to'] !== null;
}

function describeRow({ name }: List, row: Row): string {
  if (name === 'projects') return getText(row, 'full_name') ?? String(row['id']);
  const project = getText(row, 'project_name') ?? getText(row, 'project_id') ?? 'an unnamed project';
  return `${formatWithCommas(getText(row, 'amount_exact') ?? 'An unknown amount of')} t ${formatCreditType(getText(row, 'type'))} of ${project} ${getText(row, 'vintage') ?? ''}`;
}

async function renderProjectCredits(project: string, { reader, at }: PageRequest): Promise<Html> {
  const links = ['warehouse', 'inventory', 'retirements'].map(
    name =>
      html`<a href="${withAsOf(`/${name}?project_id=${encodeURIComponent(project)}`, at)}">${capitalize(name)}</a>`,
  );
  const sums =
    at === null
      ? await renderProjectAvailability(reader, project)
      : await renderProjectStock(reader, project, at);
  return html`<section id="available" data-live>${sums}<p class="links">${links}</p></section>`;
}

async function renderProjectAvailability(reader: Reader, project: string): Promise<Html> {
  const { available: fresh, known } = await sumStanding(reader, 0);
  return html`<p class="lead">Warehouses up to date: ${formatWithCommas(fresh)} of ${formatKnownOrganizations(known)}.</p>
${await renderAvailability(reader, { projectId: project })}`;
}

async function renderRow(
  [row, place]: readonly [Row, number],
  history: readonly Row[],
  { reader, now, at }: PageRequest,
): Promise<HtmlContent> {
  const owner = getText(row, 'organization_id');
  const own = history.filter(each => toRowKey(each) === toRowKey(row));
  return html`<div id="known-${place}" class="columns" data-live><section class="card"><h2>${owner === null ? 'Details' : renderDetailLink('organization_id', owner, html`${(await readNameOf(reader, owner, at)) ?? owner}`, at)}</h2>${renderRowFacts(row, { now, at }, WITHOUT)}
${typeof row['document'] === 'string' && renderRawText('Original JSON from the registry', row['document'])}</section>
<section class="card"><h2>Version history, newest first</h2>${renderVersions(own, now)}</section></div>`;
}
