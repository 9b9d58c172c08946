import { hash } from 'node:crypto';
import { RESOURCES } from '../../migrations/mirror/0001/mirrored.js';
import { DATED, type Mirrored, VERSION, wasIn } from '../../migrations/schema.js';
import type { Cells } from '../evidence/commitment.js';
import {
  type Checkpoint,
  type EvidencePort,
  type Fact,
  factOf,
  type Leaf,
  type Unsalted,
  type Which,
} from '../evidence/port.js';
import type { Bound, Dialect, Kinds, Value } from './dialect.js';

/** One statement, its values as `$1`, `$2`. */
export type Ask = <Row extends object>(sql: string, given?: readonly (string | number)[]) => Promise<Row[]>;

/** What an engine has for it. */
export interface EvidenceStore {
  readonly dialect: Dialect;
  readonly mirror: Ask;
  readonly log: Ask;
  /** Puts rows into a table of the log, all or none. */
  readonly insert: (insertion: Bound) => Promise<void>;
  readonly close: EvidencePort['close'];
}

const LEAF: Kinds = {
  place: 'int',
  kind: 'text',
  number: 'int',
  subject: 'text',
  resource: 'text',
  ended: 'int',
  observed: 'text',
  dated: 'text',
  micro: 'text',
  record: 'text',
  salt: 'bytes',
  commitment: 'bytes',
};
/** What a leaf tells of its row. */
const TOLD = ['subject', 'ended', 'observed', 'dated', 'micro', 'record', 'salt'];
const CHECKPOINT: Kinds = { size: 'int', peaks: 'bytes', note: 'text' };

type Row = Cells & { readonly document?: string };
type Entry = (typeof RESOURCES)[number];
type Given = readonly (string | number)[];

/** As a database answers it. */
type Answered<T> = { readonly [Name in keyof T]: number extends T[Name] ? T[Name] | bigint : T[Name] };

/** What organizations have, but for people. */
const isCounted = ({ owner, resource }: Entry) => owner !== null && resource !== 'members';
const AT_ONCE = 1000;

