import type { Reader } from '../../store/contract/reader.js';
import { byName, NULLS_FIRST, stoodAt } from '../sql.js';
import { named } from '../names.js';
import { typeName } from '../../text/tonnes.js';
import type { List } from './list.js';

/** What may be chosen by its name. */
export interface Choice {
  readonly value: string;
  readonly says: string;
}

/** More are not looked through by eye: then an id is asked for. */
const MOST_CHOICES = 200;

/** Organizations, projects or installations by the names of these, at an instant or now; null where there are too many. */
export async function readChoices(
  reader: Reader,
  table: 'organizations' | 'projects' | 'installations',
  at: string | null,
): Promise<Choice[] | null> {
  if (table === 'installations') return shortEnough(await readInstalled(reader));
  const found = await named(reader, table, at)
    .limit(MOST_CHOICES + 1)
    .execute();
  return shortEnough(found.map(({ id, name }) => ({ value: id, says: name ?? id })));
}

async function readInstalled({ db }: Reader): Promise<Choice[]> {
  const rows = await db
    .selectFrom('installations as i')
    .leftJoin('organizations as o', 'o.id', 'i.organization_id')
    .select(['i.id', 'i.organization_id', 'o.full_name'])
    .orderBy('o.full_name', NULLS_FIRST)
    .orderBy('i.id')
    .limit(MOST_CHOICES + 1)
    .execute();
  return rows.map(({ id, organization_id: owner, full_name: name }) => ({
    value: id,
    says: name ?? owner ?? id,
  }));
}

/** What stands in a column of a list. */
export async function readValues(
  reader: Reader,
  { from, past }: List,
  column: string,
  at: string | null,
): Promise<Choice[] | null> {
  const rows = await byName(reader)
    .selectFrom(at === null || past === null ? from : past.from)
    .where(eb => (at === null ? eb.and([]) : stoodAt(at)))
    .where(column, 'is not', null)
    .select(eb => eb.ref(column).as('value'))
    .distinct()
    .orderBy('value')
    .limit(MOST_CHOICES + 1)
    .execute();
  return shortEnough(
    rows.map(({ value }) => ({
      value: String(value),
      says: column === 'type' ? typeName(String(value)) : String(value),
    })),
  );
}

function shortEnough(choices: Choice[]): Choice[] | null {
  return choices.length > MOST_CHOICES ? null : choices;
}
