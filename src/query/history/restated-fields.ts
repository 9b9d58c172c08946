import type { Reader } from '../../store/contract/reader.js';
import type { Row } from '../../store/contract/tables.js';
import { type ChangedColumn, listChangedColumns } from '../../text/describe-change.js';
import { queryBuilder } from '../../store/sql/builder.js';
import { readFirst } from '../read.js';
import { readNumberedChanges } from './changes.js';

/** The columns that say what a restatement changed. */
export const RESTATED_FIELD_COLUMNS = ['fields', 'old_values', 'new_values'] as const;

/** Adds the restated fields with their values before and after. A removed row has no fields. */
export async function addRestatedFields(
  reader: Reader,
  restatements: readonly Row[],
): Promise<readonly Row[]> {
  const numbers = restatements.map(row => Number(row['number']));
  const changes = await readNumberedChanges(reader, numbers);
  const byNumber = new Map(changes.map(change => [change.number, listChangedColumns(change)]));
  return restatements.map(row => {
    const fields = row['change'] === 'changed' ? (byNumber.get(Number(row['number'])) ?? []) : [];
    return {
      ...row,
      fields: joinTexts(fields.map(({ name }) => name)),
      old_values: joinValues(fields, 'before'),
      new_values: joinValues(fields, 'after'),
    };
  });
}

function joinValues(fields: readonly ChangedColumn[], side: 'before' | 'after'): string | null {
  return joinTexts(fields.map(field => toText(field[side])));
}

function joinTexts(texts: readonly string[]): string | null {
  return texts.length === 0 ? null : texts.join('; ');
}

function toText(value: unknown): string {
  if (value === null) return 'nothing';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Reads when a retirement or its certificate was restated last, by the instant or until now. Null if it never was. */
export async function readLastRestatement(
  reader: Reader,
  organizationId: string,
  retirementId: string,
  at: string | null,
): Promise<string | null> {
  const restatements = queryBuilder
    .selectFrom('mirror.restatements')
    .select('observed_at')
    .where('organization_id', '=', organizationId)
    .where('id', '=', retirementId)
    .orderBy('number', 'desc');
  const last = await readFirst(
    reader,
    at === null ? restatements : restatements.where('observed_at', '<=', at),
  );
  return last?.observed_at ?? null;
}
