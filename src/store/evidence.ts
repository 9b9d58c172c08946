import { createHash } from 'node:crypto';
import { RESOURCES } from '../../migrations/mirror/0001/mirrored.js';
import type { Cells } from '../evidence/commitment.js';
import type {
  Checkpoint,
  EvidencePort,
  Fact,
  Leaf,
  Sealed,
  Standing,
  Unsalted,
  Version,
} from '../evidence/port.js';

/** One statement, its values as `$1`, `$2`. */
export type Ask = <Row extends object>(sql: string, given?: readonly (string | number)[]) => Promise<Row[]>;

/** What an engine has for it. `mirror` and `evidence` stand before the names of their tables. */
export interface EvidenceStore {
  readonly ask: { readonly mirror: Ask; readonly evidence: Ask };
  readonly schema: { readonly mirror: string; readonly evidence: string };
  readonly append: (rows: readonly (Leaf & { readonly place: number })[]) => Promise<void>;
  readonly change: (sql: string, given: readonly string[]) => Promise<void>;
  readonly keep: EvidencePort['keep'];
  readonly close: EvidencePort['close'];
}

type Row = Cells & { readonly document?: string };
type Entry = (typeof RESOURCES)[number];

/** As a database answers it. */
type Numbered<T> = { readonly [Name in keyof T]: T[Name] extends number ? number | bigint : T[Name] };

/** What organizations have, but for people: what is forgotten of these has no number of the counter. */
const OWNED = RESOURCES.flatMap(({ owner, ...entry }) =>
  owner === null || entry.resource === 'members' ? [] : [{ ...entry, owner }],
);
/** A list of an organization is read in few pages: each of them sorts all of it. */
const PAGE = 20_000;
const IN_ONE = 1000;

/** The end of a version is told by what ended it. */
const ENDING = ['valid_to', 'closed_by', 'closed_version'];

