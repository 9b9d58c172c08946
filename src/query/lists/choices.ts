import type { Reader } from '../../store/contract/reader.js';
import { typeName } from '../../text/tonnes.js';
import { named, type Named } from '../names.js';
import { plain, sql, stoodAt, table } from '../sql.js';
import type { List } from './list.js';

/** What may be chosen by its name. */
export interface Choice {
  readonly value: string;
  readonly says: string;
}

/** More are not looked through by eye: then an id is asked for. */
const MOST_CHOICES = 200;

const INSTALLED = sql<Named>`SELECT i.id, coalesce(o.full_name, i.organization_id) AS name
  FROM mirror.installations AS i LEFT JOIN mirror.organizations AS o ON o.id = i.organization_id
  ORDER BY o.full_name NULLS FIRST, i.id`;

/** Organizations, projects or installations by the names of these, at an instant or now; null where there are too many. */
export async function readChoices(
  { all }: Reader,
  of: 'organizations' | 'projects' | 'installations',
  at: string | null,
): Promise<Choice[] | null> {
  const names = of === 'installations' ? INSTALLED : named(of, at);
  const found = await all(sql`${names} LIMIT ${MOST_CHOICES + 1}`);
  return shortEnough(found.map(({ id, name }) => ({ value: id, says: name ?? id })));
}

/** What stands in a column of a list. */
export async function readValues(
  { all }: Reader,
  { from, past }: List,
  column: string,
  at: string | null,
): Promise<Choice[] | null> {
  const rows = at === null || past === null ? table(from) : table(past.from);
  const found = await all(sql<{ value: string }>`SELECT DISTINCT ${plain(column)} AS value FROM ${rows}
    WHERE ${plain(column)} IS NOT NULL AND ${at === null ? plain('1 = 1') : stoodAt(at)}
    ORDER BY value LIMIT ${MOST_CHOICES + 1}`);
  return shortEnough(
    found.map(({ value }) => ({ value, says: column === 'type' ? typeName(value) : value })),
  );
}

function shortEnough(choices: Choice[]): Choice[] | null {
  return choices.length > MOST_CHOICES ? null : choices;
}
