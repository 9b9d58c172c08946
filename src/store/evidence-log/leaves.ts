import { sql } from 'kysely';
import { EVIDENCE } from '../../../migrations/evidence/0001.js';
import { RESOURCES } from '../../../migrations/mirror/0001/mirrored.js';
import { createCurrentFilter, type EvidencePort, type Leaf, type NumberedKind } from '../../evidence/port.js';
import { listKinds } from '../copy-tables.js';
import type { Value } from '../contract/tables.js';
import type { Kinds, Table } from '../dialect.js';
import { jsonRelation, tableRef, select, sqlStatement } from '../sql/columns.js';
import { createInsertBuilder, type Params, prepared } from '../sql/prepared.js';
import type { EvidenceDatabase } from './evidence-database.js';
import { buildLeafStatements } from './leaf-filters.js';
import type { NumberRange } from './mirror-reads.js';
import { hasCountedRows } from './mirrored-resources.js';

/** The methods of `EvidencePort` that read and write leaves. */
type LeafStore = Pick<
  EvidencePort,
  | 'readProgress'
  | 'iterateChangeLeaves'
  | 'iterateCurrentLeaves'
  | 'listLeaves'
  | 'iterateLeaves'
  | 'iterateCommitments'
  | 'listChangedOrganizations'
  | 'appendLeaves'
  | 'listUnerasedLeaves'
  | 'eraseLeaves'
  | 'iterateErasedIndexes'
  | 'replaceCodes'
  | 'removeLeavesFrom'
>;
/** The leaf indexes from `from` up to but excluding `to`. */
export type LeafIndexRange = { readonly from: number; readonly to: number };

/** How many leaves one query returns. */
const PAGE_SIZE = 1000;

const leaf = tableRef('evidence.leaves');
/** The columns of the table `evidence.leaves`, with their types. */
const LEAF_COLUMNS: Kinds = Object.fromEntries(
  EVIDENCE[0].relations.flatMap(relation => Object.entries(listKinds(relation))),
);

const READ_PROGRESS = prepared(() => {
  const newestNumber = (kind: NumberedKind) =>
    sql<number>`(SELECT coalesce(max(${leaf.number}), 0) FROM ${leaf()} WHERE ${leaf.kind} = ${kind})`;
  return sqlStatement`SELECT ${select({
    size: sql<number>`(SELECT coalesce(max(${leaf.place}) + 1, 0) FROM ${leaf()})`,
    change: newestNumber('change'),
    sync: newestNumber('sync'),
    unchanged: newestNumber('unchanged'),
  })}`;
});
const LIST_LEAVES = prepared(({ db }, { from, to }: Params<LeafIndexRange>) =>
  db
    .selectFrom('evidence.leaves')
    .selectAll()
    .where('place', '>=', from)
    .where('place', '<', to)
    .orderBy('place')
    .limit(sql.lit(PAGE_SIZE)),
);
const LIST_COMMITMENTS = prepared(({ db }, { from, to }: Params<LeafIndexRange>) =>
  db
    .selectFrom('evidence.leaves')
    .select(['place', 'commitment'])
    .where('place', '>=', from)
    .where('place', '<', to)
    .orderBy('place')
    .limit(sql.lit(PAGE_SIZE)),
);
/** The change leaves of one resource of an organization, below a change number. */
type ChangeLeafRange = { readonly organizationId: string; readonly resource: string; readonly below: number };
const LIST_CHANGES = prepared(({ db }, { organizationId, resource, below }: Params<ChangeLeafRange>) =>
  db
    .selectFrom('evidence.leaves')
    .selectAll()
    .where('kind', '=', 'change')
    .where('subject', '=', organizationId)
    .where('resource', '=', resource)
    .where('number', '<', below)
    .orderBy('number', 'desc')
    .limit(sql.lit(PAGE_SIZE)),
);
const LIST_CHANGED_ORGANIZATIONS = prepared(({ db }, { after, to }: Params<NumberRange>) =>
  db
    .selectFrom('evidence.leaves')
    .select('subject')
    .distinct()
    .where('kind', '=', 'change')
    .where('number', '>', after)
    .where('number', '<=', to)
    .where('subject', 'is not', null)
    .where('resource', '<>', 'members')
    .$narrowType<{ subject: string }>(),
);
const LIST_ERASED_INDEXES = prepared(({ db }, { after }: Params<{ readonly after: number }>) =>
  db
    .selectFrom('evidence.leaves')
    .select('place')
    .where('salt', 'is', null)
    .where('place', '>', after)
    .orderBy('place')
    .limit(sql.lit(PAGE_SIZE)),
);