export function createEvidencePort(store: EvidenceStore): EvidencePort {
  const { dialect, mirror, log } = store;
  const LEAVES = `${dialect.evidence}leaves`;
  /** The past of a demo was played within seconds: nobody observed it. */
  const isNotPlayed = (at: string) =>
    `(${at} > (SELECT simulated_until FROM ${dialect.mirror}origin)) IS NOT FALSE`;
  const isListed = (column: string, place: string) =>
    `${column} IN (SELECT number FROM ${dialect.rows(place, 'given', { number: 'int' })})`;
  const isBetween = (column: string) => `${column} > $1 AND ${column} <= $2`;
  const whole = async (asked: Promise<{ n: number | bigint | null }[]>) => Number((await asked)[0]?.n ?? 0);
  const newestIn = (kind: string) =>
    whole(log(`SELECT max(number) AS n FROM ${LEAVES} WHERE kind = '${kind}'`));

  const insert = (table: string, columns: Kinds, given: readonly Readonly<Record<string, Value>>[]) => {
    const text = dialect.insertion(`${dialect.evidence}${table}`, columns, '');
    const rows = given.map(row => Object.keys(columns).map(name => row[name] ?? null));
    return store.insert({ text, ...dialect.bindRows({ columns, rows }) });
  };
  /** Found by its number: of its list there may be a million, and an index of that is not to be used. */
  const pastBy = (entry: Entry, names: readonly string[], where: string) => {
    const cells = names.map(name => `${wasIn(dialect, entry, name)} AS ${name}`);
    const past = `SELECT ${cells.join(', ')} FROM ${dialect.mirror}past AS p WHERE p.resource || '' = '${entry.resource}' AND ${where}`;
    return `SELECT * FROM (${past}) AS h WHERE ${onlyOf(entry)}`;
  };
  /** First those that stand, then those that stood: what ends meanwhile is told twice, and never not at all. */
  const changesOf = async (entry: Entry, where: (column: string) => string, given: Given) => {
    const names = Object.keys({ ...VERSION, ...entry.columns, ...('dated' in entry ? entry.dated : DATED) });
    const begun = (version: string, from: string) => `${where(version)} AND ${isNotPlayed(from)}`;
    const ended = `${where('p.closed_version')} AND ${isNotPlayed('p.valid_to')}`;
    const present = `SELECT ${names.join(', ')} FROM ${dialect.mirror}${entry.table}`;
    const rows = [
      ...(await mirror<Row>(
        `${present} WHERE ${begun('version', 'valid_from')} AND ${onlyOf(entry)}`,
        given,
      )),
      ...(await mirror<Row>(pastBy(entry, names, begun('p.version', 'p.valid_from')), given)),
    ];
    const ends = await mirror<Row>(
      pastBy(entry, [...names, 'valid_to', 'closed_by', 'closed_version'], ended),
      given,
    );
    const facts = new Map(ends.map(row => [Number(row['closed_version']), removalOf(entry, row)]));
    const endBy = new Map(ends.map(row => [Number(row['closed_version']), row]));
    for (const row of rows) {
      const number = Number(row['version']);
      facts.set(number, beginningOf(entry, row, endBy.get(number)));
    }
    return [...facts.values()];
  };
  const changes = async (after: number, to: number) => {
    const all: Fact[] = [];
    for (const entry of RESOURCES) all.push(...(await changesOf(entry, isBetween, [after, to])));
    return all.toSorted((one, other) => Number(one.number) - Number(other.number));
  };
  const syncs = async (after: number, to: number) => {
    const rows = await mirror<Row>(
      `SELECT * FROM ${dialect.mirror}syncs WHERE ${isBetween('id')} AND ${isNotPlayed('started_at')} ORDER BY id`,
      [after, to],
    );
    return rows.map(row =>
      factOf('sync', row, { number: Number(row['id']), subject: textOf(row['organization_id']) }),
    );
  };
  const leaves = async (where: string, given: Given) => {
    const rows = await log<Answered<Leaf>>(`SELECT * FROM ${LEAVES} WHERE ${where}`, given);
    return rows.map(row => {
      const ended = row.ended === null ? null : Number(row.ended);
      return { ...row, ended, number: Number(row.number), place: Number(row.place) };
    });
  };
  const checkpointsOf = async (where: string, given: readonly number[]): Promise<Checkpoint[]> => {
    const asked = `SELECT size, peaks, note FROM ${dialect.evidence}checkpoints WHERE ${where}`;
    return (await log<Answered<Checkpoint>>(asked, given)).map(row => ({ ...row, size: Number(row.size) }));
  };
  const whichOf = (which: Which): readonly [string, Given] => {
    if ('from' in which) return ['place >= $1 AND place < $2 ORDER BY place', [which.from, which.to]];
    if ('numbers' in which)
      return [
        `kind = '${which.kind}' AND ${isListed('number', '$1')} ORDER BY place`,
        [jsonOf(which.numbers)],
      ];
    if ('told' in which)
      return ["kind IN ('forget', 'purge', 'restore', 'key') AND place < $1 ORDER BY place", [which.told]];
    const [of, each] =
      which.newest === 'complete' ? ['number', ''] : ['place', ' AND subject IS NOT NULL GROUP BY subject'];
    const newest = `SELECT max(${of}) FROM ${LEAVES} WHERE kind = '${which.newest}' AND ${of} < $1${each}`;
    return [`place IN (${newest}) ORDER BY place`, [which.before]];
  };
  const saltedOf = (what: Unsalted): readonly [string, readonly string[]] => {
    if ('organizationId' in what) return ['salt IS NOT NULL AND subject = $1', [what.organizationId]];
    if ('resource' in what) return ['salt IS NOT NULL AND resource = $1', [what.resource]];
    return [`salt IS NOT NULL AND kind = 'change' AND ${isListed('number', '$1')}`, [jsonOf(what.numbers)]];
  };
  return {
    claim: async (holder, now, until) => {
      const claimed = await log(
        `INSERT INTO ${dialect.evidence}sealer AS s VALUES (1, $1, $2)
         ON CONFLICT (only_row) DO UPDATE SET holder = excluded.holder, until_at = excluded.until_at
         WHERE s.holder = excluded.holder OR s.until_at < $3 RETURNING 1 AS one`,
        [holder, iso(until), iso(now)],
      );
      return claimed.length > 0;
    },
    ends: async () => ({
      size: await whole(log(`SELECT coalesce(max(place) + 1, 0) AS n FROM ${LEAVES}`)),
      change: await newestIn('change'),
      sync: await newestIn('sync'),
    }),
    newest: (kind, after) =>
      kind === 'change'
        ? whole(mirror(`SELECT last AS n FROM ${dialect.mirror}version_counter`))
        : whole(
            mirror(
              `SELECT coalesce(min(CASE WHEN finished_at IS NULL THEN id END) - 1, max(id)) AS n FROM ${dialect.mirror}syncs WHERE id > $1`,
              [after],
            ),
          ),
    facts: (kind, after, to) => (kind === 'change' ? changes(after, to) : syncs(after, to)),
    coverage: async () => {
      const rows = await mirror<Row>(`SELECT * FROM ${dialect.mirror}coverage ORDER BY installation_id`);
      return rows.map(row => {
        const subject = String(row['organization_id'] ?? row['installation_id']);
        return factOf('coverage', row, { subject });
      });
    },
    versions: async (resource, numbers) => {
      const entry = RESOURCES.find(each => each.resource === resource);
      if (entry === undefined) return [];
      return await changesOf(entry, version => isListed(version, '$1'), [jsonOf(numbers)]);
    },
    standing: async function* (organizationId, upTo) {
      const which = `kind = 'change' AND subject = $1 AND resource = $2 AND number < $3`;
      for (const { resource } of RESOURCES.filter(isCounted)) {
        /** What ended a version is newer than that, and seen before. */
        const ended = new Set<number | null>();
        for (let [below, read] = [upTo + 1, AT_ONCE]; read === AT_ONCE; ) {
          const page = await leaves(`${which} ORDER BY number DESC LIMIT ${AT_ONCE}`, [
            organizationId,
            resource,
            below,
          ]);
          yield page.filter(leaf => {
            ended.add(leaf.ended);
            return leaf.observed !== null && !ended.delete(leaf.number);
          });
          [below, read] = [page.at(-1)?.number ?? 0, page.length];
        }
      }
    },
    leaves: async which => await leaves(...whichOf(which)),
    commitments: async function* (from, to) {
      const asked = `SELECT commitment FROM ${LEAVES} WHERE place >= $1 AND place < $2 ORDER BY place`;
      for (let start = from; start < to; start += AT_ONCE) {
        const rows = await log<Leaf>(asked, [start, Math.min(to, start + AT_ONCE)]);
        if (rows.length === 0) return;
        for (const { commitment } of rows) yield commitment;
      }
    },
    touched: async (after, to) => {
      const rows = await log<{ subject: string }>(
        `SELECT DISTINCT subject FROM ${LEAVES} WHERE kind = 'change' AND ${isBetween('number')} AND subject IS NOT NULL AND resource <> 'members'`,
        [after, to],
      );
      return rows.map(({ subject }) => subject).toSorted();
    },
    append: appended =>
      insert(
        'leaves',
        LEAF,
        appended.map(leaf => ({ ...leaf })),
      ),
    checkpoint: async atMost =>
      (await checkpointsOf('size <= $1 ORDER BY size DESC LIMIT 1', [atMost]))[0] ?? null,
    covering: async place => (await checkpointsOf('size > $1 ORDER BY size LIMIT 1', [place]))[0] ?? null,
    checkpoints: (after, to) => checkpointsOf(`${isBetween('size')} ORDER BY size`, [after, to]),
    salted: what => {
      const [where, given] = saltedOf(what);
      return whole(log(`SELECT count(*) AS n FROM ${LEAVES} WHERE ${where}`, given));
    },
    unsalt: async what => {
      const [where, given] = saltedOf(what);
      await log(
        `UPDATE ${LEAVES} SET ${TOLD.map(name => `${name} = NULL`).join(', ')} WHERE ${where}`,
        given,
      );
    },
    keep: ({ size, peaks, note }) => insert('checkpoints', CHECKPOINT, [{ size, peaks, note }]),
    close: store.close,
  };
}

