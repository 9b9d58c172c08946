import type { List } from '../../query/lists/list.js';
import { streamRows } from '../../query/lists/read.js';
import { readStates, withFreshness } from '../../query/reads/freshness.js';
import type { Page } from '../page.js';
import { askedBy } from './list-page.js';
import { FORMS } from './row-texts.js';

/** Exactly the rows of a list, all pages of it, for another program. */
export function rowsFiles(list: List): readonly Page[] {
  return [file(list, 'csv'), file(list, 'json')];
}

function file(list: List, ending: keyof typeof FORMS): Page {
  const { type, write } = FORMS[ending];
  const name = `${list.name}.${ending}`;
  return {
    path: `/${name}`,
    isDated: list.past !== null,
    show: async asking => {
      const asked = askedBy(list, asking);
      if ('fault' in asked) return asked;
      const { reader, at } = asking;
      const states = at === null ? await readStates(reader, list.resource, null) : null;
      const rows = streamRows(reader, asked);
      const { columns } = asked.list;
      if (states === null) return { type, name, text: write(rows, columns) };
      return { type, name, text: write(withFreshness(rows, states), [...columns, 'freshness']) };
    },
  };
}
