import { isInstant } from './bytes.js';
import type { JsonObject } from './canonical-json.js';
import { assertFolder } from './fault.js';
import type { HashedLeaf } from './tree.js';

/** A row version, as a leaf of kind `change` records it. */
export interface RowVersion {
  readonly leaf: HashedLeaf;
  /** The name of the list, such as `retirements`. */
  readonly list: string;
  /** The id of the organization that the row belongs to. */
  readonly organization: string;
  /** The number of the version. Later versions of any row have higher numbers. */
  readonly version: number;
  /** When the mirror observed the version. */
  readonly observedAt: string;
  /** When the registry says that the row was created; null if it does not say. */
  readonly datedAt: string | null;
  /** The amount in millionths of a tonne; null if the row has no usable amount. */
  readonly micro: bigint | null;
}

/** Returns a field of a record if it is a string; otherwise an empty string. */
export function getText(record: JsonObject, name: string): string {
  const value = record.get(name);
  return typeof value === 'string' ? value : '';
}

/** Formats a string or number of a record as text; an empty text if the field is missing. */
export function formatField(record: JsonObject, name: string): string {
  const value = record.get(name) ?? null;
  return value === null || typeof value === 'object' ? '' : String(value);
}

/** Reads the row version that a leaf records. Throws an EvidenceFault if it records none or is malformed. */
export function readRowVersion(leaf: HashedLeaf): RowVersion {
  const { record, leafIndex } = leaf;
  const list = getText(record, 'resource');
  const version = record.get('version');
  const observedAt = getText(record, 'valid_from');
  const datedAt = record.get('created_at') ?? null;
  const micro = record.get('amount_micro') ?? null;
  const isRow = getText(record, 'kind') === 'change' && isInstant(observedAt);
  assertFolder(isRow && Number.isSafeInteger(version), `leaf ${leafIndex} shows no row`);
  assertFolder(datedAt === null || isInstant(datedAt), `leaf ${leafIndex}: "created_at" is no instant`);
  assertFolder(micro === null || isInteger(micro), `leaf ${leafIndex}: "amount_micro" is no whole number`);
  return {
    leaf,
    list,
    organization: getText(record, list === 'organization' ? 'id' : 'organization_id'),
    version: Number(version),
    observedAt,
    datedAt,
    micro: micro === null ? null : BigInt(micro),
  };
}

/** Returns true for a change that created a row version, false for one that removed a row and for all other leaves. */
export function isRowVersion({ record }: HashedLeaf): boolean {
  return getText(record, 'kind') === 'change' && record.has('valid_from');
}

function isInteger(value: unknown): value is number | bigint {
  return typeof value === 'bigint' || Number.isSafeInteger(value);
}

/** Returns the leaves of a kind, by leaf index. */
export function listLeavesOfKind(leaves: ReadonlyMap<number, HashedLeaf>, kind: string): HashedLeaf[] {
  return [...leaves.values()]
    .filter(({ record }) => getText(record, 'kind') === kind)
    .toSorted((left, right) => left.leafIndex - right.leafIndex);
}