function onlyOf({ only = 'true' }: Mirrored): string {
  return only;
}

/** What is told of a version that ended, and as what. */
const ENDING = [
  ['version', 'ended_version'],
  ['valid_to', 'ended_at'],
  ['closed_by', 'ended_by'],
  ['closed_version', 'version'],
] as const;

/** Of a version what is written once, and never again while that stands; and how the one before it ended. */
function beginningOf(entry: Entry, row: Row, end: Row | undefined): Fact {
  const told =
    'shows' in entry ? ['version', ...entry.key, ...entry.shows, ...Object.keys(entry.dated)] : null;
  const record: Record<string, Cells[string]> = { kind: 'change', resource: entry.resource };
  for (const name in row)
    if (name === 'document') record['document_sha256'] = hash('sha256', String(row[name]), 'hex');
    else if (told?.includes(name) ?? true) record[name] = row[name] ?? null;
  if (end !== undefined) tellEnd(record, end);
  return changeOf(entry, row, record);
}

/** Of a row that is gone. */
function removalOf(entry: Entry, end: Row): Fact {
  const record: Record<string, Cells[string]> = { kind: 'change', resource: entry.resource };
  for (const name of entry.key) record[name] = end[name] ?? null;
  tellEnd(record, end);
  return changeOf(entry, end, record);
}

function tellEnd(record: Record<string, Cells[string]>, end: Row): void {
  for (const [name, as] of ENDING) record[as] = end[name] ?? null;
}

function changeOf(entry: Entry, row: Row, record: Cells): Fact {
  const { version, ended_version: ended, valid_from: from, created_at: dated, amount_micro: micro } = record;
  const isGone = from === undefined;
  const stands = isCounted(entry) && !isGone;
  return {
    kind: 'change',
    number: Number(version),
    subject: entry.owner === null ? null : textOf(row[entry.owner]),
    record,
    resource: entry.resource,
    ended: ended == null ? null : Number(ended),
    observed: stands ? String(from).slice(0, 7) : null,
    dated: stands && dated != null ? String(dated).slice(0, 7) : null,
    micro: stands && micro != null ? String(micro) : null,
    document: isGone ? null : (row.document ?? null),
    file: isGone ? null : textOf(row['file']),
  };
}

function textOf(cell: Cells[string] | undefined): string | null {
  return typeof cell === 'string' ? cell : null;
}

/** As `dialect.rows` takes them. */
function jsonOf(numbers: readonly number[]): string {
  return JSON.stringify(numbers.map(number => [number]));
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
