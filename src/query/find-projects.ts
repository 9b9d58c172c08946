import type { Reader } from '../store/contract/reader.js';
import type { Row } from '../store/contract/tables.js';
import { ENTRIES, hasColumn } from '../resources/resources.js';
import { byName, lowered } from './sql.js';

export interface Sought {
  readonly serialization: string | undefined;
  readonly creditId: string | undefined;
}

/** Credits, and what was done with them. */
const SOURCES = ENTRIES.filter(entry => hasColumn(entry, 'serialization'));

/** The projects that the mirror's credits, reservations, requests and retirements name for this credit. */
export async function findProjects(reader: Reader, { serialization, creditId }: Sought): Promise<Row[]> {
  const text = serialization === undefined ? null : lowered(serialization);
  const named = SOURCES.map(entry =>
    byName(reader)
      .selectFrom(entry.table)
      .select(eb => eb.ref('project_id').$castTo<string | null>().as('project_id'))
      .where(eb =>
        eb.or([
          ...(creditId === undefined || !hasColumn(entry, 'credit_id')
            ? []
            : [eb('credit_id', '=', creditId)]),
          ...(text === null ? [] : [eb(eb.fn('lower', ['serialization']), '=', text)]),
        ]),
      ),
  );
  const all = named.reduce((some, each) => some.unionAll(each));
  return await byName(reader)
    .selectFrom('projects')
    .selectAll()
    .where('id', 'in', all)
    .orderBy('id')
    .execute();
}
