import { randomUUID } from 'node:crypto';
import { excessOf } from '../../../registry/json/json-text.js';
import { type EventName, isObject } from '../../../registry/model.js';

/** What a delivery is about. */
export interface Subject {
  readonly installationId: string;
  readonly organizationId: string;
  /** The registry's own object where the mirror has it. */
  readonly document?: string | undefined;
  /** A credit for an event that is about one. */
  readonly creditId?: string | null;
}

/** Events that tell of a transaction, and where its credits stood. */
export const TRANSACTIONS: Partial<Readonly<Record<EventName, 'warehouse_credits' | 'inventory_credits'>>> = {
  warehouseTransaction: 'warehouse_credits',
  organizationTransaction: 'inventory_credits',
};

/** The body of a delivery, and the text of it that is signed. */
export function createDelivery(event: EventName, subject: Subject, appId: string, now: number) {
  const dates = { createdAt: new Date(now).toISOString(), updatedAt: new Date(now).toISOString() };
  const { installationId: id, organizationId, document, creditId } = subject;
  const known: unknown = document === undefined || excessOf(document) !== null ? {} : JSON.parse(document);
  const transaction = {
    id: randomUUID(),
    creditId: creditId ?? `exPost-1-0x${'0'.repeat(40)}`,
    ...dates,
    status: 'processed',
    type: 'transfer',
    amount: 1,
  };
  const payload = {
    event,
    ...(TRANSACTIONS[event] !== undefined && { transaction }),
    installation: {
      id,
      appId,
      ...dates,
      permissions: { organization_info: 'VIEW' },
      organization: { id: organizationId },
      ...(isObject(known) ? known : {}),
    },
  };
  const signedData = Buffer.from(JSON.stringify(payload)).toString('base64');
  return { body: JSON.stringify({ ...payload, signedData }), signedData };
}
