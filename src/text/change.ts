import { truncateName } from './clean-text.js';
import { withThousands } from './numbers.js';

type Cells = Readonly<Record<string, unknown>>;

interface ChangeFields<Columns, Names> {
  readonly number: number;
  readonly observed_at: string;
  readonly organization_id: string | null;
  readonly organization_name: string | null;
  readonly resource: string;
  readonly row_id: string;
  readonly change: 'added' | 'changed' | 'removed';
  readonly before: Columns | null;
  readonly after: Columns | null;
  readonly changed_columns: Names | null;
  readonly sync_id: number;
  readonly trigger: string | null;
  readonly job_id: number | null;
  readonly newest_delivery_id: number | null;
}

/** A change as the view `changes` has it. */
type ChangeRow = ChangeFields<string, string>;
/** The same with its rows as objects, as programs take it. */
export type Change = ChangeFields<Cells, readonly string[]>;

const MOST_COLUMNS = 3;

export function parseChange(row: ChangeRow): Change {
  return {
    ...row,
    before: parseCells(row.before),
    after: parseCells(row.after),
    changed_columns: row.changed_columns?.split(',') ?? null,
  };
}

/** Millionths may be more than a number holds: then they stay text. */
function parseCells(json: string | null): Cells | null {
  if (json === null) return null;
  const cells: Cells = JSON.parse(json.replace(/"amount_micro":(-?\d{16,})/, '"amount_micro":"$1"'));
  return cells;
}

/** Above all that one sync found, without its day. */
export function changeHeading({ observed_at: at, organization_name: name, ...change }: Change): string {
  const { newest_delivery_id: delivery, trigger, sync_id: sync } = change;
  const cause = delivery === null ? (trigger ?? `sync ${sync}`) : `delivery ${delivery}`;
  return `${at.slice(11, 16)}${name === null ? '' : ` ${truncateName(name)}`} (${cause})`;
}

export function describeChange(change: Change): string {
  const { resource, change: kind, before, after } = change;
  const cells = after ?? before ?? {};
  if (resource === 'warehouse' || resource === 'inventory') {
    const [from, to] = [before, after].map(each => (each === null ? 'not listed' : amountOf(each)));
    return `${resource} ${creditName(cells)}: ${from === to ? describeColumns(change) : `${from} → ${to}`}`;
  }
  const did = VERBS[resource];
  if (kind === 'added' && did !== undefined)
    return `${did} ${describeAmount(resource, cells)}${datedIn(change)}`;
  const what = `${NOUNS[resource] ?? resource} ${nameOf(change, cells)}`;
  return kind === 'changed' ? `${what}: ${describeColumns(change)}` : `${what} ${kind}`;
}

/** What is said of what was added, where there is a word for it. */
const VERBS: Readonly<Record<string, string>> = { retirements: 'retired', reservations: 'reserved' };
const NOUNS: Readonly<Record<string, string>> = {
  retirements: 'retirement',
  reservations: 'reservation',
  inventory_requests: 'inventory request',
  addresses: 'address',
  members: 'member',
  projects: 'project',
  certificates: 'certificate of retirement',
};

function nameOf({ resource, row_id: id }: Change, cells: Cells): string {
  if (resource in VERBS) return `of ${describeAmount(resource, cells)}`;
  const name = text(cells['full_name']);
  return name === null ? id : truncateName(name);
}

/** How much of what, and for or by whom. */
function describeAmount(resource: string, cells: Cells): string {
  const whose = resource === 'retirements' ? forWhom(cells) : byWhom(cells);
  return `${amountOf(cells)} ${creditName(cells)}${whose}`;
}

function forWhom(cells: Cells): string {
  const beneficiary = text(cells['beneficiary']);
  return beneficiary === null ? ', unclaimed' : ` for ${truncateName(beneficiary)}`;
}

function byWhom(cells: Cells): string {
  const by = text(cells['reserver_name']);
  return by === null ? '' : ` by ${truncateName(by)}`;
}

/** The registry's own day, where it is another one. */
function datedIn({ resource, after, observed_at: at }: Change): string {
  const day = text(after?.['created_at'])?.slice(0, 10) ?? null;
  return resource !== 'retirements' || day === null || day === at.slice(0, 10) ? '' : ` on ${day}`;
}

function describeColumns({ changed_columns: columns, before, after }: Change): string {
  const all = columns ?? [];
  if (all.includes('document')) return 'a field without a column of its own';
  const said = all.length > 1 ? all.filter(name => name !== 'updated_at') : all;
  const shown = said.includes('amount_exact') ? said.filter(name => name !== 'amount_micro') : said;
  const first = shown
    .slice(0, MOST_COLUMNS)
    .map(name => `${name} ${formatValue(before?.[name])} → ${formatValue(after?.[name])}`);
  const more = shown.length - first.length;
  return `${first.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function formatValue(value: unknown): string {
  return value === null || value === undefined
    ? 'nothing'
    : truncateName(typeof value === 'string' ? value : JSON.stringify(value));
}

function creditName(cells: Cells): string {
  const name = text(cells['project_name']) ?? text(cells['project_id']) ?? text(cells['serialization']);
  const vintage = text(cells['vintage']);
  return `${name === null ? 'of an unnamed project' : truncateName(name)}${vintage === null ? '' : ` ${vintage}`}`;
}

function amountOf(cells: Cells): string {
  const amount = text(cells['amount_exact']);
  return amount === null ? 'an unreadable amount' : `${withThousands(amount)} t`;
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