const INSERT_LEAVES = createInsertBuilder('evidence.leaves', LEAF_COLUMNS);
const newCodes = jsonRelation('given', { leaf_place: 'int', new_code: 'text', new_plain_code: 'text' });
const REPLACE_CODES = prepared(({ fn }, { codes }: Params<{ readonly codes: Table }>) => {
  const { leaf_place: place, new_code: code, new_plain_code: plainCode } = newCodes.columns;
  return sqlStatement`UPDATE ${leaf()} SET ${leaf.code} = ${code}, ${leaf.plain_code} = ${plainCode}
    FROM ${newCodes.from(fn, codes)} WHERE ${leaf.place} = ${place}`;
});
/** Deletes the leaves from an index on. Also deletes those with a negative index, which only a forger can have written. */
const REMOVE_LEAVES_FROM = prepared(({ db }, { leafIndex }: Params<{ readonly leafIndex: number }>) =>
  db.deleteFrom('evidence.leaves').where(eb => eb.or([eb('place', '>=', leafIndex), eb('place', '<', 0)])),
);

/** Builds the statement that inserts leaves, which are the entries of the evidence log. */
function buildLeafInsert(leaves: readonly Leaf[]) {
  const names = Object.keys(LEAF_COLUMNS);
  return INSERT_LEAVES(
    leaves.map((cells: Readonly<Record<string, Value>>) => names.map(name => cells[name] ?? null)),
  );
}

/** Yields the rows of a range of leaf indexes, page by page. `readPage` returns the first rows of the range that it is given. */
async function* iteratePages<Row extends Pick<Leaf, 'place'>>(
  readPage: (range: LeafIndexRange) => Promise<Row[]>,
  { from, to }: LeafIndexRange,
): AsyncGenerator<Row[]> {
  for (let page = await readPage({ from, to }); page.length > 0; ) {
    yield page;
    page = await readPage({ from: (page.at(-1)?.place ?? to) + 1, to });
  }
}

/** Creates the methods of `EvidencePort` that store leaves, the entries of the evidence log. */
export function createLeafStore({ runOnLog, commitToLog }: EvidenceDatabase): LeafStore {
  /**
   * Yields the leaves (log entries) about changes of an organization's rows, page by page. Leaves out changes with a number above
   * `upTo`. Yields one resource after the other, and the newest change of each resource first.
   */
  async function* iterateChanges(organizationId: string, upTo: number): AsyncGenerator<readonly Leaf[]> {
    for (const { resource } of RESOURCES.filter(hasCountedRows))
      for (let [below, read] = [upTo + 1, PAGE_SIZE]; read === PAGE_SIZE; ) {
        const [page] = await runOnLog(LIST_CHANGES({ organizationId, resource, below }));
        yield page;
        [below, read] = [page.at(-1)?.number ?? 0, page.length];
      }
  }

  return {
    readProgress: async () => {
      const [[progress]] = await runOnLog(READ_PROGRESS());
      return progress ?? { size: 0, change: 0, sync: 0, unchanged: 0 };
    },
    iterateChangeLeaves: iterateChanges,
    iterateCurrentLeaves: async function* (organizationId, upTo) {
      const isCurrent = createCurrentFilter();
      for await (const page of iterateChanges(organizationId, upTo)) yield page.filter(isCurrent);
    },
    listLeaves: async filter => (await runOnLog(buildLeafStatements(filter).list))[0],
    iterateLeaves: (from, to) =>
      iteratePages(async range => (await runOnLog(LIST_LEAVES(range)))[0], { from, to }),
    iterateCommitments: (from, to) =>
      iteratePages(async range => (await runOnLog(LIST_COMMITMENTS(range)))[0], { from, to }),
    listChangedOrganizations: async (after, to) => {
      const [rows] = await runOnLog(LIST_CHANGED_ORGANIZATIONS({ after, to }));
      return rows.map(({ subject }) => subject).toSorted();
    },
    appendLeaves: async appended => void (await commitToLog(buildLeafInsert(appended))),
    listUnerasedLeaves: async filter => (await runOnLog(buildLeafStatements(filter).listUnerased))[0],
    eraseLeaves: async (appended, filter) =>
      void (await commitToLog(buildLeafInsert([appended]), buildLeafStatements(filter).erase)),
    iterateErasedIndexes: async function* () {
      for (let [after, read] = [Number.MIN_SAFE_INTEGER, PAGE_SIZE]; read === PAGE_SIZE; ) {
        const [rows] = await runOnLog(LIST_ERASED_INDEXES({ after }));
        const places = rows.map(({ place }) => place);
        yield places;
        [after, read] = [places.at(-1) ?? after, places.length];
      }
    },
    replaceCodes: async codes => {
      const rows = codes.map(({ place, code, plain_code }) => ({
        leaf_place: place,
        new_code: code,
        new_plain_code: plain_code,
      }));
      await runOnLog(REPLACE_CODES({ codes: newCodes.toTable(rows) }));
    },
    removeLeavesFrom: async leafIndex => void (await runOnLog(REMOVE_LEAVES_FROM({ leafIndex }))),
  };
}
