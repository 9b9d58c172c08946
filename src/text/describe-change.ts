/**
 * Describes one change of the view `changes` in a sentence for people, such as
 * `warehouse Harbour Wind 2021: 500 t → 300 t`. The commands and the console share these sentences.
 * Names come from the registry, so they are cleaned and truncated before they enter a sentence.
 */
import { truncateName } from './clean-text.js';
import { formatWithCommas } from './numbers.js';
import { formatTonnes, formatCreditType } from './tonnes.js';

/** The values of a row by column name. */
type CellsByColumn = Readonly<Record<string, unknown>>;

/** One change of the mirror. The type parameters say how its cells and its changed columns are represented. */
interface ChangeFields<Cells, ColumnList> {
  readonly number: number;
  readonly observed_at: string;
  readonly organization_id: string | null;
  readonly organization_name: string | null;
  readonly resource: string;
  readonly row_id: string;
  readonly change: 'added' | 'changed' | 'removed';
  readonly before: Cells | null;
  readonly after: Cells | null;
  readonly changed_columns: ColumnList | null;
  readonly sync_id: number;
  readonly trigger: string | null;
  readonly job_id: number | null;
  readonly newest_delivery_id: number | null;
}

/** A row of the view `changes`: `before` and `after` are JSON texts, and commas separate the `changed_columns`. */
type ChangesViewRow = ChangeFields<string, string>;
/** A change whose `before` and `after` are parsed and whose changed columns are a list. */
export type Change = ChangeFields<CellsByColumn, readonly string[]>;

const MAX_LISTED_COLUMNS = 3;

/** Parses the JSON texts and the comma-separated column names in a row of the view `changes`. */
export function parseChange(row: ChangesViewRow): Change {
  return {
    ...row,
    before: parseCells(row.before),
    after: parseCells(row.after),
    changed_columns: row.changed_columns?.split(',') ?? null,
  };
}

/** Parses the JSON of a row to values by column name. A large `amount_micro` becomes a string, so that it keeps all digits. */
function parseCells(json: string | null): CellsByColumn | null {
  if (json === null) return null;
  const cells: CellsByColumn = JSON.parse(json.replace(/"amount_micro":(-?\d{16,})/, '"amount_micro":"$1"'));
  return cells;
}

/** Formats the heading above the changes of one sync: time, organization and cause, as in `15:40 Acme (delivery 17)`. */
export function formatChangeHeading(change: Change): string {
  const { observed_at: observedAt, organization_name: organization, newest_delivery_id: delivery } = change;
  const { trigger, sync_id: sync } = change;
  const cause = delivery === null ? (trigger ?? `sync ${sync}`) : `delivery ${delivery}`;
  const name = organization === null ? '' : ` ${truncateName(organization)}`;
  return `${observedAt.slice(11, 16)}${name} (${cause})`;
}

/** Describes a change in one sentence: `retired 20 t Harbour Wind 2021 for Acme`. */
export function describeChange(change: Change): string {
  const { resource, change: kind, before, after } = change;
  const cells = after ?? before ?? {};
  if (resource === 'warehouse' || resource === 'inventory') return describeCreditChange(change, cells);
  const verb = VERBS_FOR_ADDED[resource];
  if (kind === 'added' && verb !== undefined)
    return `${verb} ${describeMovement(resource, cells)}${formatRetirementDay(change)}`;
  const subject = `${SINGULARS[resource] ?? resource} ${formatRowLabel(change, cells)}`;
  return kind === 'changed' ? `${subject}: ${describeChangedColumns(change)}` : `${subject} ${kind}`;
}

/** Describes a change of a credit: `warehouse Harbour Wind 2021: 500 t → 300 t`. */
function describeCreditChange(change: Change, cells: CellsByColumn): string {
  const { resource, before, after } = change;
  const [previous, current] = [before, after].map(row =>
    row === null ? 'not listed' : formatCreditAmount(row),
  );
  const difference = previous === current ? describeChangedColumns(change) : `${previous} → ${current}`;
  return `${resource} ${formatCreditLabel(cells)}: ${difference}`;
}

