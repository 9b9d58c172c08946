import type { Place } from '../store/schema.js';
import {
  documentedWarehouseCredit,
  type HoldingColumns,
  inventoryCredit,
  warehouseCredit,
} from './shapes.js';
import { openReader, type Store } from '../store/store.js';

export const HOLDINGS = `
  select h.organization_id, h.credit_id, h.amount_micro, c.token_id, c.token_address, c.serialization, c.vintage,
         c.type, c.issued_micro, c.project_id, p.full_name as project_name, p.num as project_num
  from holdings h
  join credits c on c.id = h.credit_id
  join projects p on p.id = c.project_id`;

const CHUNK_ROWS = 500;

const NEXT_CHUNK = `${HOLDINGS}
  where h.organization_id = ? and h.place = ? and h.credit_id > ?
  order by h.credit_id limit ${CHUNK_ROWS}`;

export interface Holdings {
  /** The whole answer as pieces of JSON text, all of it as it stood when the first was taken. */
  list(organizationId: string, place: Place): Generator<string>;
}

/** A second connection reads a long list, so that its snapshot lasts while other calls go on writing. */
export function createHoldings({ db, file }: Store, asDocumented: boolean): Holdings {
  const inWarehouse = asDocumented ? documentedWarehouseCredit : warehouseCredit;
  const firstChunk = db.prepare<[string, Place, string], HoldingColumns>(NEXT_CHUNK);
  const findWarehouseId = db
    .prepare<[string], string>('select warehouse_id from organizations where id = ?')
    .pluck();

  function* list(organizationId: string, place: Place): Generator<string> {
    const inventoryId = findWarehouseId.get(organizationId) ?? '';
    const shape = (row: HoldingColumns) =>
      JSON.stringify(place === 'warehouse' ? inWarehouse(row, inventoryId) : inventoryCredit(row));
    yield '{"credits":[';
    const rows = firstChunk.all(organizationId, place, '');
    if (rows.length < CHUNK_ROWS) yield rows.map(shape).join(',');
    else yield* readAll(organizationId, place, shape);
    yield `],"organizationId":${JSON.stringify(organizationId)}}`;
  }

  function* readAll(organizationId: string, place: Place, shape: (row: HoldingColumns) => string) {
    const reader = openReader(file);
    try {
      reader.exec('begin');
      const nextChunk = reader.prepare<[string, Place, string], HoldingColumns>(NEXT_CHUNK);
      let after = '';
      for (;;) {
        const rows = nextChunk.all(organizationId, place, after);
        const last = rows.at(-1);
        if (last === undefined) return;
        yield (after === '' ? '' : ',') + rows.map(shape).join(',');
        after = last.credit_id;
      }
    } finally {
      reader.close();
    }
  }

  return { list };
}
