import { sql } from 'kysely';
import { computeVersionInstant } from '../../mirror/version-clock.js';
import { isUnchangedRead } from '../../mirror/unchanged-read.js';
import { isForgotten } from '../../mirror/forgotten-people.js';
import type { ListChanges, RowInsert } from '../../mirror/port/rows.js';
import type { ChangeCounts, OpenSync } from '../../mirror/port/sync.js';
import type { MirrorPort } from '../../mirror/port/mirror-port.js';
import { CERTIFICATES } from '../../resources/certificates.js';
import { formatInstant } from '../../resources/sql-values.js';
import { isListResource, type ListResource, LISTS } from '../../resources/lists.js';
import { versionedTable } from '../contract/tables.js';
import type { Value } from '../contract/tables.js';
import type { Table } from '../dialect.js';
import { insertFrom, jsonRelation, tableRef, select, sqlStatement } from '../sql/columns.js';
import { type Params, prepared, type ResultRow } from '../sql/prepared.js';
import type { BoundStatement, Database } from '../statement.js';
import { LIST_FORGOTTEN } from './forget-people.js';
import {
  beginCommit,
  type SyncCommit,
  buildCommitEnd,
  buildSyncEnd,
  buildFailedSyncEnd,
  buildForgottenQuery,
} from './syncs.js';
import { cachePerKey, getVersionStatements, toVersionTable, type VersionEnd } from './row-versions.js';
import type { ListParam } from './list-states.js';

const projectList = jsonRelation('given', { id: 'text' });
const retirementList = jsonRelation('given', { version: 'int' });
const retirement = tableRef('mirror.retirements', 'retirement');
const certificate = tableRef('mirror.certificates', 'certificate');
const certificateVersions = getVersionStatements(CERTIFICATES);
const statementsOf = cachePerKey(createListStatements);

const INSERT_PROJECTS = prepared(
  (
    { fn },
    { organizationId, projects }: Params<{ readonly organizationId: string; readonly projects: Table }>,
  ) => {
    const { id } = projectList.columns;
    return insertFrom(
      'mirror.project_references',
      { organization_id: fn.cast('text', organizationId), project_id: id },
      sql`FROM ${projectList.from(fn, projects)} WHERE true ORDER BY ${id} ON CONFLICT DO NOTHING`,
    );
  },
);
type UnconfirmedRemovals = ListParam & {
  readonly doubtedAt: string | null;
  readonly doubted: Uint8Array | null;
};
const UPDATE_UNCONFIRMED_REMOVALS = prepared(
  ({ db }, { organizationId, resource, doubtedAt, doubted }: Params<UnconfirmedRemovals>) =>
    db
      .updateTable('mirror.resource_states')
      .set({ doubted_at: doubtedAt, doubted })
      .where('organization_id', '=', organizationId)
      .where('resource', '=', resource),
);
/** Selects the certificates of retirements. */
const SELECT_CERTIFICATES = prepared(
  ({ fn }, { retirements }: Params<{ readonly retirements: Table }>) => sqlStatement`SELECT ${select({
    version: certificate.version,
    valid_from: certificate.valid_from,
    state: certificate.state,
    retirementVersion: retirement.version,
  })} FROM ${retirementList.from(fn, retirements)}
    JOIN ${retirement()} ON ${retirement.version} = ${retirementList.columns.version}
    JOIN ${certificate()} ON ${certificate.organization_id} = ${retirement.organization_id}
      AND ${certificate.retirement_id} = ${retirement.id}`,
);

/** The rows that the first batch of a commit reads, under the lock of the fencing token. */
interface CommitReads {
  /** The current versions that the commit replaces or removes. */
  readonly current: readonly { readonly version: number; readonly valid_from: string }[];
  /** For new rows with earlier versions: when the last of these ended. */
  readonly lastEnds: readonly Readonly<Record<string, string>>[];
  /** The certificates of retirements that the commit removes. They are removed with their retirements. */
  readonly certificates: readonly ResultRow<typeof SELECT_CERTIFICATES>[];
  readonly forgotten: readonly { readonly hash: string }[];
}

/** The statements that write the changes of a commit to a list. */
interface ListWrites extends Pick<ChangeCounts, 'added' | 'changed' | 'removed'> {
  readonly statements: readonly (BoundStatement | null)[];
  /** The version of each insert; 0 if the row is left out. */
  readonly versions: readonly number[];
}

