/** Turns changes of rows into events. The same change always gives the same body, until it is erased. */
import type { Tables } from '../../store/contract/tables.js';
import type { EventType } from './catalogue.js';
import type { EventContent } from './event.js';
import { EVENT_ROWS, type EventResource, isEventResource } from './row-columns.js';

export type ChangeRecord = Tables['changes'];
/** The values of a row by column name. */
type ColumnValues = Readonly<Record<string, unknown>>;

/** A change of a row. `row` is null after a removal, and `previous` is null before an addition. */
interface RowChange {
  readonly change: ChangeRecord['change'];
  readonly row: ColumnValues | null;
  readonly previous: ColumnValues | null;
  readonly changedColumns: readonly string[];
  readonly observedAt: string;
}

/**
 * Converts a change of a row to an event. Returns null if the change has no organization, if there are no events about its
 * resource, if none of the changed columns is part of the event, or if no type of event fits the change.
 */
export function createChangeEvent(record: ChangeRecord): EventContent | null {
  const { resource, number, change, observed_at: timestamp, organization_id: organizationId } = record;
  if (!isEventResource(resource) || organizationId === null) return null;
  const columns: readonly string[] = EVENT_ROWS[resource].columns;
  const row = selectColumns(record.after, columns);
  const previous = selectColumns(record.before, columns);
  const changedColumns = (record.changed_columns ?? '').split(',').filter(name => columns.includes(name));
  if (change === 'changed' && changedColumns.length === 0) return null;
  const type = CHOOSE_TYPE[resource]({ change, row, previous, changedColumns, observedAt: timestamp });
  if (type === null) return null;
  const data = {
    organization_id: organizationId,
    resource,
    number,
    change,
    row,
    previous,
    changed_columns: changedColumns,
  };
  return { type, organizationId, timestamp, data };
}

/** Parses the JSON of a row and keeps only these columns, in this order. Returns null if there is no row. */
function selectColumns(text: string | null, columns: readonly string[]): ColumnValues | null {
  if (text === null) return null;
  const cells: ColumnValues = JSON.parse(text);
  return Object.fromEntries(columns.map(name => [name, cells[name] ?? null]));
}

type TypeChooser = (rowChange: RowChange) => EventType | null;

const CHOOSE_TYPE: Readonly<Record<EventResource, TypeChooser>> = {
  retirements: rowChange => {
    if (rowChange.change === 'added') return 'retirement.created';
    if (rowChange.change === 'removed') return 'retirement.removed';
    return isRestatement(rowChange) ? 'retirement.restated' : 'retirement.changed';
  },
  certificates: ({ change }) => {
    if (change === 'removed') return 'certificate.removed';
    return change === 'added' ? 'certificate.stored' : 'certificate.replaced';
  },
  warehouse: () => 'credit.changed',
  inventory: () => 'credit.changed',
  reservations: () => 'reservation.changed',
  inventory_requests: () => 'request.changed',
  organization: () => 'organization.changed',
  installation: chooseInstallationEventType,
};

const YEAR_LENGTH = 4;

/**
 * Whether a retirement was changed after the year in which it was created. A change of only the project name does not count.
 */
function isRestatement({ previous, changedColumns, observedAt }: RowChange): boolean {
  const createdAt = previous?.['created_at'];
  return (
    typeof createdAt === 'string' &&
    createdAt.slice(0, YEAR_LENGTH) < observedAt.slice(0, YEAR_LENGTH) &&
    changedColumns.some(name => name !== 'project_name')
  );
}

/** Returns the event type for a change of an installation's state. Returns null if the state is unchanged. */
function chooseInstallationEventType({ row, previous }: RowChange): EventType | null {
  const state = row?.['state'] ?? 'uninstalled';
  if (state === previous?.['state']) return null;
  if (state === 'suspended') return 'organization.suspended';
  if (state === 'uninstalled') return 'organization.uninstalled';
  return previous === null ? 'organization.installed' : 'organization.returned';
}
