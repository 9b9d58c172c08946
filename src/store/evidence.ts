import { hash } from 'node:crypto';
import { RESOURCES } from '../../migrations/mirror/0001/mirrored.js';
import { DATED, VERSION, wasIn } from '../../migrations/schema.js';
import {
  ALL,
  type Attestation,
  type Cells,
  type Checkpoint,
  type LogEnds,
  type EvidencePort,
  type Observation,
  createCurrentFilter,
  createObservation,
  type Leaf,
  NUMBERED,
  type LeafFilter,
  type SealedReads,
} from '../evidence/port.js';
import { kindsOf } from './copy-tables.js';
import type { Bound, Dialect, Value } from './dialect.js';
import { relationsOf } from './migrations.js';

/** The values of `$1`, `$2` and so on. */
export type SqlValues = readonly (string | number)[];
/** Runs a statement and returns its rows. */
export type RunSql = <Row extends object>(sql: string, given?: SqlValues) => Promise<Row[]>;

/** What an engine provides for the evidence port. */
export interface EvidenceStore {
  readonly dialect: Dialect;
  readonly mirror: RunSql;
  readonly log: RunSql;
  /** Inserts rows into a table of the log, and runs another statement in the same transaction. */
  readonly insert: (
    insertion: Bound,
    then?: { readonly sql: string; readonly given: SqlValues },
  ) => Promise<void>;
  readonly close: EvidencePort['close'];
}

type Row = Cells & { readonly document?: string };
type Entry = (typeof RESOURCES)[number];

/** Columns that reveal what a leaf is about. `forget` and `purge` empty them. */
const ERASED_COLUMNS = [
  'subject',
  'ended',
  'observed',
  'dated',
  'micro',
  'read_at',
  'is_complete',
  'record',
  'salt',
  'plain_code',
] as const;
/** Columns of an open span of unchanged reads. */
const SPAN = [
  'organization_id',
  'resource',
  'first_started_at',
  'first_finished_at',
  'last_started_at',
  'last_finished_at',
  'reads',
  'requests',
  'bytes',
] as const;
/** Resources that are read for an organization, in the order of the lines that are sealed about reads. */
const READ_RESOURCES = RESOURCES.map(({ resource }) => resource).toSorted();
const AT_ONCE = 1000;
const HOUR_MS = 3_600_000;
const KINDS = new Map(relationsOf('sqlite', 'evidence').map(each => [each.name, kindsOf(each)]));

