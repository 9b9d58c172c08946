import type { Reader } from '../../store/contract/reader.js';
import { byName, stoodAt } from '../by-name.js';

/** What may be chosen by its name. */
export interface Choice {
  readonly value: string;
  readonly says: string;
}

/** More are not looked through by eye: then an id is asked for. */
const MOST_CHOICES = 200;

/** Organizations or projects by their names, at an instant or now; null where there are too many. */
export async function readChoices(
  reader: Reader,
  table: 'organizations' | 'projects',
  at: string | null,
): Promise<Choice[] | null> {
  const rows = await byName(reader)
    .selectFrom(at === null ? table : `${table}_history`)
    .where(eb => (at === null ? eb.and([]) : stoodAt(at)))
    .select(['id', 'full_name'])
    .orderBy('full_name')
    .orderBy('id')
    .limit(MOST_CHOICES + 1)
    .execute();
  if (rows.length > MOST_CHOICES) return null;
  return rows.map(({ id, full_name: name }) => ({ value: id, says: name ?? id }));
}
