/** Turns changes of rows into events. The same change always gives the same body, until it is erased. */
import type { Tables } from '../../store/contract/tables.js';
import type { EventType } from './catalogue.js';
import type { EventContent } from './event.js';
import { EVENT_ROWS, type EventResource, isEventResource } from './row-columns.js';

export type ChangeRecord = Tables['changes'];
type Cells = Readonly<Record<string, unknown>>;

interface RowChange {
  readonly change: ChangeRecord['change'];
  readonly row: Cells | null;
  readonly previous: Cells | null;
  readonly changedColumns: readonly string[];
  readonly observedAt: string;
}

/** Returns the event of a change. Null if no column that events contain has changed, or if events do not cover the resource. */
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

/** Returns the columns that events contain, in their order. */
function selectColumns(text: string | null, columns: readonly string[]): Cells | null {
  if (text === null) return null;
  const cells: Cells = JSON.parse(text);
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
  installation: chooseInstallationType,
};

const YEAR_LENGTH = 4;

/** Whether the year of a retirement had ended. A new name of its project is no restatement. */
function isRestatement({ previous, changedColumns, observedAt }: RowChange): boolean {
  const createdAt = previous?.['created_at'];
  return (
    typeof createdAt === 'string' &&
    createdAt.slice(0, YEAR_LENGTH) < observedAt.slice(0, YEAR_LENGTH) &&
    changedColumns.some(name => name !== 'project_name')
  );
}

function chooseInstallationType({ row, previous }: RowChange): EventType | null {
  const state = row?.['state'] ?? 'uninstalled';
  if (state === previous?.['state']) return null;
  if (state === 'suspended') return 'organization.suspended';
  if (state === 'uninstalled') return 'organization.uninstalled';
  return previous === null ? 'organization.installed' : 'organization.returned';
}
