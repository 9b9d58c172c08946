import { streamRows } from '../../query/paged.js';
import { readStates, type States } from '../../query/reads/freshness.js';
import type { Row } from '../../engines/contract/tables.js';
import type { Ask, Page, Sent } from '../page.js';
import { pagingOf } from './asked.js';
import type { Listing } from './listing.js';
import { FORMS } from './row-texts.js';

const AT_ONCE = 100;

/** Exactly the rows of a list, all pages of it, for another program. */
export function rowsFiles(listing: Listing): readonly Page[] {
  return [file(listing, 'csv'), file(listing, 'json')];
}

function file(listing: Listing, ending: keyof typeof FORMS): Page {
  const { path } = listing;
  const { type, write } = FORMS[ending];
  return {
    path: `/${path}.${ending}`,
    isDated: listing.dated !== null,
    show: async ({ reader, query, at }: Ask): Promise<Sent> => {
      const paging = pagingOf(listing, query, at);
      const states = at === null ? await readStates(reader, listing.dated?.resource ?? null, null) : null;
      const rows = streamRows(reader, paging, AT_ONCE);
      const columns = states === null ? paging.columns : [...paging.columns, 'freshness'];
      const text = write(states === null ? rows : stated(rows, states), columns);
      return { type, name: `${path}.${ending}`, text };
    },
  };
}

async function* stated(rows: AsyncIterable<Row>, { stateOf }: States): AsyncGenerator<Row> {
  for await (const row of rows) yield { ...row, freshness: stateOf(row) };
}
