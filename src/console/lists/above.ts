import { sumRefusals } from '../../query/inbox/refusals.js';
import type { Ask } from '../page.js';
import type { Html } from '../components/html.js';
import { refused } from '../components/refused.js';

const DAY_MS = 86_400_000;

/** What stands above the rows of a list, beside what its rows say themselves: what was turned away is in no row. */
export const ABOVE: Readonly<Record<string, (ask: Ask) => Promise<Html | false>>> = {
  deliveries: async ({ reader, now }) =>
    refused(await sumRefusals(reader, new Date(now - DAY_MS).toISOString()), now),
};
