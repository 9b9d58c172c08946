import { shortName } from './clean.js';
import { withThousands } from './thousands.js';

type Cells = Readonly<Record<string, unknown>>;

interface Told<Columns, Names> {
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
type ChangeRow = Told<string, string>;
/** The same with its rows as objects, as programs take it. */
export type Change = Told<Cells, readonly string[]>;

const MOST_COLUMNS = 3;
const NOT_LISTED = 'not listed';

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
export function headOf(change: Change): string {
  const who = change.organization_name === null ? '' : ` ${shortName(change.organization_name)}`;
  return `${change.observed_at.slice(11, 16)}${who}${causeOf(change)}`;
}

export function wordsOf(change: Change): string {
  return (WORDS[change.resource] ?? general)(change);
}

/** Who or what is behind it, as far as that is known. */
function causeOf({ newest_delivery_id: delivery, trigger, sync_id: sync }: Change): string {
  if (delivery !== null) return ` (delivery ${delivery})`;
  return trigger === null ? ` (sync ${sync})` : ` (${trigger})`;
}

const WORDS: Readonly<Record<string, (change: Change) => string>> = {
  retirements: retirementWords,
  warehouse: creditWords,
  inventory: creditWords,
  certificates: certificateWords,
  reservations: reservationWords,
};

function retirementWords(change: Change): string {
  const { change: kind, before, after, row_id: id, observed_at: observedAt } = change;
  if (kind === 'changed') return general(change);
  const cells = after ?? before ?? {};
  const what = `${amountOf(cells)} ${creditName(cells)}${forWhom(cells)}`;
  if (kind === 'removed') return `retirement ${id} is not listed any more: ${what}`;
  const day = text(cells['created_at'])?.slice(0, 10) ?? null;
  return `retired ${what}${day === null || day === observedAt.slice(0, 10) ? '' : ` on ${day}`}`;
}

function forWhom(cells: Cells): string {
  const beneficiary = text(cells['beneficiary']);
  return beneficiary === null ? ', claimed by nobody' : ` for ${shortName(beneficiary)}`;
}

/** What of the name is the same in both rows stands before the colon. */
function creditWords(change: Change): string {
  const { resource, before, after } = change;
  const what = `${resource} ${creditName(after ?? before ?? {})}`;
  const from = before === null ? NOT_LISTED : amountOf(before);
  const to = after === null ? NOT_LISTED : amountOf(after);
  return from === to ? `${what}: ${moves(change)}` : `${what}: ${from} → ${to}`;
}

/** Of which retirement, by what is known of it, or by its id. */
function certificateWords({ row_id: id, change, before, after }: Change): string {
  const [from, to] = [before, after].map(cells => text(cells?.['sha256'])?.slice(0, 12));
  const of = after ?? before ?? {};
  const retired =
    text(of['amount_exact']) === null
      ? `retirement ${id}`
      : `${amountOf(of)} ${creditName(of)}${forWhom(of)}`;
  if (change === 'added') return `certificate of ${retired} stored: sha256 ${to}`;
  if (change === 'removed') return `certificate of ${retired} went with it: sha256 ${from}`;
  return `certificate of ${retired} is another file: sha256 ${from} → ${to}`;
}

function reservationWords(change: Change): string {
  const { change: kind, before, after } = change;
  const cells = after ?? before ?? {};
  const by = text(cells['reserver_name']);
  const what = `${amountOf(cells)} ${creditName(cells)}${by === null ? '' : ` by ${shortName(by)}`}`;
  if (kind === 'added') return `reserved ${what}`;
  const became = kind === 'removed' ? 'is not listed any more' : moves(change);
  return `reservation of ${what}: ${became}`;
}

function general(change: Change): string {
  const noun = NOUNS[change.resource] ?? change.resource;
  const name = text((change.after ?? change.before ?? {})['full_name']);
  const what = `${noun} ${name === null ? change.row_id : shortName(name)}`;
  return change.change === 'changed' ? `${what}: ${moves(change)}` : `${what} ${change.change}`;
}

const NOUNS: Readonly<Record<string, string>> = {
  retirements: 'retirement',
  reservations: 'reservation',
  inventory_requests: 'inventory request',
  addresses: 'address',
  members: 'member',
  projects: 'project',
};

function moves({ changed_columns: columns, before, after }: Change): string {
  const all = columns ?? [];
  if (all.includes('document')) return 'something that has no column of its own';
  const said = all.length > 1 ? all.filter(name => name !== 'updated_at') : all;
  const shown = said.includes('amount_exact') ? said.filter(name => name !== 'amount_micro') : said;
  const first = shown
    .slice(0, MOST_COLUMNS)
    .map(name => `${name} ${inWords(before?.[name])} → ${inWords(after?.[name])}`);
  const more = shown.length - first.length;
  return `${first.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function inWords(value: unknown): string {
  return value === null || value === undefined
    ? 'nothing'
    : shortName(typeof value === 'string' ? value : JSON.stringify(value));
}

function creditName(cells: Cells): string {
  const name = text(cells['project_name']) ?? text(cells['project_id']) ?? text(cells['serialization']);
  const vintage = text(cells['vintage']);
  return `${name === null ? 'of an unnamed project' : shortName(name)}${vintage === null ? '' : ` ${vintage}`}`;
}

function amountOf(cells: Cells): string {
  const amount = text(cells['amount_exact']);
  return amount === null ? 'an amount that cannot be read' : `${withThousands(amount)} t`;
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
