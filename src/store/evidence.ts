import { createHash } from 'node:crypto';
import { RESOURCES } from '../../migrations/mirror/0001/mirrored.js';
import { DATED, ENDED_IN_HISTORY, type Mirrored, VERSION, wasIn } from '../../migrations/schema.js';
import type { Cells } from '../evidence/commitment.js';
import type { Checkpoint, EvidencePort, Fact, Leaf, Standing, Unsalted, Which } from '../evidence/port.js';
import type { Bound, Dialect, Kinds, Rows } from './dialect.js';

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

const LEAF = {
  place: 'int',
  kind: 'text',
  number: 'int',
  subject: 'text',
  resource: 'text',
  record: 'text',
  salt: 'bytes',
  commitment: 'bytes',
} as const;
const CHECKPOINT = { size: 'int', peaks: 'bytes', note: 'text' } as const;

type Row = Cells & { readonly document?: string };
type Entry = (typeof RESOURCES)[number];

/** As a database answers it. */
type Answered<T> = { readonly [Name in keyof T]: T[Name] extends number ? number | bigint : T[Name] };

/** What organizations have, but for people: what is forgotten of these has no number of the counter. */
const OWNED = RESOURCES.flatMap(({ owner, ...entry }) =>
  owner === null || entry.resource === 'members' ? [] : [{ ...entry, owner }],
);
/** A list of an organization is read in few pages: each of them sorts all of it. */
const PAGE = 20_000;
const AT_ONCE = 1000;

/** The end of a version is told by what ended it. */
const ENDING = ['valid_to', 'closed_by', 'closed_version'];

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

  const insert = (table: string, columns: Kinds, rows: Rows) => {
    const text = dialect.insertion(`${dialect.evidence}${table}`, columns, '');
    return store.insert({ text, ...dialect.bindRows({ columns, rows }) });
  };
  const pastOf = (entry: Mirrored, names: readonly string[], where: string) => {
    const cells = names.map(name => `${wasIn(dialect, entry, name)} AS ${name}`);
    return `SELECT * FROM (SELECT ${cells.join(', ')} FROM ${dialect.mirror}past AS p WHERE ${where}) AS h WHERE ${onlyOf(entry)}`;
  };
  /** Found by its number: of its list there may be a million, and an index of that is not to be used. */
  const pastBy = (entry: Mirrored, names: readonly string[], where: string) =>
    pastOf(entry, names, `p.resource || '' = '${entry.resource}' AND ${where}`);
  /** First those that stand, then those that stood: what ends meanwhile is told twice, and never not at all. */
  const versionsBy = async (
    entry: Mirrored,
    where: (column: string) => string,
    given: readonly (string | number)[],
  ) => {
    const { columns, dated = DATED } = entry;
    const names = Object.keys({ ...VERSION, ...columns, ...dated, ...ENDED_IN_HISTORY });
    const table = `${dialect.mirror}${entry.table}`;
    return [
      ...(await mirror<Row>(`SELECT * FROM ${table} WHERE ${where('version')} AND ${onlyOf(entry)}`, given)),
      ...(await mirror<Row>(pastBy(entry, names, where('p.version')), given)),
    ];
  };
  /** A number that closes one version and begins the next is that of the next. */
  const changes = async (after: number, to: number) => {
    const facts = new Map<number | null, Fact>();
    for (const entry of RESOURCES) {
      const told = [...entry.key, 'version', ...ENDING];
      const names = new Set([...told, entry.owner ?? 'version', ...('only' in entry ? ['state'] : [])]);
      const ended = `${isBetween('p.closed_version')} AND ${isNotPlayed('p.valid_to')}`;
      const begun = (version: string) =>
        `${isBetween(version)} AND ${isNotPlayed(version.replace('version', 'valid_from'))}`;
      const ends = await mirror<Row>(pastBy(entry, [...names], ended), [after, to]);
      const versions = await versionsBy(entry, begun, [after, to]);
      const all = [
        ...ends.map(row => changeOf(entry, row, told)),
        ...versions.map(row => changeOf(entry, row, toldOf(entry))),
      ];
      for (const fact of all) facts.set(fact.number, fact);
    }
    return [...facts.values()].toSorted((a, b) => Number(a.number) - Number(b.number));
  };
  const syncs = async (after: number, to: number) => {
    const rows = await mirror<Row>(
      `SELECT * FROM ${dialect.mirror}syncs WHERE ${isBetween('id')} AND ${isNotPlayed('started_at')} ORDER BY id`,
      [after, to],
    );
    return rows.map((row): Fact => {
      const [number, subject] = [Number(row['id']), textOf(row['organization_id'])];
      return { kind: 'sync', number, subject, record: { ...row, kind: 'sync' } };
    });
  };
  const standingOf = (entry: (typeof OWNED)[number]) => {
    const names = [
      'version',
      'valid_from',
      ...['created_at', 'amount_micro'].filter(name => name in entry.columns),
    ];
    const which = `${entry.owner} = $1 AND version <= $2 AND version > $3 AND ${onlyOf(entry)}`;
    const whichPast = `p.resource = '${entry.resource}' AND p.organization_id = $1 AND p.version <= $2 AND p.version > $3 AND p.closed_version > $2`;
    const told = 'only' in entry ? [...names, 'state'] : names;
    return `SELECT ${told.join(', ')} FROM ${dialect.mirror}${entry.table} WHERE ${which}
      UNION ALL ${pastOf(entry, told, whichPast)} ORDER BY version LIMIT ${PAGE}`;
  };
  const checkpointsOf = async (where: string, given: readonly number[]): Promise<Checkpoint[]> => {
    const asked = `SELECT size, peaks, note FROM ${dialect.evidence}checkpoints WHERE ${where}`;
    return (await log<Answered<Checkpoint>>(asked, given)).map(row => ({ ...row, size: Number(row.size) }));
  };
  const whichOf = (which: Which): readonly [string, readonly (string | number)[]] => {
    if ('from' in which) return ['place >= $1 AND place < $2 ORDER BY place', [which.from, which.to]];
    if ('numbers' in which)
      return [
        `kind = '${which.kind}' AND ${isListed('number', '$1')} ORDER BY place`,
        [jsonOf(which.numbers)],
      ];
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
        return { kind: 'coverage', number: null, subject, record: { ...row, kind: 'coverage' } };
      });
    },
    versions: async (resource, numbers) => {
      const entry = RESOURCES.find(each => each.resource === resource);
      if (entry === undefined) return [];
      const rows = await versionsBy(entry, version => isListed(version, '$1'), [jsonOf(numbers)]);
      return rows.map(row => ({
        ...changeOf(entry, row, toldOf(entry)),
        document: row.document ?? null,
        file: textOf(row['file']),
      }));
    },
    standing: async function* (organizationId, upTo) {
      for (const entry of OWNED)
        for (let after = Number.MIN_SAFE_INTEGER; ; ) {
          const rows = await mirror<Row>(standingOf(entry), [organizationId, upTo, after]);
          for (let from = 0; from < rows.length; from += AT_ONCE)
            yield rows.slice(from, from + AT_ONCE).map(row => standing(entry.resource, row));
          if (rows.length < PAGE) break;
          after = Number(rows.at(-1)?.['version']);
        }
    },
    leaves: async which => {
      const [where, given] = whichOf(which);
      const rows = await log<Answered<Leaf>>(`SELECT * FROM ${LEAVES} WHERE ${where}`, given);
      return rows.map(row => ({ ...row, number: Number(row.number), place: Number(row.place) }));
    },
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
    append: leaves =>
      insert(
        'leaves',
        LEAF,
        leaves.map(leaf => [
          leaf.place,
          leaf.kind,
          leaf.number,
          leaf.subject,
          leaf.resource,
          leaf.record,
          leaf.salt,
          leaf.commitment,
        ]),
      ),
    checkpoint: async atMost =>
      (await checkpointsOf('size <= $1 ORDER BY size DESC LIMIT 1', [atMost]))[0] ?? null,
    checkpoints: (after, to) => checkpointsOf(`${isBetween('size')} ORDER BY size`, [after, to]),
    salted: what => {
      const [where, given] = saltedOf(what);
      return whole(log(`SELECT count(*) AS n FROM ${LEAVES} WHERE ${where}`, given));
    },
    unsalt: async what => {
      const [where, given] = saltedOf(what);
      await log(`UPDATE ${LEAVES} SET salt = NULL, subject = NULL WHERE ${where}`, given);
    },
    keep: ({ size, peaks, note }) => insert('checkpoints', CHECKPOINT, [[size, peaks, note]]),
    close: store.close,
  };
}

