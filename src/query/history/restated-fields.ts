import type { Reader } from '../../store/contract/reader.js';
import type { Row } from '../../store/contract/tables.js';
import { type ChangedColumn, listChangedColumns, nameColumn } from '../../text/describe-change.js';
import { queryBuilder } from '../../store/sql/builder.js';
import { readNumberedChanges } from './changes.js';

/** The columns that say what a restatement changed. */
export const RESTATED_FIELD_COLUMNS = ['fields', 'old_values', 'new_values'] as const;
export type RestatedFieldCells = Readonly<Record<(typeof RESTATED_FIELD_COLUMNS)[number], string | null>>;

/**
 * Adds to each restatement the names of the changed fields and their values before and after. A restatement is a change that the registry
 * made to a record after its year had ended. If it removed the record, the fields are null.
 */
export async function addRestatedFields(
  reader: Reader,
  restatements: readonly Row[],
): Promise<readonly Row[]> {
  const numbers = restatements.map(row => Number(row['number']));
  const changes = await readNumberedChanges(reader, numbers);
  const byNumber = new Map(changes.map(change => [change.number, listChangedColumns(change)]));
  return restatements.map(row => {
    const fields = row['change'] === 'changed' ? (byNumber.get(Number(row['number'])) ?? []) : [];
    return { ...row, ...formatChangedFields(fields) };
  });
}

/** Formats the changed fields of a row as three cells: names, old values and new values. Each is null if no field changed. */
export function formatChangedFields(fields: readonly ChangedColumn[]): RestatedFieldCells {
  return {
    fields: joinTexts(fields.map(({ name }) => nameColumn(name))),
    old_values: joinValues(fields, 'before'),
    new_values: joinValues(fields, 'after'),
  };
}

/** Joins the old or the new values of the changed fields with semicolons. */
function joinValues(fields: readonly ChangedColumn[], side: 'before' | 'after'): string | null {
  return joinTexts(fields.map(field => formatValue(field[side])));
}

/** Joins texts with semicolons. Null if there are none. */
function joinTexts(texts: readonly string[]): string | null {
  return texts.length === 0 ? null : texts.join('; ');
}

/** Formats a value for people: null as `nothing`, objects as JSON. */
function formatValue(value: unknown): string {
  if (value === null) return 'nothing';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The key of a retirement. */
interface RetirementKey {
  readonly organizationId: string;
  readonly id: string;
}

/** Returns when the registry last restated a retirement or its certificate. Null if it never did. */
export type FindRestatement = (key: RetirementKey) => string | null;

/**
 * Reads when the registry last restated a retirement or its certificate, up to the instant `at`, or up to now if `at` is null. Null if it
 * never did.
 */
export async function readLastRestatement(
  reader: Reader,
  organizationId: string,
  id: string,
  at: string | null,
): Promise<string | null> {
  const findRestatement = await readLastRestatements(reader, [{ organizationId, id }], at);
  return findRestatement({ organizationId, id });
}

/**
 * Reads when the registry last restated retirements or their certificates, up to the instant `at`, or up to now if `at` is null. Returns a
 * function that gives this time for one of the retirements.
 */
export async function readLastRestatements(
  reader: Reader,
  keys: readonly RetirementKey[],
  at: string | null,
): Promise<FindRestatement> {
  if (keys.length === 0) return () => null;
  const restatements = queryBuilder
    .selectFrom('mirror.restatements')
    .select(['organization_id', 'id', 'observed_at'])
    .where('organization_id', 'in', [...new Set(keys.map(key => key.organizationId))])
    .where('id', 'in', [...new Set(keys.map(key => key.id))])
    .orderBy('number', 'asc');
  const rows = await reader.all(at === null ? restatements : restatements.where('observed_at', '<=', at));
  const toKey = ({ organizationId, id }: RetirementKey) => JSON.stringify([organizationId, id]);
  const lastByKey = new Map(
    rows.map(row => [toKey({ organizationId: row.organization_id, id: row.id }), row.observed_at]),
  );
  return key => lastByKey.get(toKey(key)) ?? null;
}
