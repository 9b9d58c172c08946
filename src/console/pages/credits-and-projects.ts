import { sumStanding } from '../../query/available.js';
import { readHistory } from '../../query/lists/find.js';
import type { List } from '../../query/lists/list.js';
import { MIRRORED } from '../../query/lists/lists.js';
import { readNameOf, readProjectNamedBy } from '../../query/names.js';
import type { Row } from '../../store/contract/tables.js';
import { typeName } from '../../text/tonnes.js';
import { ofKnown, withThousands } from '../../text/numbers.js';
import { leading, textIn } from '../components/cell.js';
import { asSent, BOOKKEEPING, facts } from '../components/facts.js';
import { head } from '../components/head.js';
import { html, type Html, type Part } from '../components/html.js';
import { versions } from '../components/versions.js';
import { badge } from '../components/words.js';
import type { Ask, Page, Shown } from '../page.js';
import { available } from './by-vintage.js';

const OWN = ['projects', 'warehouse', 'inventory'];
const WITHOUT = [...BOOKKEEPING, 'fault'];

/** Pages of what has no page of its own kind: what is known of it, and every version of it. */
export const THINGS: readonly Page[] = MIRRORED.filter(({ name }) => OWN.includes(name)).map(thing);

function thing(list: List): Page {
  return {
    path: `/${list.name}/:id`,
    show: async ask => {
      const { id = '' } = ask.params;
      const history = list.entry === null ? [] : await readHistory(ask.reader, list.entry, id);
      const rows = newestOf(history);
      const [first] = rows;
      if (first === undefined) return list.name === 'projects' ? await withoutRow(id, ask) : null;
      const title = titleOf(list, first);
      const body = html`${head([`/${list.name}`, list.title], title, rows.map(isGone).every(Boolean) && badge('The registry does not show it any more.', 'bad'))}
${list.name === 'projects' && (await ofProject(id, ask))}
${await Promise.all(rows.map(async (row, place) => await one(list, [row, place], history, ask)))}`;
      return { title: `${list.one} ${id}`, body };
    },
  };
}

/** Credits name projects that the registry does not show to every app. */
async function withoutRow(id: string, ask: Ask): Promise<Shown | null> {
  const name = await readProjectNamedBy(ask.reader, id);
  if (name === null) return null;
  const lead = badge('The registry does not show this project to the app.');
  return {
    title: `project ${id}`,
    body: html`${head(['/projects', 'Projects'], name, lead)}${await ofProject(id, ask)}`,
  };
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
  return `${withThousands(textIn(row, 'amount_exact') ?? 'An unknown amount of')} t ${typeName(textIn(row, 'type'))} of ${project} ${textIn(row, 'vintage') ?? ''}`;
}

async function ofProject(project: string, { reader }: Ask): Promise<Html> {
  const links = ['warehouse', 'inventory', 'retirements'].map(
    name => html`<a href="/${name}?project_id=${encodeURIComponent(project)}">Its ${name}</a>`,
  );
  const { available: fresh, known } = await sumStanding(reader, 0);
  return html`<section id="available" data-live><p class="lead">Fresh are the warehouses of ${withThousands(fresh)} of ${ofKnown(known)}.</p>
${await available(reader, { projectId: project })}
<p class="links">${links}</p></section>`;
}

async function one(
  list: List,
  [row, place]: readonly [Row, number],
  history: readonly Row[],
  { reader, now }: Ask,
): Promise<Part> {
  const owner = textIn(row, 'organization_id');
  const own = history.filter(each => keyOf(each) === keyOf(row));
  return html`<div id="known-${place}" class="columns" data-live><section class="card"><h2>${owner === null ? 'What is known of it' : leading('organization_id', owner, html`${(await readNameOf(reader, owner, null)) ?? owner}`, null)}</h2>${facts(row, { now }, WITHOUT)}
${typeof row['document'] === 'string' && asSent('The object as the registry sent it', row['document'])}</section>
<section class="card"><h2>${list.name === 'projects' ? 'Its history' : 'Its movements'}, newest first</h2>${versions(own, now)}</section></div>`;
}
