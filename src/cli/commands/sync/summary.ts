import type { Synced } from '../../../query/reads/synced.js';
import { counted } from '../../../text/counted.js';
import { withThousands } from '../../../text/thousands.js';

/** As freshness has them where nothing is wrong: read, or not to be read, as the organization has it. */
const EXPECTED: readonly (string | null)[] = [
  'unread_webhook',
  'worker_gone',
  'overdue',
  'clock_changed',
  'no_permission',
  null,
];

/** Of one organization everything is shown; of many what changed or failed. */
export function worthShowing(rows: readonly Synced[]): readonly Synced[] {
  return countOrganizations(rows) < 2 ? rows : rows.filter(row => row.refused || row.mended || !isQuiet(row));
}

function isQuiet({ added, changed, removed, reason, failing_since: failingSince }: Synced): boolean {
  return added + changed + removed === 0 && failingSince === null && EXPECTED.includes(reason);
}

/** All of it in one line, what is not in the table too. */
export function describeSynced(rows: readonly Synced[]): string {
  const organizations = countOrganizations(rows);
  const states = [...new Set(rows.map(({ state }) => state))].map(state => {
    const count = rows.filter(row => row.state === state).length;
    return `${withThousands(count)} ${state.replaceAll('_', ' ')}`;
  });
  const sum = (name: 'added' | 'changed' | 'removed') =>
    `${withThousands(rows.reduce((total, row) => total + row[name], 0))} ${name}`;
  return [
    counted(organizations, 'organization'),
    `${withThousands(rows.length)} resources: ${states.join(', ')}`,
    `rows: ${sum('added')}, ${sum('changed')}, ${sum('removed')}`,
  ].join('; ');
}

function countOrganizations(rows: readonly Synced[]): number {
  return new Set(rows.map(row => row.organization_id)).size;
}