const NO_WRITES: ListWrites = { statements: [], versions: [], added: 0, changed: 0, removed: 0 };
type ListReads = ReturnType<ReturnType<typeof createListStatements>['listReads']>;
const NO_READS: ListReads = { current: null, lastEnds: null, certificates: null };

/**
 * Creates the methods of `MirrorPort` that commit the changes of a read (sync). For a resource that is not a list, `commit`
 * writes only the end of the sync.
 */
export function createCommits({ transact }: Database): Pick<MirrorPort, 'commit' | 'endRefused'> {
  return {
    commit: (sync, changes, completion) =>
      transact(async batch => {
        const { resource, organizationId, full } = sync.request;
        const list = isListResource(resource) ? statementsOf(resource) : null;
        const versionCount = list?.countVersions(changes) ?? 0;
        const isUnchanged = isUnchangedRead(sync, changes, completion);
        const reads = {
          ...(list?.listReads(sync, changes) ?? NO_READS),
          forgotten: list?.hasPeople === true ? LIST_FORGOTTEN() : buildForgottenQuery(completion),
        };
        const { commit, rows: found } = await beginCommit(batch, { sync, versionCount, isUnchanged }, reads);
        const writes = list?.listWrites(commit, changes, found);
        const { statements, versions, ...counts } = writes ?? NO_WRITES;
        const end =
          completion === null
            ? buildCommitEnd(commit, counts)
            : buildSyncEnd(commit, counts, completion, { forgotten: found.forgotten, isUnchanged });
        const isRecounted = full === true && completion !== null;
        const recount = isRecounted ? (list?.recount({ organizationId, resource }) ?? null) : null;
        await batch(...statements, ...end.statements, recount);
        return { ...end.result, versions };
      }),
    endRefused: async (sync, completion) => {
      await transact(batch => batch(buildFailedSyncEnd(sync, completion)));
    },
  };
}

