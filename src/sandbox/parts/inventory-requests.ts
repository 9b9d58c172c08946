import { conflict, found } from '../http/errors.js';
import { type ListAnswer, type PageQuery, toPage } from '../http/pages.js';
import type { InventoryRequestRow } from '../store/schema.js';
import { type CreditColumns, inventoryRequest } from './shapes.js';
import type { Store } from '../store/store.js';
import { type Transactions, readAction, readDestination, readRetirementData } from './transactions.js';
import { readFields, refuseFaults } from '../http/validate.js';

type RequestShape = ReturnType<typeof inventoryRequest>;

export interface InventoryRequests {
  list(organizationId: string, query: PageQuery): ListAnswer;
  get(organizationId: string, id: string): RequestShape;
  create(organizationId: string, appId: string, order: RequestOrder): RequestShape;
  /** The administrator's two answers. */
  accept(id: string): RequestShape;
  decline(id: string): RequestShape;
  /** Of every organization, the newest first. */
  newest(limit: number): readonly RequestShape[];
}

interface RequestOrder {
  readonly action: string;
  readonly body: unknown;
}

type FullRow = InventoryRequestRow & CreditColumns;

const FULL_ROWS = `
  select r.*, c.token_id, c.token_address, c.serialization, c.vintage, c.type, c.project_id,
         p.full_name as project_name, p.num as project_num
  from inventory_requests r
  join credits c on c.id = r.credit_id
  join projects p on p.id = c.project_id`;

export function createInventoryRequests(store: Store, transactions: Transactions): InventoryRequests {
  const { db, accounts, newId, write } = store;
  const count = db.prepare<[string], number>('select request_count from organizations where id = ?').pluck();
  const nextOrdinal = db
    .prepare<[string], number>(
      'update organizations set request_count = request_count + 1 where id = ? returning request_count',
    )
    .pluck();
  const insert = db.prepare<[object]>(
    `insert into inventory_requests (id, organization_id, ordinal, app_id, credit_id, action, amount_micro,
       to_organization_id, to_address, reason, beneficiary, comment, state, created_at, updated_at)
     values (@id, @organizationId, @ordinal, @appId, @creditId, @action, @micro,
       @toOrganizationId, @toAddress, @reason, @beneficiary, @comment, 'Pending', @now, @now)`,
  );
  const setRejected = db.prepare<[string, string]>(
    `update inventory_requests set state = 'Rejected', tx_id = null, updated_at = ? where id = ?`,
  );
  const page = db.prepare<[string, number, number], FullRow>(
    `${FULL_ROWS} where r.organization_id = ? and r.ordinal between ? and ? order by r.ordinal desc`,
  );
  const newest = db.prepare<[number], FullRow>(`${FULL_ROWS} order by r.created_at desc, r.id limit ?`);
  const one = db.prepare<[string], FullRow>(`${FULL_ROWS} where r.id = ?`);
  const creditType = db.prepare<[string], string>('select type from credits where id = ?').pluck();

  function findPending(id: string): FullRow {
    const row = found(one.get(id), 'Request');
    if (row.state !== 'Pending') throw conflict(`The request is ${row.state}`);
    return row;
  }

  function show(id: string): RequestShape {
    return inventoryRequest(found(one.get(id), 'Request'));
  }

  function create(organizationId: string, appId: string, { action: word, body }: RequestOrder): RequestShape {
    const action = readAction(word);
    const faults: string[] = [];
    const fields = readFields(body, faults);
    const creditId = fields.text('creditId');
    const micro = fields.micro('amount');
    const destination = readDestination(fields, {
      action,
      id: 'toOrganizationId',
      address: 'toAddress',
      faults,
    });
    const retirement = readRetirementData(fields, action);
    refuseFaults(faults);
    const id = write(now => {
      transactions.demandPossible(action, found(creditType.get(creditId), 'Credit'));
      transactions.resolve(action, destination);
      if (accounts.amountOf(organizationId, 'inventory', creditId) < micro) {
        throw conflict('The inventory holds less of this credit than the amount asked for');
      }
      const made = { id: newId(), organizationId, appId, creditId, action, micro, now };
      const to = { toOrganizationId: destination.organizationId, toAddress: destination.address };
      const words = retirement ?? { reason: null, beneficiary: null, comment: null };
      insert.run({ ...made, ...to, ...words, ordinal: nextOrdinal.get(organizationId) });
      return made.id;
    });
    return show(id);
  }

  function accept(id: string): RequestShape {
    write(now => {
      const row = findPending(id);
      accounts.take(row.organization_id, 'inventory', row.credit_id, row.amount_micro);
      const destination = { organizationId: row.to_organization_id, address: row.to_address };
      const retirement =
        row.reason === null || row.beneficiary === null
          ? null
          : { reason: row.reason, beneficiary: row.beneficiary, comment: row.comment };
      const move = {
        action: row.action,
        event: 'organizationTransaction',
        organizationId: row.organization_id,
        appId: row.app_id,
        ...transactions.resolve(row.action, destination),
        reservationId: null,
        requestId: id,
        creditId: row.credit_id,
        micro: row.amount_micro,
        retirement,
        comment: null,
      } as const;
      transactions.carryOut(move, now);
    });
    return show(id);
  }

  return {
    list(organizationId, query) {
      const { from, to, pagination } = toPage(count.get(organizationId) ?? 0, query);
      const creditRequests = page.all(organizationId, from, to).map(inventoryRequest);
      return { pagination, creditRequests };
    },
    get(organizationId, id) {
      const row = found(one.get(id), 'Request');
      return inventoryRequest(found(row.organization_id === organizationId ? row : undefined, 'Request'));
    },
    create,
    newest: limit => newest.all(limit).map(inventoryRequest),
    accept,
    decline(id) {
      write(now => setRejected.run(now, findPending(id).id));
      return show(id);
    },
  };
}
