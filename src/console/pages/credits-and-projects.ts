import { readVersionsById, findReferencedProjects } from '../../query/lists/find-by-id.js';
import type { List } from '../../query/lists/list-type.js';
import { MIRRORED } from '../../query/lists/list-definitions.js';
import { readReservation } from '../../query/order-targets.js';
import { readRowNotesAt } from '../../query/history/as-of.js';
import { readNameOf, readProjectNameFromRows } from '../../query/names.js';
import type { Row } from '../../store/contract/tables.js';
import { formatCreditType } from '../../text/tonnes.js';
import { formatWithCommas } from '../../text/numbers.js';
import { renderDetailLink, getText } from '../components/table-cell.js';
import { renderRawText, BOOKKEEPING, renderRowFacts, splitIds } from '../components/row-facts.js';
import { renderPageHead } from '../components/detail-page.js';
import { html, type Html } from '../components/html.js';
import { withAsOf } from '../components/as-of.js';
import { renderAnswerNotes, renderGaps } from '../components/answer.js';
import { selectVersionsKnownAt, renderVersions } from '../components/version-history.js';
import { capitalize } from '../components/column-labels.js';
import { renderBadge } from '../components/badges.js';
import type { ConsoleRequest, PageResult, ConsolePage } from '../page.js';
import { renderCreditActions, renderReservationActions } from '../orders/row-forms.js';
import { redirectByIdPrefix } from './redirect-by-id.js';
import { renderProjectAvailability, renderProjectStockAt } from './availability.js';

const LISTS_WITH_DETAIL_PAGES = ['projects', 'warehouse', 'inventory', 'reservations'];
const HIDDEN_COLUMNS = [...BOOKKEEPING, 'fault'];

/** Detail pages of credits, reservations and projects, with current values and version history. */
export const CREDIT_AND_PROJECT_PAGES: readonly ConsolePage[] = MIRRORED.filter(({ name }) =>
  LISTS_WITH_DETAIL_PAGES.includes(name),
).map(createDetailPage);

/**
 * Creates the detail page of a credit, a reservation or a project. A credit gets one section for each organization that lists
 * it.
 */
function createDetailPage(list: List): ConsolePage {
  const isOfProjects = list.name === 'projects';
  return {
    path: `/${list.name}/:id`,
    hasHistory: true,
    render: async request => {
      const { at, params, reader } = request;
      const { id = '' } = params;
      const versions = list.entry === null ? [] : await readVersionsById(reader, list.entry, id);
      const history = selectVersionsKnownAt(at, versions);
      const rows = selectNewestVersions(history);
      const [first] = rows;
      if (first === undefined) return await respondToMissingRow(list, id, versions, request);
      const lead = rows.every(isClosed) && renderBadge('No longer listed by the registry', 'bad');
      const title = formatRowTitle(list, first);
      const credits = isOfProjects && (await renderProjectCredits(id, request));
      const sections = rows.map(
        async (row, index) =>
          await renderRow(list, row, { elementId: `known-${index}`, credits, history }, request),
      );
      const body = html`${renderPageHead(getListLink(list, at), title, lead)}
${await Promise.all(sections)}
${at !== null && list.resource !== null && !isOfProjects && (await renderCompleteness(list.resource, rows, at, request))}`;
      return { title: isOfProjects ? title : `${capitalize(list.singular)}: ${title}`, body };
    },
  };
}

/** Returns the link from a detail page to the list of all rows. */
function getListLink({ name, title }: List, at: string | null) {
  return { href: withAsOf(`/${name}`, at), title };
}

/** Creates the response for an id that has no row at the instant: a page, a redirect or "not found". */
async function respondToMissingRow(
  list: List,
  id: string,
  versions: readonly Row[],
  request: ConsoleRequest,
): Promise<PageResult> {
  const { reader, at } = request;
  const isProject = list.name === 'projects';
  const projectName = isProject ? await readProjectNameFromRows(reader, id, at) : null;
  const title = `${capitalize(list.singular)} ${id}`;
  // Other rows name the project, although it has no row.
  if (projectName !== null) {
    const lead = at === null && renderBadge('The registry does not show this project to the app');
    const head = renderPageHead(getListLink(list, at), projectName, lead);
    return { title: projectName, body: html`${head}${await renderProjectCredits(id, request)}` };
  }
  const isKnown = versions.length > 0 || (isProject && (await readProjectNameFromRows(reader, id)) !== null);
  // The id may be shortened.
  if (!isKnown)
    return await redirectByIdPrefix(list, request, isProject ? await findReferencedProjects(reader, id) : []);
  const sentence = `This ${list.singular} was not in the mirror at that time.`;
  return { title, body: renderPageHead(getListLink(list, at), sentence, id) };
}

/**
 * Renders notes on how complete the mirror's data of `resource` was at the instant `at`, for the organizations that own one of
 * `rows`.
 */
