import type { Reader } from '../engines/contract/reader.js';
import type { Row } from '../engines/contract/tables.js';

export const TRANSACTION_COLUMNS = [
  'received_at',
  'organization_name',
  'event',
  'type',
  'status',
  'amount_exact',
  'credit_id',
  'id',
  'fault',
  'delivery_id',
  'organization_id',
];

export interface TransactionFilter {
  readonly organizationId: string | null;
  readonly status: string | null;
  /** Null for all of them. */
  readonly limit: number | null;
}

/** What webhooks said of transactions, newest first. A hint: nobody has asked the registry. */
export async function readTransactions({ db }: Reader, filter: TransactionFilter): Promise<Row[]> {
  let asked = db
    .selectFrom('transactions as t')
    .leftJoin('organizations as o', 'o.id', 't.organization_id')
    .selectAll('t')
    .select('o.full_name as organization_name')
    .orderBy('t.received_at', 'desc')
    .orderBy('t.delivery_id', 'desc')
    .orderBy('t.digest');
  if (filter.organizationId !== null) asked = asked.where('t.organization_id', '=', filter.organizationId);
  if (filter.status !== null) asked = asked.where('t.status', '=', filter.status);
  return await (filter.limit === null ? asked : asked.limit(filter.limit)).execute();
}