export function createEvidencePort(store: EvidenceStore): EvidencePort {
  const { ask, schema } = store;
  const { mirror, evidence } = schema;
  /** The past of a demo was played within seconds: nobody observed it. */
  const isNotPlayed = (at: string) => `(${at} > (SELECT simulated_until FROM ${mirror}origin)) IS NOT FALSE`;
  const whole = async (asked: Promise<{ n: number | bigint | null }[]>) => Number((await asked)[0]?.n ?? 0);
  const newest = (kind: string) =>
    whole(ask.evidence(`SELECT max(number) AS n FROM ${evidence}leaves WHERE kind = $1`, [kind]));
  const checkpointsOf = async (where: string, given: readonly number[]): Promise<Checkpoint[]> => {
    const asked = `SELECT size, peaks, note FROM ${evidence}checkpoints WHERE ${where}`;
    const rows = await ask.evidence<Numbered<Checkpoint>>(asked, given);
    return rows.map(row => ({ ...row, size: Number(row.size) }));
  };
  const leavesOf = async (where: string, given: readonly (string | number)[]): Promise<Sealed[]> => {
    const rows = await ask.evidence<Numbered<Sealed>>(
      `SELECT * FROM ${evidence}leaves WHERE ${where}`,
      given,
    );
    return rows.map(row => ({ ...row, number: Number(row.number), place: Number(row.place) }));
  };
  return {
    claim: async (holder, now, until) => {
      const claimed = await ask.evidence(
        `INSERT INTO ${evidence}sealer AS s VALUES (1, $1, $2)
         ON CONFLICT (only_row) DO UPDATE SET holder = excluded.holder, until_at = excluded.until_at
         WHERE s.holder = excluded.holder OR s.until_at < $3 RETURNING 1 AS one`,
        [holder, iso(until), iso(now)],
      );
      return claimed.length > 0;
    },
    ends: async () => ({
      size: await whole(ask.evidence(`SELECT coalesce(max(place) + 1, 0) AS n FROM ${evidence}leaves`)),
      change: await newest('change'),
      sync: await newest('sync'),
    }),
    newestChange: () => whole(ask.mirror(`SELECT last AS n FROM ${mirror}version_counter`)),
    changes: async (after, to) => {
      const facts = new Map<number, Fact>();
      for (const entry of RESOURCES) {
        const only = 'only' in entry ? ` AND ${entry.only}` : '';
        const between = (column: string, at: string) =>
          ask.mirror<Row>(
            `SELECT * FROM ${mirror}${entry.table}_history
             WHERE ${column} > $1 AND ${column} <= $2 AND ${isNotPlayed(at)}${only}`,
            [after, to],
          );
        for (const row of await between('closed_version', 'valid_to')) add(facts, goneFact(entry, row));
        for (const row of await between('version', 'valid_from')) add(facts, versionFact(entry, row));
      }
      return [...facts.values()].toSorted((a, b) => Number(a.number) - Number(b.number));
    },
    syncs: async (after, atMost) => {
      const rows = await ask.mirror<Row>(
        `SELECT * FROM ${mirror}syncs WHERE id > $1 AND ${isNotPlayed('started_at')} ORDER BY id LIMIT ${atMost}`,
        [after],
      );
      const open = rows.findIndex(row => row['finished_at'] === null);
      return rows
        .slice(0, open < 0 ? atMost : open)
        .map(record => factOf('sync', Number(record['id']), record, textOf(record['organization_id'])));
    },
    coverage: async () => {
      const rows = await ask.mirror<Row>(`SELECT * FROM ${mirror}coverage ORDER BY installation_id`);
      return rows.map(record => {
        const subject = String(record['organization_id'] ?? record['installation_id']);
        return factOf('coverage', null, record, subject);
      });
    },
    touched: async (after, to) => {
      const touched = new Set<string>();
      for (const { table, owner } of OWNED)
        for (const column of ['version', 'closed_version']) {
          const rows = await ask.mirror<Row>(
            `SELECT DISTINCT ${owner} AS owner FROM ${mirror}${table}_history WHERE ${column} > $1 AND ${column} <= $2 AND ${owner} IS NOT NULL`,
            [after, to],
          );
          for (const row of rows) touched.add(String(row['owner']));
        }
      return [...touched].toSorted();
    },
    versions: async (resource, numbers) => {
      const entry = RESOURCES.find(each => each.resource === resource);
      const found: Version[] = [];
      if (entry === undefined) return found;
      for (let from = 0; from < numbers.length; from += IN_ONE) {
        const some = numbers.slice(from, from + IN_ONE).map(Number);
        const rows = await ask.mirror<Row>(
          `SELECT * FROM ${mirror}${entry.table}_history WHERE version IN (${some.join(', ')})`,
        );
        for (const row of rows)
          found.push({
            ...versionFact(entry, row),
            document: row.document ?? null,
            file: textOf(row['file']),
          });
      }
      return found;
    },
    standing: async function* (organizationId, upTo) {
      for (const entry of OWNED)
        for (let after = Number.MIN_SAFE_INTEGER; ; ) {
          const rows = await ask.mirror<Row>(standingOf(entry, mirror), [organizationId, upTo, after]);
          yield rows.map(row => standing(entry.resource, row));
          if (rows.length < PAGE) break;
          after = Number(rows.at(-1)?.['version']);
        }
    },
    newestOf: async subject => {
      const [leaf] = await ask.evidence<Leaf>(
        `SELECT * FROM ${evidence}leaves WHERE kind = 'coverage' AND subject = $1 ORDER BY place DESC LIMIT 1`,
        [subject],
      );
      return leaf ?? null;
    },
    append: (place, leaves) => store.append(leaves.map((leaf, index) => ({ ...leaf, place: place + index }))),
    commitments: async (from, to) => {
      const rows = await ask.evidence<Pick<Leaf, 'commitment'>>(
        `SELECT commitment FROM ${evidence}leaves WHERE place >= $1 AND place < $2 ORDER BY place`,
        [from, to],
      );
      return rows.map(({ commitment }) => commitment);
    },
    checkpoint: async atMost =>
      (await checkpointsOf('size <= $1 ORDER BY size DESC LIMIT 1', [atMost]))[0] ?? null,
    checkpoints: (after, to) => checkpointsOf('size > $1 AND size <= $2 ORDER BY size', [after, to]),
    leaves: (kind, after, to) =>
      leavesOf('kind = $1 AND number > $2 AND number <= $3 ORDER BY number', [kind, after, to]),
    leavesOf: async (kind, numbers) => {
      const found: Sealed[] = [];
      for (let from = 0; from < numbers.length; from += IN_ONE) {
        const some = numbers.slice(from, from + IN_ONE).map(Number);
        found.push(
          ...(await leavesOf(`kind = $1 AND number IN (${some.join(', ')}) ORDER BY number`, [kind])),
        );
      }
      return found;
    },
    organizations: before =>
      leavesOf(
        `place IN (SELECT max(place) FROM ${evidence}leaves WHERE kind = 'organization' AND subject IS NOT NULL AND place < $1 GROUP BY subject) ORDER BY place`,
        [before],
      ),
    newestComplete: async before =>
      (await leavesOf("kind = 'complete' AND number < $1 ORDER BY number DESC LIMIT 1", [before]))[0] ?? null,
    salted: what => {
      const [where, given] = whereOf(what);
      return whole(ask.evidence(`SELECT count(*) AS n FROM ${evidence}leaves WHERE ${where}`, given));
    },
    unsalt: async what => {
      const [where, given] = whereOf(what);
      await store.change(`UPDATE ${evidence}leaves SET salt = NULL, subject = NULL WHERE ${where}`, given);
    },
    keep: store.keep,
    close: store.close,
  };
}