export function createEvidencePort(store: EvidenceStore): EvidencePort {
  const { dialect, mirror, log } = store;
  const [LEAVES, CHECKPOINTS] = [`${dialect.evidence}leaves`, `${dialect.evidence}checkpoints`];
  const ATTESTATIONS = `${dialect.evidence}attestations`;
  /** The past of a demo was played within seconds: nobody observed it. */
  const isNotPlayed = (at: string) =>
    `(${at} > (SELECT simulated_until FROM ${dialect.mirror}origin)) IS NOT FALSE`;
  const isListed = (column: string) =>
    `${column} IN (SELECT number FROM ${dialect.rows('$1', 'given', { number: 'int' })})`;
  const isBetween = (column: string) => `${column} > $1 AND ${column} <= $2`;
  const whole = async (asked: Promise<{ n: number | bigint | null }[]>) => Number((await asked)[0]?.n ?? 0);

  const bindInsertion = (
    table: string,
    given: readonly Readonly<Record<string, Value>>[],
    more = '',
  ): Bound => {
    const columns = KINDS.get(`evidence.${table}`) ?? {};
    const text = dialect.insertion(`${dialect.evidence}${table}`, columns, more);
    const rows = given.map(row => Object.keys(columns).map(name => row[name] ?? null));
    return { text, ...dialect.bindRows({ columns, rows }) };
  };
  /** Found by its number: of its list there may be a million, and an index of that is not to be used. */
  const pastOf = (entry: Entry, names: readonly string[]) => {
    const were = names.map(name => `${wasIn(dialect, entry, name)} AS ${name}`);
    return `SELECT ${were.join(', ')} FROM ${dialect.mirror}past AS p WHERE p.resource || '' = '${entry.resource}'`;
  };
  const changesOf = async (entry: Entry, where: (column: string) => string, given: SqlValues) => {
    const only = 'only' in entry ? entry.only : 'true';
    const ask = async (versions: string, number: string, at: string) => {
      const asked = `SELECT * FROM (${versions}) AS h WHERE ${only} AND ${where(number)} AND ${isNotPlayed(at)}`;
      return new Map((await mirror<Row>(asked, given)).map(row => [Number(row[number]), row]));
    };
    const names = namesOf(entry);
    const present = `SELECT ${names.join(', ')} FROM ${dialect.mirror}${entry.table}`;
    const begun = await ask(`${present} UNION ALL ${pastOf(entry, names)}`, 'version', 'valid_from');
    const past = pastOf(entry, [...names, 'valid_to', 'closed_by', 'closed_version']);
    const ended = await ask(past, 'closed_version', 'valid_to');
    const numbers = new Set([...begun.keys(), ...ended.keys()]);
    const told = toldOf(entry);
    return Array.from(numbers, each => changeOf(entry, told, each, begun.get(each), ended.get(each)));
  };
  const changesBetween = async (after: number, to: number) => {
    const all: Observation[] = [];
    for (const entry of RESOURCES) all.push(...(await changesOf(entry, isBetween, [after, to])));
    return all.toSorted((one, other) => Number(one.number) - Number(other.number));
  };
  const syncs = async (after: number, to: number) => {
    const rows = await mirror<Row>(
      `SELECT * FROM ${dialect.mirror}syncs WHERE ${isBetween('id')} AND ${isNotPlayed('started_at')} ORDER BY id`,
      [after, to],
    );
    return rows.map(row =>
      createObservation('sync', row, {
        ...readOf(row, row['started_at'], row['state'] === 'complete'),
        number: Number(row['id']),
      }),
    );
  };
  /** Returns spans of unchanged reads that have ended. They never change. */
  const unchangedSpans = async (after: number, to: number) => {
    const rows = await mirror<Row>(
      `SELECT * FROM ${dialect.mirror}unchanged_spans WHERE ${isBetween('id')} AND ${isNotPlayed('first_started_at')} ORDER BY id`,
      [after, to],
    );
    return rows.map(row =>
      createObservation('unchanged', row, {
        ...readOf(row, row['last_started_at'], true),
        number: Number(row['id']),
      }),
    );
  };
  const openSpans = async (organizationId: string | null) => {
    const only = organizationId === null ? '' : ' AND organization_id = $1';
    const rows = await mirror<Row>(
      `SELECT ${SPAN.join(', ')} FROM ${dialect.mirror}unchanged_reads
       WHERE is_open = 1 AND ${isNotPlayed('first_started_at')}${only} ORDER BY organization_id, resource`,
      organizationId === null ? [] : [organizationId],
    );
    return rows.map(row => createObservation('open_span', row, readOf(row, row['last_started_at'], true)));
  };
  const factsOf = { change: changesBetween, sync: syncs, unchanged: unchangedSpans };
  const leaves = (where: string, given: SqlValues) =>
    log<Leaf>(`SELECT * FROM ${LEAVES} WHERE ${where}`, given);
  const walk = async function* (columns: string, from: number, to: number) {
    const some = `SELECT ${columns} FROM ${LEAVES} WHERE place >= $1 AND place < $2 ORDER BY place LIMIT ${AT_ONCE}`;
    for (let page = await log<Leaf>(some, [from, to]); page.length > 0; ) {
      yield page;
      page = await log<Leaf>(some, [(page.at(-1)?.place ?? to) + 1, to]);
    }
  };
  const checkpoints = (where: string, given: SqlValues) =>
    log<Checkpoint>(`SELECT * FROM ${CHECKPOINTS} WHERE ${where}`, given);
  const whichOf = (which: LeafFilter): readonly [where: string, given: SqlValues] => {
    if ('organizationId' in which) return ['subject = $1', [which.organizationId]];
    if ('resource' in which) return ["kind = 'change' AND resource = $1", [which.resource]];
    if ('numbers' in which)
      return [`kind = '${which.kind}' AND ${isListed('number')}`, [jsonOf(which.numbers)]];
    if ('places' in which) return [isListed('place'), [jsonOf(which.places)]];
    if ('told' in which)
      return ["kind IN ('forget', 'purge', 'restore', 'key') AND place < $1", [which.told]];
    const [of, each] =
      which.newest === 'complete' ? ['number', ''] : ['place', ' AND subject IS NOT NULL GROUP BY subject'];
    const newest = `SELECT max(${of}) FROM ${LEAVES} WHERE kind = '${which.newest}' AND ${of} < $1${each}`;
    return [`place IN (${newest})`, [which.before]];
  };
  const changes = async function* (organizationId: string, upTo: number) {
    const which = `kind = 'change' AND subject = $1 AND resource = $2 AND number < $3 ORDER BY number DESC LIMIT ${AT_ONCE}`;
    for (const { resource } of RESOURCES.filter(isCounted))
      for (let [below, read] = [upTo + 1, AT_ONCE]; read === AT_ONCE; ) {
        const page = await leaves(which, [organizationId, resource, below]);
        yield page;
        [below, read] = [page.at(-1)?.number ?? 0, page.length];
      }
  };
  return {
    claim: async (holder, now, until) => {
      const claimed = await log(
        `INSERT INTO ${dialect.evidence}sealer AS s VALUES (1, $1, $2)
         ON CONFLICT (only_row) DO UPDATE SET holder = excluded.holder, until_at = excluded.until_at
         WHERE s.holder = excluded.holder OR s.until_at < $3 OR s.until_at > $4 RETURNING 1 AS one`,
        /** No process claims the log for an hour: such a claim is not genuine, or from before the clock was set back. */
        [holder, ...[until, now, now + HOUR_MS].map(each => new Date(each).toISOString())],
      );
      return claimed.length > 0;
    },
    ends: async () => {
      const newest = (kind: string) =>
        `(SELECT coalesce(max(number), 0) FROM ${LEAVES} WHERE kind = '${kind}') AS ${kind}`;
      const size = `(SELECT coalesce(max(place) + 1, 0) FROM ${LEAVES}) AS size`;
      const [ends] = await log<LogEnds>(`SELECT ${[size, ...NUMBERED.map(newest)].join(', ')}`);
      return ends ?? { size: 0, change: 0, sync: 0, unchanged: 0 };
    },
    newest: (kind, after) => {
      if (kind === 'change') return whole(mirror(`SELECT last AS n FROM ${dialect.mirror}version_counter`));
      if (kind === 'unchanged')
        return whole(mirror(`SELECT max(id) AS n FROM ${dialect.mirror}unchanged_spans`));
      const ended = 'coalesce(min(CASE WHEN finished_at IS NULL THEN id END) - 1, max(id))';
      return whole(mirror(`SELECT ${ended} AS n FROM ${dialect.mirror}syncs WHERE id > $1`, [after]));
    },
    facts: (kind, after, to) => factsOf[kind](after, to),
    openSpans,
    syncsKeptSince: async () => {
      const [origin] = await mirror<Row>(`SELECT syncs_kept_since_at FROM ${dialect.mirror}origin`);
      return textOf(origin?.['syncs_kept_since_at']);
    },
    coverage: async () => {
      const rows = await mirror<Row>(`SELECT * FROM ${dialect.mirror}coverage ORDER BY installation_id`);
      return rows.map(row => {
        const subject = String(row['organization_id'] ?? row['installation_id']);
        return createObservation('coverage', row, { subject });
      });
    },
    versions: async (resource, numbers) => {
      const entry = RESOURCES.find(each => each.resource === resource);
      if (entry === undefined) return [];
      return await changesOf(entry, isListed, [jsonOf(numbers)]);
    },
    changes,
    standing: async function* (organizationId, upTo) {
      const isCurrent = createCurrentFilter();
      for await (const page of changes(organizationId, upTo)) yield page.filter(isCurrent);
    },
    leaves: which => {
      const [where, given] = whichOf(which);
      return leaves(`${where} ORDER BY place`, given);
    },
    walk: (from, to) => walk('*', from, to),
    commitments: (from, to) => walk('place, commitment', from, to),
    touched: async (after, to) => {
      const rows = await log<{ subject: string }>(
        `SELECT DISTINCT subject FROM ${LEAVES} WHERE kind = 'change' AND ${isBetween('number')} AND subject IS NOT NULL AND resource <> 'members'`,
        [after, to],
      );
      return rows.map(({ subject }) => subject).toSorted();
    },
    reads: async (organizationId, before) => {
      const isRead = (resource: string, isComplete: 0 | 1) =>
        `l.subject = $1 AND l.resource = ${resource} AND l.is_complete = ${isComplete} AND l.place < $2`;
      const newest = `(SELECT l.place FROM ${LEAVES} AS l WHERE ${isRead('r.resource', 1)} ORDER BY l.read_at DESC, l.place DESC LIMIT 1)`;
      const failed = `(SELECT count(*) FROM ${LEAVES} AS l WHERE ${isRead('r.resource', 0)} AND (c.read_at IS NULL OR l.read_at > c.read_at))`;
      const rows = await log<SealedReads>(
        `SELECT r.resource, c.place, c.read_at, ${failed} AS failed
         FROM (${READ_RESOURCES.map(each => `SELECT '${each}' AS resource`).join(' UNION ALL ')}) AS r
         LEFT JOIN ${LEAVES} AS c ON c.place = ${newest}`,
        [organizationId, before],
      );
      return rows.filter(({ place, failed: failures }) => place !== null || failures > 0);
    },
    readSubjects: async (from, to) => {
      const rows = await log<{ subject: string; failed: number | string }>(
        `SELECT subject, sum(1 - is_complete) AS failed FROM ${LEAVES}
         WHERE place >= $1 AND place < $2 AND is_complete IS NOT NULL AND subject IS NOT NULL
         GROUP BY subject ORDER BY subject`,
        [from, to],
      );
      return rows.map(({ subject, failed }) => ({ subject, failed: Number(failed) }));
    },
    append: appended => store.insert(bindInsertion('leaves', appended)),
    checkpoint: async atMost =>
      (await checkpoints('size <= $1 ORDER BY size DESC LIMIT 1', [atMost]))[0] ?? null,
    checkpoints: (after, to, atMost = ALL) =>
      checkpoints(`${isBetween('size')} ORDER BY size LIMIT $3`, [after, to, atMost]),
    keep: checkpoint => store.insert(bindInsertion('checkpoints', [checkpoint])),
    attest: attestation =>
      store.insert(bindInsertion('attestations', [{ ...attestation }], 'ON CONFLICT DO NOTHING')),
    newestAttestation: async kind => {
      const only = kind === null ? '' : 'WHERE kind = $1 ';
      const [newest] = await log<Attestation>(
        `SELECT * FROM ${ATTESTATIONS} ${only}ORDER BY requested_at DESC LIMIT 1`,
        kind === null ? [] : [kind],
      );
      return newest ?? null;
    },
    timestamps: () =>
      log<Attestation>(`SELECT * FROM ${ATTESTATIONS} WHERE kind = 'timestamp' ORDER BY size`),
    salted: what => {
      const [where, given] = whichOf(what);
      return leaves(`salt IS NOT NULL AND ${where} ORDER BY place`, given);
    },
    erase: (appended, what) => {
      const [where, given] = whichOf(what);
      const emptied = ERASED_COLUMNS.map(name => `${name} = NULL`).join(', ');
      const sql = `UPDATE ${LEAVES} SET ${emptied} WHERE ${where}`;
      return store.insert(bindInsertion('leaves', [appended]), { sql, given });
    },
    erasedPlaces: async function* () {
      const some = `SELECT place FROM ${LEAVES} WHERE salt IS NULL AND place > $1 ORDER BY place LIMIT ${AT_ONCE}`;
      for (let [after, read] = [Number.MIN_SAFE_INTEGER, AT_ONCE]; read === AT_ONCE; ) {
        const places = (await log<{ place: number }>(some, [after])).map(({ place }) => place);
        yield places;
        [after, read] = [places.at(-1) ?? after, places.length];
      }
    },
    recode: async codes => {
      const columns = { place: 'int', code: 'text', plain_code: 'text' } as const;
      const rows = codes.map(({ place, code, plain_code }) => [place, code, plain_code]);
      await log(
        `UPDATE ${LEAVES} AS l SET code = given.code, plain_code = given.plain_code
         FROM ${dialect.rows('$1', 'given', columns)} WHERE l.place = given.place`,
        [dialect.json({ columns, rows })],
      );
    },
    removeFrom: async place => {
      await log(`DELETE FROM ${LEAVES} WHERE place >= $1 OR place < 0`, [place]);
    },
    close: store.close,
  };
}