async function renderCompleteness(
  resource: string,
  rows: readonly Row[],
  at: string,
  { reader, now }: ConsoleRequest,
): Promise<Html> {
  const owners = rows.flatMap(row => getText(row, 'organization_id') ?? []);
  const notes = await readRowNotesAt(reader, owners, { resource, at });
  return html`${renderAnswerNotes(notes, now)}${renderGaps(notes)}`;
}

/** Returns the newest version of a row for each organization and inventory in the history. */
function selectNewestVersions(history: readonly Row[]): Row[] {
  return [...new Map(history.map(version => [toRowKey(version), version])).values()];
}

/** Returns a grouping key made of the organization id and the inventory id, equal for all versions of a row. */
function toRowKey(row: Row): string {
  return JSON.stringify([row['organization_id'] ?? null, row['inventory_id'] ?? null]);
}

/** Returns whether a row version has ended. */
function isClosed(version: Row): boolean {
  return version['valid_to'] !== null;
}

/** Formats the title of a detail page: the name of a project, or "5 t ex-post of Peat bog 2021" for a credit. */
function formatRowTitle({ name }: List, row: Row): string {
  if (name === 'projects') return getText(row, 'full_name') ?? String(row['id']);
  const project = getText(row, 'project_name') ?? getText(row, 'project_id') ?? 'an unnamed project';
  return `${formatWithCommas(getText(row, 'amount_exact') ?? 'An unknown amount of')} t ${formatCreditType(getText(row, 'type'))} of ${project} ${getText(row, 'vintage') ?? ''}`;
}

/** Renders the credits of a project, with links to its rows in the warehouse, the inventory and the retirements. */
async function renderProjectCredits(projectId: string, request: ConsoleRequest): Promise<Html> {
  const { reader, at } = request;
  const links = ['warehouse', 'inventory', 'retirements'].map(
    list =>
      html`<a href="${withAsOf(`/${list}?project_id=${encodeURIComponent(projectId)}`, at)}">${capitalize(list)}</a>`,
  );
  const credits =
    at === null
      ? await renderProjectAvailability(reader, projectId)
      : await renderProjectStockAt(request, projectId, at);
  return html`<section id="available" data-live>${credits}<p class="links">${links}</p></section>`;
}

/** Renders the forms that act on a warehouse credit or a reservation. False for other lists. */
async function renderActions({ name }: List, row: Row, request: ConsoleRequest): Promise<Html | false> {
  const content =
    name === 'warehouse'
      ? renderCreditActions(row, request)
      : name === 'reservations' && (await renderReservationForms(row, request));
  return content !== false && html`<section class="card"><h2>Actions</h2>${content}</section>`;
}

/** Renders the forms that act on a reservation in its current state. False if the mirror no longer has the reservation. */
async function renderReservationForms(row: Row, request: ConsoleRequest): Promise<Html | false> {
  const [owner = '', id = ''] = ['organization_id', 'id'].map(column => getText(row, column) ?? '');
  const reservation = await readReservation(request.reader, owner, id);
  return reservation !== null && (await renderReservationActions(reservation, request));
}

interface RowSection {
  readonly elementId: string;
  /** The credits of a project. False for the other lists. */
  readonly credits: Html | false;
  readonly history: readonly Row[];
}

/** Renders the section for one row: its organization, values, version history and ids. */
async function renderRow(
  list: List,
  row: Row,
  { elementId, credits, history }: RowSection,
  request: ConsoleRequest,
): Promise<Html> {
  const { reader, now, at } = request;
  const owner = getText(row, 'organization_id');
  const heading =
    owner === null
      ? 'Details'
      : renderDetailLink(
          'organization_id',
          owner,
          html`${(await readNameOf(reader, owner, at)) ?? owner}`,
          at,
        );
  const versions = history.filter(version => toRowKey(version) === toRowKey(row));
  const { ids, others } = splitIds(row);
  const hiddenColumns = [...HIDDEN_COLUMNS, 'organization_name'];
  const facts = html`<section class="card"><h2>${heading}</h2>${renderRowFacts({ ...others, project_id: row['project_id'] ?? null }, { now, at }, [...hiddenColumns, 'project_id'])}</section>`;
  const timeline = html`<section class="card"><h2>Timeline, newest first</h2>${renderVersions(versions, now)}</section>`;
  // The forms are outside the live part, so that updates do not replace what a visitor types.
  const actions = at === null && !isClosed(row) && (await renderActions(list, row, request));
  return html`<div class="columns"><div class="stack"><div id="${elementId}" class="stack" data-live>${credits || facts}${timeline}</div>${actions}</div>
<div id="${elementId}-ids" class="stack" data-live>${credits && facts}<section class="card"><h2>Ids</h2>${renderRowFacts(ids, { now, at }, HIDDEN_COLUMNS)}
${typeof row['document'] === 'string' && renderRawText('Original JSON from the registry', row['document'])}</section></div></div>`;
}
