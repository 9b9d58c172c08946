import { type Known, readGaps, readStoodAt } from '../../query/history/as-of.js';
import { countKnownAt } from '../../query/coverage.js';
import { ofKnown } from '../../text/known.js';
import { withThousands } from '../../text/thousands.js';
import { sumByType, tonnesOf, typeName } from '../../text/tonnes.js';
import type { Ask, Shown } from '../page.js';
import { withAt } from '../components/as-of.js';
import { gapsOf } from '../components/gaps.js';
import { html, type Html } from '../components/html.js';
import { firstOf } from '../components/table.js';
import { counted } from '../../text/counted.js';
import { shown, tonnes } from '../components/words.js';
import { byMicro, microOf } from '../components/cell.js';

interface Then {
  readonly at: string;
  readonly stood: Awaited<ReturnType<typeof readStoodAt>>;
  readonly gaps: readonly Known[];
  /** Of how many organizations this is all that can be said. */
  readonly known: number;
}

async function readThen({ reader }: Ask, at: string): Promise<Then> {
  return {
    at,
    stood: await readStoodAt(reader, at),
    gaps: await readGaps(reader, 'warehouse', at, null),
    known: await countKnownAt(reader, at),
  };
}

/** What stood in the warehouses at an instant. Nobody can say whether it was available then: that is a matter of the moment. */
export function showThen(ask: Ask, at: string): Shown {
  return {
    title: 'Then',
    body: html`<h1>What stood in the warehouses then</h1>`,
    later: async () => showStood(await readThen(ask, at), ask),
  };
}

function showStood({ at, stood, gaps, known }: Then, { query }: Ask): Html {
  const left = stood.reduce((sum, row) => sum + row.rows_without_amount, 0);
  const organizations = new Set(stood.map(row => row.organization_id)).size;
  if (stood.length === 0 && gaps.length > 0)
    return html`<p id="sentence"><strong>The mirror had seen no credit in any warehouse then.</strong></p>${gapsOf('warehouse', gaps)}`;
  return html`<p id="sentence"><strong>${sumByType(stood)} stood in the warehouses of ${withThousands(organizations)} of ${ofKnown(known)}.</strong>${left > 0 && html` ${counted(left, 'row has', 'rows have')} no amount that can be added.`}</p>
<section id="stood">${firstOf(
    'What stood there, by organization, project and vintage',
    [
      {
        name: 'Organization',
        cell: row =>
          html`<a href="${withAt(`/warehouse?organization_id=${encodeURIComponent(row.organization_id)}`, at)}">${row.organization_name ?? row.organization_id}</a>`,
      },
      { name: 'Project', cell: row => shown(row.project_name ?? row.project_id) },
      { name: 'Vintage', cell: row => row.vintage },
      { name: 'Type', cell: row => typeName(row.type) },
      { name: 'Tonnes', cell: row => tonnes(tonnesOf(microOf(row))), numeric: true },
    ],
    stood.toSorted(byMicro),
    query,
  )}</section>
${gapsOf('warehouse', gaps)}`;
}
