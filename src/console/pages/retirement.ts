import type { Row } from '../../engines/contract/tables.js';
import { readByName, readHistory } from '../../query/lists.js';
import { LISTS } from '../../resources/lists.js';
import { ENTRY_OF } from '../../resources/resources.js';
import { type Ask, page, type Shown } from '../page.js';
import { asSent, facts } from '../parts/facts.js';
import { html, type Html } from '../parts/html.js';
import { versions } from '../parts/versions.js';
import { shown } from '../parts/words.js';

interface Retirement {
  readonly row: Row;
  readonly isGone: boolean;
  readonly history: readonly Row[];
  readonly certificates: readonly Row[];
}

const WITHOUT = [
  'version',
  'document',
  'sync_run_id',
  'amount',
  'amount_micro',
  'valid_to',
  'closed_version',
];

export const RETIREMENT = page('/retirements/:id', read, show);

async function read({ reader, params }: Ask): Promise<Retirement | null> {
  const { id = '' } = params;
  const history = await readHistory(reader, LISTS.retirements, id);
  const row = history.findLast(each => each['valid_to'] === null) ?? history.at(-1);
  if (row === undefined) return null;
  return {
    row,
    isGone: row['valid_to'] !== null,
    history,
    certificates: await readByName(reader, ENTRY_OF.certificates, id),
  };
}

function show({ row, isGone, history, certificates }: Retirement, { now }: Ask): Shown {
  const body = html`<h1 id="sentence" data-live>${sentence(row)}${isGone && html` <span class="state gone">The registry does not show it any more.</span>`}</h1>
<section id="facts" data-live>${facts(row, now, WITHOUT)}</section>
<section id="certificate" data-live><h2>Certificate</h2>${certificates.length === 0 ? html`<p>None is known of.</p>` : certificates.map(each => facts(each, now, WITHOUT))}</section>
<section id="versions" data-live><h2>What the registry said of it, newest first</h2>${versions(history, now)}</section>
${typeof row['document'] === 'string' && asSent('The object as the registry sent it', row['document'])}`;
  return { title: `Retirement ${String(row['id'])}`, body };
}

function sentence(row: Row): Html {
  const whom =
    row['beneficiary'] === null ? 'nobody has claimed it yet' : html`for ${shown(row['beneficiary'])}`;
  const what = row['project_name'] ?? row['project_id'] ?? 'an unknown project';
  return html`${shown(row['amount_exact'] ?? 'An unknown amount')} t of ${shown(what)} ${shown(row['vintage'])} retired, ${whom}`;
}
