import { sumRejected } from '../../query/inbox/causes.js';
import type { Ask } from '../page.js';
import type { Html } from '../components/html.js';
import { rejectedTable } from '../components/rejected.js';

const DAY_MS = 86_400_000;

/** What stands above the rows of a list, beside what its rows say themselves: what was turned away is in no row. */
export const ABOVE: Readonly<Record<string, (ask: Ask) => Promise<Html | false>>> = {
  deliveries: async ({ reader, now }) =>
    rejectedTable(await sumRejected(reader, new Date(now - DAY_MS).toISOString()), now),
};