/** A number that closes one version and begins the next is that of the next. */
function add(facts: Map<number, Fact>, fact: Fact): void {
  facts.set(Number(fact.number), fact);
}

/** What is written once, and never again while the version stands. */
function versionFact(entry: Entry, { document, ...row }: Row): Fact {
  const { key, resource, owner } = entry;
  const told = 'shows' in entry ? ['version', ...key, ...entry.shows, ...Object.keys(entry.dated)] : null;
  const names = Object.keys(row).filter(name => told?.includes(name) ?? !ENDING.includes(name));
  const digest = document === undefined ? {} : { document_sha256: digestOf(document) };
  const record = { ...cellsOf(row, names), ...digest, resource };
  return factOf('change', Number(row['version']), record, ownerOf(owner, row));
}

function goneFact({ key, resource, owner }: Entry, row: Row): Fact {
  const record = { ...cellsOf(row, [...key, 'version', ...ENDING]), resource };
  return factOf('change', Number(row['closed_version']), record, ownerOf(owner, row));
}

function standingOf(entry: (typeof OWNED)[number], mirror: string): string {
  const [dated, amount] = ['created_at', 'amount_micro'].map(name => (name in entry.columns ? name : 'NULL'));
  const only = 'only' in entry ? ` AND ${entry.only}` : '';
  const select = `SELECT version, valid_from, ${dated} AS created_at, ${amount} AS amount_micro FROM ${mirror}${entry.table}`;
  const which = `WHERE ${entry.owner} = $1 AND version <= $2 AND version > $3${only}`;
  return `${select} ${which} UNION ALL ${select}_history ${which} AND closed_version > $2 ORDER BY version LIMIT ${PAGE}`;
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

function ownerOf(owner: string | null, row: Row): string | null {
  return owner === null ? null : textOf(row[owner]);
}

function textOf(cell: Cells[string] | undefined): string | null {
  return typeof cell === 'string' ? cell : null;
}

function whereOf(what: Unsalted): readonly [string, readonly string[]] {
  if ('organizationId' in what) return ['salt IS NOT NULL AND subject = $1', [what.organizationId]];
  if ('resource' in what) return ['salt IS NOT NULL AND resource = $1', [what.resource]];
  return [
    `salt IS NOT NULL AND kind = 'change' AND number IN (${what.numbers.map(Number).join(', ') || 'NULL'})`,
    [],
  ];
}

function cellsOf(row: Cells, names: readonly string[]): Cells {
  return Object.fromEntries(names.map(name => [name, row[name] ?? null]));
}

function factOf(
  kind: Fact['kind'],
  number: number | null,
  record: Cells,
  subject: string | null = null,
): Fact {
  return { kind, number, subject, record: { ...record, kind } };
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
