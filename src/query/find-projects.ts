import type { Reader } from '../engines/contract/reader.js';
import type { Row } from '../engines/contract/tables.js';

export interface Sought {
  readonly serialization: string | undefined;
  readonly creditId: string | undefined;
}

const SOURCES = ['warehouse_credits', 'inventory_credits', 'reservations', 'inventory_requests'] as const;

/** The projects that the mirror's credits, holds, requests and retirements name for this credit. */
export async function findProjects({ db }: Reader, { serialization, creditId }: Sought): Promise<Row[]> {
  const text = serialization?.replaceAll(/[A-Z]/g, letter => letter.toLowerCase()) ?? null;
  const named = SOURCES.map(table =>
    db
      .selectFrom(table)
      .select('project_id')
      .where(eb =>
        eb.or([
          ...(creditId === undefined ? [] : [eb('credit_id', '=', creditId)]),
          ...(text === null ? [] : [eb(eb.fn('lower', ['serialization']), '=', text)]),
        ]),
      ),
  );
  const retired = db
    .selectFrom('retirements')
    .select('project_id')
    .where(eb => eb(eb.fn('lower', ['serialization']), '=', text));
  return await db
    .selectFrom('projects')
    .selectAll()
    .where(
      'id',
      'in',
      named.reduce((all, each) => all.unionAll(each), retired),
    )
    .orderBy('id')
    .execute();
}