/** Resources whose added rows are described by a verb. */
const VERBS_FOR_ADDED: Readonly<Record<string, string>> = {
  retirements: 'retired',
  reservations: 'reserved',
};
const SINGULARS: Readonly<Record<string, string>> = {
  retirements: 'retirement',
  reservations: 'reservation',
  inventory_requests: 'inventory request',
  addresses: 'address',
  members: 'member',
  projects: 'project',
  certificates: 'certificate of retirement',
};

/** Formats a label for the changed row: `of 20 t Harbour Wind 2021 for Acme` for a retirement, else a name or the row's id. */
function formatRowLabel({ resource, row_id: id }: Change, cells: CellsByColumn): string {
  if (resource in VERBS_FOR_ADDED) return `of ${describeMovement(resource, cells)}`;
  const name = toNonEmptyText(cells['full_name']);
  return name === null ? id : truncateName(name);
}

/** Describes the credits of a retirement or reservation and for whom they are: `20 t Harbour Wind 2021 for Acme`. */
function describeMovement(resource: string, cells: CellsByColumn): string {
  const party = resource === 'retirements' ? describeBeneficiary(cells) : describeReserver(cells);
  return `${formatCreditAmount(cells)} ${formatCreditLabel(cells)}${party}`;
}

/** Describes for whom credits were retired: ` for Acme`, or `, unclaimed` if the retirement has no beneficiary. */
function describeBeneficiary(cells: CellsByColumn): string {
  const beneficiary = toNonEmptyText(cells['beneficiary']);
  return beneficiary === null ? ', unclaimed' : ` for ${truncateName(beneficiary)}`;
}

/** Describes who made a reservation: ` by Acme`. Returns an empty text if that is unknown. */
function describeReserver(cells: CellsByColumn): string {
  const reserver = toNonEmptyText(cells['reserver_name']);
  return reserver === null ? '' : ` by ${truncateName(reserver)}`;
}

/**
 * Formats the day of a new retirement: ` on 2025-07-01`. Returns '' for rows of other lists, and if the mirror first observed the
 * retirement on that day.
 */
function formatRetirementDay({ resource, after, observed_at: observedAt }: Change): string {
  const day = toNonEmptyText(after?.['created_at'])?.slice(0, 10) ?? null;
  if (resource !== 'retirements' || day === null || day === observedAt.slice(0, 10)) return '';
  return ` on ${day}`;
}

