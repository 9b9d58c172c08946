import type { SaidTransaction, Task } from '../../../mirror/port.js';
import { type Sqlite, write } from '../open.js';
import { statement } from '../statement.js';
import type { RunRows } from './run-rows.js';

type Noted = { [Name in keyof SaidTransaction]: SaidTransaction[Name] } & {
  organizationId: string;
  installationId: string;
};

/** What webhooks said of transactions: noted once for each text. */
export function createTransactions(db: Sqlite, { fence }: RunRows) {
  const last = statement<{ installationId: string }, { last: number }>(
    db,
    'SELECT coalesce(max(delivery_id), 0) AS last FROM transactions WHERE installation_id = @installationId',
  );
  const insert = statement<Noted>(
    db,
    `INSERT INTO transactions (digest, delivery_id, received_at, installation_id, organization_id, event, id, type, status,
       credit_id, amount, amount_micro, amount_exact, fault)
     VALUES (@digest, @deliveryId, @receivedAt, @installationId, @organizationId, @event, @id, @type, @status,
       @creditId, @amount, @amountMicro, @amountExact, @fault)
     ON CONFLICT DO NOTHING`,
  );
  return {
    lastTransaction: (installationId: string): number => last.get({ installationId })?.last ?? 0,
    noteTransactions: (task: Task, installationId: string, said: readonly SaidTransaction[]): void =>
      write(db, () => {
        fence.take(task);
        for (const each of said)
          insert.run({
            ...each,
            deliveryId: each.deliveryId,
            organizationId: task.organizationId,
            installationId,
          });
      }),
  };
}
