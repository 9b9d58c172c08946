import type { RefusalSum } from '../../query/inbox/refusals.js';
import { withThousands } from '../../text/thousands.js';
import type { Html } from './html.js';
import { table } from './table.js';
import { ago } from './words.js';

export function refused(sums: readonly RefusalSum[], now: number): Html | false {
  if (sums.length === 0) return false;
  return table(
    'Posts that were refused since yesterday',
    [
      { name: 'Posts', cell: ({ posts }) => withThousands(posts), numeric: true },
      { name: 'Answer', cell: ({ status }) => status },
      { name: 'Why', cell: ({ reason }) => reason.replaceAll('_', ' ') },
      { name: 'Newest', cell: ({ newestAt }) => ago(newestAt, now) },
    ],
    sums,
  );
}