/** Creates the statements that commit changes to one list. A commit contains each row only once. */
function createListStatements(resource: ListResource) {
  const entry = LISTS[resource];
  const listed = tableRef(versionedTable(entry));
  const listVersions = getVersionStatements(entry);
  const email = entry.columns.findIndex(({ name }) => name === 'email');
  const hasCertificates = resource === 'retirements';

  /**
   * Returns a filter that is false for a row whose email address belongs to a person who asked to be forgotten. `forgotten` has the
   * hashes of these addresses.
   */
  function createInsertFilter(forgotten: CommitReads['forgotten']): (insert: RowInsert) => boolean {
    const hashes = new Set(forgotten.map(({ hash }) => hash));
    return ({ cells }) => {
      const address = email < 0 ? null : cells[email];
      return typeof address !== 'string' || !isForgotten(hashes, address);
    };
  }

  /**
   * Plans the rows of new versions, and the ends of the versions that they replace. Also returns the version number of each
   * insert; 0 if the insert is left out because it concerns a forgotten person.
   */
  function planInserts(
    { sync, id, firstVersion, clock }: SyncCommit,
    inserts: readonly RowInsert[],
    reads: CommitReads,
  ) {
    const { organizationId } = sync.request;
    const validFrom = mapValidFrom(reads);
    const lastEnds = new Map(
      reads.lastEnds.map(row => [toMapKey(listVersions.keyOf(row)), row['valid_to'] ?? null]),
    );
    const isWritten = createInsertFilter(reads.forgotten);
    const ends: VersionEnd[] = [];
    const rows: Value[][] = [];
    const versions = inserts.map((insert, index) => {
      if (!isWritten(insert)) return 0;
      const { key, cells, observedAt, replacedVersion, document } = insert;
      const previous =
        validFrom.get(replacedVersion ?? 0) ?? lastEnds.get(toMapKey([organizationId, ...key])) ?? null;
      const version = firstVersion + index;
      const at = clock.assignInstant(observedAt, previous);
      if (replacedVersion !== null && validFrom.has(replacedVersion)) {
        ends.push({ version: replacedVersion, at, changeNumber: version, isRemoved: false });
      }
      rows.push([version, organizationId, ...key, ...cells, at, id, document]);
      return version;
    });
    return { ends, rows, versions };
  }

  /**
   * Plans the end of the current version of each removed row, and of the stored certificate of each removed retirement. Skips
   * versions that are no longer current.
   */
  function planRemovals(
    { firstVersion, clock }: SyncCommit,
    { inserts, removals }: ListChanges,
    reads: CommitReads,
  ) {
    const validFrom = mapValidFrom(reads);
    const certificateOf = new Map(reads.certificates.map(row => [row.retirementVersion, row]));
    const ends: VersionEnd[] = [];
    const certificateEnds: VersionEnd[] = [];
    for (const [index, { version, observedAt }] of removals.entries()) {
      const previous = validFrom.get(version);
      if (previous === undefined) continue;
      const at = clock.assignInstant(observedAt, previous);
      const changeNumber = firstVersion + inserts.length + index;
      ends.push({ version, at, changeNumber, isRemoved: true });
      const stored = certificateOf.get(version);
      if (stored?.state !== 'stored') continue;
      certificateEnds.push({
        version: stored.version,
        // The certificate may have been stored after the answer that no longer had its retirement.
        at: computeVersionInstant(at, stored.valid_from),
        changeNumber: changeNumber + removals.length,
        isRemoved: true,
      });
    }
    return { ends, certificateEnds };
  }

  return {
    hasPeople: email >= 0,
    /** Counts the version numbers that a commit needs. The certificate of a removed retirement needs one of its own. */
    countVersions: ({ inserts, removals }: ListChanges) =>
      inserts.length + removals.length * (hasCertificates ? 2 : 1),
    listReads: ({ request, previousLatestInstant }: OpenSync, { inserts, removals }: ListChanges) => {
      const replaced = inserts.flatMap(({ replacedVersion }) => replacedVersion ?? []);
      const removed = removals.map(({ version }) => version);
      const ending = [...replaced, ...removed];
      // The earlier versions of a new row do not matter if its answer is later than every instant of the list.
      const keys = inserts
        .filter(
          ({ replacedVersion, observedAt }) =>
            replacedVersion === null && previousLatestInstant !== null && observedAt <= previousLatestInstant,
        )
        .map(({ key }) => [request.organizationId, ...key]);
      return {
        current: ending.length === 0 ? null : listVersions.selectCurrent(ending),
        lastEnds: keys.length === 0 ? null : listVersions.selectLastEnds(keys),
        certificates:
          hasCertificates && removed.length > 0
            ? SELECT_CERTIFICATES({ retirements: toVersionTable(removed) })
            : null,
      };
    },
    listWrites: (commit: SyncCommit, changes: ListChanges, reads: CommitReads): ListWrites => {
      const { id } = commit;
      const { organizationId, startedAt } = commit.sync.request;
      const { repairs, projects, unconfirmedRemovals } = changes;
      const { ends: replacedEnds, rows, versions } = planInserts(commit, changes.inserts, reads);
      const { ends: removedEnds, certificateEnds } = planRemovals(commit, changes, reads);
      const certificates = reads.certificates.map(({ version }) => version);
      const statements = [
        ...listVersions.moveToPast([...replacedEnds, ...removedEnds], id),
        ...certificateVersions.moveToPast(certificateEnds, id),
        certificates.length === 0 ? null : certificateVersions.deleteCurrent(certificates),
        rows.length === 0 ? null : listVersions.insert(rows),
        repairs.length === 0 ? null : listVersions.repair(repairs),
        projects.length === 0
          ? null
          : INSERT_PROJECTS({ organizationId, projects: toProjectTable(projects) }),
        unconfirmedRemovals === undefined
          ? null
          : UPDATE_UNCONFIRMED_REMOVALS({
              organizationId,
              resource,
              doubted: unconfirmedRemovals,
              doubtedAt: unconfirmedRemovals === null ? null : formatInstant(startedAt),
            }),
      ];
      const changed = replacedEnds.length;
      return { statements, versions, added: rows.length - changed, changed, removed: removedEnds.length };
    },
    /** Counts the rows of the list anew. */
    recount: prepared(({ db }, { organizationId, resource: name }: Params<ListParam>) =>
      db
        .updateTable('mirror.resource_states')
        .set({
          rows: sql<number>`(SELECT count(*) FROM ${listed()} WHERE ${sql.ref(entry.scope)} = ${organizationId})`,
        })
        .where('organization_id', '=', organizationId)
        .where('resource', '=', name),
    ),
  };
}

/** Returns the starts of the current versions by version number. */
function mapValidFrom({ current }: CommitReads): ReadonlyMap<number, string> {
  return new Map(current.map(row => [row.version, row.valid_from]));
}

/** Joins the parts of a row's key to the key of a map. */
function toMapKey(key: readonly string[]): string {
  return key.join('\0');
}

function toProjectTable(projects: readonly string[]): Table {
  return projectList.toTable(projects.map(id => ({ id })));
}
