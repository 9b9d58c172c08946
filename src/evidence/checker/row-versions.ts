import { isInstant } from './bytes.js';
import type { JsonObject } from './canonical-json.js';
import { assertFolder } from './fault.js';
import type { HashedLeaf } from './tree.js';

/** A leaf of kind "change" that shows a version of a row. */
export interface RowVersion {
  readonly leaf: HashedLeaf;
  readonly list: string;
  readonly organization: string;
  readonly version: number;
  /** When the mirror observed the version. */
  readonly observedAt: string;
  /** When the registry says that the row was created; null if it does not say. */
  readonly datedAt: string | null;
  /** Millionths of a tonne; null if the row has no usable amount. */
  readonly micro: bigint | null;
}

/** Returns a field of a record as text; an empty text if it is missing or no text. */
export function getText(record: JsonObject, name: string): string {
  const value = record.get(name);
  return typeof value === 'string' ? value : '';
}

/** Formats a field of a record as text; an empty text if it is missing. */
export function formatField(record: JsonObject, name: string): string {
  const value = record.get(name) ?? null;
  return value === null || typeof value === 'object' ? '' : String(value);
}

/** Reads the row version that a leaf shows. Throws a Fault if the leaf shows none. */
export function readRowVersion(leaf: HashedLeaf): RowVersion {
  const { record, place } = leaf;
  const list = getText(record, 'resource');
  const version = record.get('version');
  const observedAt = getText(record, 'valid_from');
  const datedAt = record.get('created_at') ?? null;
  const micro = record.get('amount_micro') ?? null;
  const isRow = getText(record, 'kind') === 'change' && isInstant(observedAt);
  assertFolder(isRow && Number.isSafeInteger(version), `leaf ${place} shows no row`);
  assertFolder(datedAt === null || isInstant(datedAt), `leaf ${place}: "created_at" is no instant`);
  assertFolder(micro === null || isWhole(micro), `leaf ${place}: "amount_micro" is no whole number`);
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

/** Returns true if a leaf shows a version of a row, and not only that one ended. */
export function isRowVersion({ record }: HashedLeaf): boolean {
  return getText(record, 'kind') === 'change' && record.has('valid_from');
}

function isWhole(value: unknown): value is number | bigint {
  return typeof value === 'bigint' || Number.isSafeInteger(value);
}

/** Returns the leaves of a kind in the order of the log. */
export function listLeavesOfKind(leaves: ReadonlyMap<number, HashedLeaf>, kind: string): HashedLeaf[] {
  return [...leaves.values()]
    .filter(({ record }) => getText(record, 'kind') === kind)
    .toSorted((left, right) => left.place - right.place);
}
