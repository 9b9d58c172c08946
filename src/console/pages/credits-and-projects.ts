import { sumStanding } from '../../query/available.js';
import { readHistory, readNamedProjects } from '../../query/lists/find.js';
import type { List } from '../../query/lists/list.js';
import { MIRRORED } from '../../query/lists/lists.js';
import { readKnownOf } from '../../query/history/as-of.js';
import { readNameOf, readProjectNamedBy } from '../../query/names.js';
import type { Reader } from '../../store/contract/reader.js';
import type { Row } from '../../store/contract/tables.js';
import { creditTypeName } from '../../text/tonnes.js';
import { formatKnownOrganizations, withThousands } from '../../text/numbers.js';
import { leading, textIn } from '../components/cell.js';
import { asSent, BOOKKEEPING, facts } from '../components/facts.js';
import { head } from '../components/head.js';
import { html, type Html, type Part } from '../components/html.js';
import { withAt } from '../components/as-of.js';
import { gapsOf } from '../components/freshness.js';
import { toldBy, versions } from '../components/versions.js';
import { badge, capitalized } from '../components/words.js';
import type { Ask, Page } from '../page.js';
import { leadOn } from './by-id.js';
import { available, stood } from './by-vintage.js';

type Answer = Awaited<ReturnType<Page['show']>>;

const OWN = ['projects', 'warehouse', 'inventory'];
const WITHOUT = [...BOOKKEEPING, 'fault'];

/** Pages of what has no page of its own kind: what is known of it, and every version of it. */
export const THINGS: readonly Page[] = MIRRORED.filter(({ name }) => OWN.includes(name)).map(thing);

function thing(list: List): Page {
  return {
    path: `/${list.name}/:id`,
    isDated: true,
    show: async ask => {
      const { at, params, reader } = ask;
      const { id = '' } = params;
      const all = list.entry === null ? [] : await readHistory(reader, list.entry, id);
      const history = toldBy(at, all);
      const rows = newestOf(history);
      const [first] = rows;
      if (first === undefined) return await withoutRow(list, id, all, ask);
      const title = titleOf(list, first);
      const body = html`${head([withAt(`/${list.name}`, at), list.title], title, rows.map(isGone).every(Boolean) && badge('No longer listed by the registry', 'bad'))}
${list.name === 'projects' && (await ofProject(id, ask))}
${await Promise.all(rows.map(async (row, place) => await one([row, place], history, ask)))}
${at !== null && list.resource !== null && list.name !== 'projects' && (await gapsAt(list.resource, rows, at, ask))}`;
      return { title: `${list.one} ${id}`, body };
    },
  };
}

/** What had no row, at the instant that is asked for or at all. Credits name projects that the registry does not show to every app. */
async function withoutRow(list: List, id: string, all: readonly Row[], ask: Ask): Promise<Answer> {
  const { reader, at } = ask;
  const isProject = list.name === 'projects';
  const name = isProject ? await readProjectNamedBy(reader, id, at) : null;
  const title = `${list.one} ${id}`;
  const way = [withAt(`/${list.name}`, at), list.title] as const;
  if (name !== null) {
    const lead = at === null ? badge('The registry does not show this project to the app') : false;
    return { title, body: html`${head(way, name, lead)}${await ofProject(id, ask)}` };
  }
  const isKnown = all.length > 0 || (isProject && (await readProjectNamedBy(reader, id)) !== null);
  if (!isKnown) return await leadOn(list, ask, isProject ? await readNamedProjects(reader, id) : []);
  return { title, body: head(way, `This ${list.one} was not in the mirror at that time.`, id) };
}

/** How far the lists were known in which it stood. */
async function gapsAt(resource: string, rows: readonly Row[], at: string, { reader }: Ask): Promise<Html> {
  const owners = rows.flatMap(row => textIn(row, 'organization_id') ?? []);
  const known = owners.map(organizationId => readKnownOf(reader, { organizationId, resource, at }));
  return gapsOf(resource, await Promise.all(known));
}

/** A credit may stand in several organizations: of each the newest version. */
function newestOf(history: readonly Row[]): Row[] {
  return [...new Map(history.map(row => [keyOf(row), row])).values()];
}

function keyOf(row: Row): string {
  return JSON.stringify([row['organization_id'] ?? null, row['inventory_id'] ?? null]);
}

function isGone(row: Row): boolean {
  return row['valid_to'] !== null;
}

function titleOf({ name }: List, row: Row): string {
  if (name === 'projects') return textIn(row, 'full_name') ?? String(row['id']);
  const project = textIn(row, 'project_name') ?? textIn(row, 'project_id') ?? 'an unnamed project';
  return `${withThousands(textIn(row, 'amount_exact') ?? 'An unknown amount of')} t ${creditTypeName(textIn(row, 'type'))} of ${project} ${textIn(row, 'vintage') ?? ''}`;
}

async function ofProject(project: string, { reader, at }: Ask): Promise<Html> {
  const links = ['warehouse', 'inventory', 'retirements'].map(
    name =>
      html`<a href="${withAt(`/${name}?project_id=${encodeURIComponent(project)}`, at)}">${capitalized(name)}</a>`,
  );
  const sums = at === null ? await availableOfProject(reader, project) : await stood(reader, project, at);
  return html`<section id="available" data-live>${sums}<p class="links">${links}</p></section>`;
}

async function availableOfProject(reader: Reader, project: string): Promise<Html> {
  const { available: fresh, known } = await sumStanding(reader, 0);
  return html`<p class="lead">Warehouses up to date: ${withThousands(fresh)} of ${formatKnownOrganizations(known)}.</p>
${await available(reader, { projectId: project })}`;
}

async function one(
  [row, place]: readonly [Row, number],
  history: readonly Row[],
  { reader, now, at }: Ask,
): Promise<Part> {
  const owner = textIn(row, 'organization_id');
  const own = history.filter(each => keyOf(each) === keyOf(row));
  return html`<div id="known-${place}" class="columns" data-live><section class="card"><h2>${owner === null ? 'Details' : leading('organization_id', owner, html`${(await readNameOf(reader, owner, at)) ?? owner}`, at)}</h2>${facts(row, { now, at }, WITHOUT)}
${typeof row['document'] === 'string' && asSent('Original JSON from the registry', row['document'])}</section>
<section class="card"><h2>Version history, newest first</h2>${versions(own, now)}</section></div>`;
}
