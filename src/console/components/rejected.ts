import type { RejectedSum } from '../../query/inbox/causes.js';
import { withThousands } from '../../text/thousands.js';
import type { Html } from './html.js';
import { table } from './table.js';
import { ago } from './words.js';

export function rejectedTable(sums: readonly RejectedSum[], now: number): Html | false {
  if (sums.length === 0) return false;
  return table(
    'Webhooks that were rejected since yesterday',
    [
      { name: 'Rejected', cell: ({ rejected }) => withThousands(rejected), numeric: true },
      { name: 'Answer', cell: ({ status }) => status },
      { name: 'Why', cell: ({ reason }) => reason.replaceAll('_', ' ') },
      { name: 'Newest', cell: ({ newestAt }) => ago(newestAt, now) },
    ],
    sums,
  );
}
