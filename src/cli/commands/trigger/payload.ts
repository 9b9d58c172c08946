import { randomUUID } from 'node:crypto';
import type { Reader } from '../../../engines/contract/reader.js';
import { readFirstCredit, readInstalled } from '../../../query/singles.js';
import { excessOf } from '../../../registry/json/json-text.js';
import { type EventName, isObject } from '../../../registry/model.js';

export interface Subject {
  readonly installationId: string;
  readonly organizationId: string;
  /** The registry's own object where the mirror has it. */
  readonly document: string | null;
  /** A credit for an event that is about one. */
  readonly creditId: string | null;
}

export interface Wanted {
  readonly organizationId: string;
  readonly installationId: string | null;
}

/** What the mirror knows of the installation: the one that is named, else the newest of its organization. */
export async function findSubject(reader: Reader, event: EventName, wanted: Wanted): Promise<Subject | null> {
  const { organizationId, installationId } = wanted;
  const row = await readInstalled(reader, organizationId, installationId);
  const found = row?.id ?? installationId;
  if (found === null) return null;
  const table = TRANSACTIONS[event];
  const creditId = table === undefined ? null : await readFirstCredit(reader, table, organizationId);
  return { installationId: found, organizationId, document: row?.document ?? null, creditId };
}

/** Events that tell of a transaction, and where its credits stood. */
const TRANSACTIONS: Partial<Readonly<Record<EventName, 'warehouse_credits' | 'inventory_credits'>>> = {
  warehouseTransaction: 'warehouse_credits',
  organizationTransaction: 'inventory_credits',
};

export interface Payload {
  readonly event: EventName;
  readonly transaction?: object;
  readonly installation: object;
}

export function createPayload(event: EventName, subject: Subject, appId: string, now: number): Payload {
  const at = new Date(now).toISOString();
  return {
    event,
    ...(TRANSACTIONS[event] !== undefined && { transaction: createTransaction(subject, at) }),
    installation: createInstallation(subject, appId, at),
  };
}

function createTransaction({ creditId }: Subject, at: string): object {
  return {
    id: randomUUID(),
    creditId: creditId ?? `exPost-1-0x${'0'.repeat(40)}`,
    createdAt: at,
    updatedAt: at,
    status: 'processed',
    type: 'transfer',
    amount: 1,
  };
}

function createInstallation(subject: Subject, appId: string, at: string): object {
  const { document } = subject;
  const known: unknown = document === null || excessOf(document) !== null ? {} : JSON.parse(document);
  return {
    id: subject.installationId,
    appId,
    createdAt: at,
    updatedAt: at,
    permissions: { organization_info: 'VIEW' },
    organization: { id: subject.organizationId },
    ...(isObject(known) ? known : {}),
  };
}

/** The body of a delivery: the payload, and the text of it that is signed. */
export function sealPayload(payload: Payload): { readonly body: string; readonly signedData: string } {
  const signedData = Buffer.from(JSON.stringify(payload)).toString('base64');
  return { body: JSON.stringify({ ...payload, signedData }), signedData };
}