/** A changed column with its values. */
export interface ChangedColumn {
  readonly name: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** Lists the changed columns with old and new values. Leaves out redundant ones, such as `amount_micro` beside `amount_exact`. */
export function listChangedColumns({
  changed_columns: changed,
  before,
  after,
}: Pick<Change, 'changed_columns' | 'before' | 'after'>): readonly ChangedColumn[] {
  return omitRedundantColumns(changed ?? []).map(name => ({
    name,
    before: before?.[name] ?? null,
    after: after?.[name] ?? null,
  }));
}

/** Returns the word for a column of the mirror in a sentence. */
export function nameColumn(column: string): string {
  return column === 'amount_exact' ? 'amount' : column;
}

/** Lists the changed columns with old and new values: `state open → done and 2 more`. */
function describeChangedColumns({ changed_columns: changed, before, after }: Change): string {
  const columns = omitRedundantColumns(changed ?? []);
  if (columns.includes('document')) return 'a field without a column of its own';
  const listed = columns
    .slice(0, MAX_LISTED_COLUMNS)
    .map(
      name => `${nameColumn(name)} ${formatCellValue(before?.[name])} → ${formatCellValue(after?.[name])}`,
    );
  const omitted = columns.length - listed.length;
  return `${listed.join(', ')}${omitted > 0 ? ` and ${omitted} more` : ''}`;
}

/** Removes `amount_micro` if `amount_exact` also changed, and `updated_at` if any other column changed. */
function omitRedundantColumns(columns: readonly string[]): readonly string[] {
  const hasExactAmount = columns.includes('amount_exact');
  return columns.filter(name => {
    // `updated_at` is only of interest if no other column changed.
    if (name === 'updated_at') return columns.length === 1;
    return name !== 'amount_micro' || !hasExactAmount;
  });
}

/** Formats the value of a column and truncates long values. Null becomes `nothing`. */
function formatCellValue(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  return truncateName(typeof value === 'string' ? value : JSON.stringify(value));
}

/** Returns a label for a credit: its project and vintage, such as `Harbour Wind 2021`. */
function formatCreditLabel(cells: CellsByColumn): string {
  const name =
    toNonEmptyText(cells['project_name']) ??
    toNonEmptyText(cells['project_id']) ??
    toNonEmptyText(cells['serialization']);
  const vintage = toNonEmptyText(cells['vintage']);
  const project = name === null ? 'of an unnamed project' : truncateName(name);
  return vintage === null ? project : `${project} ${vintage}`;
}

/** Formats the amount in a row's cells: `1,500.5 t`. */
function formatCreditAmount(cells: CellsByColumn): string {
  const amount = toNonEmptyText(cells['amount_exact']);
  return amount === null ? 'an unreadable amount' : `${formatWithCommas(amount)} t`;
}

/** Returns the value if it is a non-empty string, otherwise null. */
function toNonEmptyText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

const SUMMED_RESOURCES = ['warehouse', 'inventory', 'retirements'];

/** Tonnes that appeared in and disappeared from one list, in micro-tonnes. */
interface TonnageMovement {
  gained: bigint;
  lost: bigint;
  /** Changes whose amount is not a number that can be added. */
  unsummableChanges: number;
}

/** Creates an empty summary, which counts the changes passed to `addChange` and sums the tonnes gained and lost in each list. */
export function createChangeSums() {
  const counts = { added: 0, changed: 0, removed: 0 };
  const movements = new Map<string, TonnageMovement>();

  /** Counts a change, and adds the tonnes that its row gained or lost to the sums of its list. */
  function addChange({ resource, change, before, after }: Change): void {
    counts[change] += 1;
    if (!SUMMED_RESOURCES.includes(resource)) return;
    const type = (after ?? before)?.['type'];
    const label = typeof type === 'string' ? `${resource} ${formatCreditType(type)}` : resource;
    const movement = movements.get(label) ?? { gained: 0n, lost: 0n, unsummableChanges: 0 };
    const [previous, current] = [toMicroTonnes(before), toMicroTonnes(after)];
    if (previous === null || current === null) movement.unsummableChanges += 1;
    else if (current > previous) movement.gained += current - previous;
    else movement.lost += previous - current;
    movements.set(label, movement);
  }

  /** Formats the summary of all changes so far: a line of counts, then a line for each list and credit type. */
  function formatLines(): string[] {
    const { added, changed, removed } = counts;
    const total = added + changed + removed;
    return [
      `${total} changes: ${added} added, ${changed} changed, ${removed} removed`,
      ...Array.from(movements, ([label, movement]) => `${label}: ${formatMovement(movement)}`),
    ];
  }

  return { addChange, formatLines };
}

/** Formats tonnes gained and lost, such as `+20 t, -5 t`, and the number of changes without an amount. */
function formatMovement({ gained, lost, unsummableChanges }: TonnageMovement): string {
  const remainder = unsummableChanges === 0 ? '' : `; ${unsummableChanges} without a usable amount`;
  return `+${formatTonnes(gained)} t, -${formatTonnes(lost)} t${remainder}`;
}

/** Returns the amount of a row in micro-tonnes. Returns 0 for a missing row, and null for an unusable amount. */
function toMicroTonnes(row: Change['before']): bigint | null {
  const micro = row === null ? 0 : row['amount_micro'];
  return typeof micro === 'number' || typeof micro === 'string' ? BigInt(micro) : null;
}