/** What is told of a version that ended, and as what. */
const ENDING = [
  ['version', 'ended_version'],
  ['valid_to', 'ended_at'],
  ['closed_by', 'ended_by'],
  ['closed_version', 'version'],
] as const;

/** Of a version what is written once, and never again while that stands; of a row that is gone its key. And how the version before it ended. */
function changeOf(
  entry: Entry,
  told: readonly string[],
  number: number,
  row: Row | undefined,
  end: Row | undefined,
): Observation {
  const record: Record<string, Cells[string]> = { kind: 'change', resource: entry.resource };
  const known = row ?? end;
  for (const name of row === undefined ? entry.key : told)
    if (name === 'document') record['document_sha256'] = hash('sha256', String(row?.document), 'hex');
    else record[name] = known?.[name] ?? null;
  if (end !== undefined) for (const [name, as] of ENDING) record[as] = end[name] ?? null;
  const { ended_version: ended, valid_from: from, created_at: dated, amount_micro: micro } = record;
  const stands = isCounted(entry) && row !== undefined;
  return {
    kind: 'change',
    read_at: null,
    is_complete: null,
    number,
    subject: entry.owner === null ? null : textOf(known?.[entry.owner]),
    record,
    resource: entry.resource,
    ended: ended == null ? null : Number(ended),
    observed: stands ? String(from).slice(0, 7) : null,
    dated: stands && dated != null ? String(dated).slice(0, 7) : null,
    micro: stands && micro != null ? String(micro) : null,
    document: row?.document ?? null,
    file: textOf(row?.['file']),
  };
}

function namesOf(entry: Entry): string[] {
  return Object.keys({ ...VERSION, ...entry.columns, ...('dated' in entry ? entry.dated : DATED) });
}

function toldOf(entry: Entry): string[] {
  if (!('shows' in entry)) return namesOf(entry);
  return ['version', ...entry.key, ...entry.shows, ...Object.keys(entry.dated)];
}

/** What organizations have, but for people. */
function isCounted({ owner, resource }: Entry): boolean {
  return owner !== null && resource !== 'members';
}

/** Returns the plain columns of a leaf about a read. */
function readOf(row: Row, readAt: Cells[string] | undefined, isComplete: boolean) {
  return {
    subject: textOf(row['organization_id']),
    resource: textOf(row['resource']),
    read_at: textOf(readAt),
    is_complete: Number(isComplete),
  };
}

function textOf(cell: Cells[string] | undefined): string | null {
  return typeof cell === 'string' ? cell : null;
}

/** As `dialect.rows` takes them. */
function jsonOf(numbers: readonly number[]): string {
  return JSON.stringify(numbers.map(number => [number]));
}