function onlyOf({ only = 'true' }: Mirrored): string {
  return only;
}

/** What changed of a row: of its version what is written once, and never again while that stands; of its end what ended it. */
function changeOf({ resource, owner }: Entry, row: Row, told: readonly string[] | null): Fact {
  const record: Record<string, Cells[string]> = { kind: 'change', resource };
  for (const [name, cell] of Object.entries(row))
    if (name === 'document') record['document_sha256'] = digestOf(String(cell));
    else if (told?.includes(name) ?? !ENDING.includes(name)) record[name] = cell;
  const number = Number(record['closed_version'] ?? record['version']);
  return { kind: 'change', number, subject: owner === null ? null : textOf(row[owner]), record };
}

function toldOf(entry: Entry): readonly string[] | null {
  return 'shows' in entry ? ['version', ...entry.key, ...entry.shows, ...Object.keys(entry.dated)] : null;
}

function standing(resource: string, row: Row): Standing {
  const { version, valid_from: observedAt, created_at: createdAt, amount_micro: micro } = row;
  return {
    resource,
    number: Number(version),
    observedAt: String(observedAt),
    createdAt: textOf(createdAt),
    micro: micro === null || micro === undefined ? null : BigInt(micro),
  };
}

function textOf(cell: Cells[string] | undefined): string | null {
  return typeof cell === 'string' ? cell : null;
}

/** As `dialect.rows` takes them. */
function jsonOf(numbers: readonly number[]): string {
  return JSON.stringify(numbers.map(number => [number]));
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
