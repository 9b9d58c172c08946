import { computeVersionInstant } from '../../mirror/version-clock.js';
import { isUnchangedRead } from '../../mirror/unchanged-read.js';
import { isForgotten } from '../../mirror/forgotten-people.js';
import type { ListChanges, ChangeCounts, RowInsert, MirrorPort, OpenSync } from '../../mirror/port.js';
import { CERTIFICATES } from '../../resources/certificates.js';
import { formatInstant } from '../../resources/sql-values.js';
import { isListResource, type ListResource, LISTS } from '../../resources/lists.js';
import type { Table, Value } from '../dialect.js';
import { type BoundStatement, statement, type Database } from '../statement.js';
import { LIST_FORGOTTEN } from './people.js';
import {
  startCommit,
  type SyncCommit,
  listStartStatements,
  endCommit,
  endSync,
  endRefusedSync,
  listForgottenFor,
} from './syncs.js';
import { cachePerList } from './rows.js';
import { type VersionEnd, createVersionStatements, toVersionTable } from './versions.js';

const PROJECTS = { id: 'text' } as const;
const NOTE_PROJECTS = statement<{ organizationId: string; projects: Table }>(
  ({ rows, as }) =>
    `INSERT INTO mirror.project_references (organization_id, project_id)
     SELECT ${as('text', '@organizationId')}, p.id FROM ${rows('@projects', 'p', PROJECTS)} WHERE true ORDER BY p.id
     ON CONFLICT DO NOTHING`,
);
const DOUBT = statement<{
  organizationId: string;
  resource: string;
  doubtedAt: string | null;
  doubted: Uint8Array | null;
}>(
  `UPDATE mirror.resource_states SET doubted_at = @doubtedAt, doubted = @doubted
   WHERE organization_id = @organizationId AND resource = @resource`,
);
/** A retirement that is gone takes its certificate to the past. */
interface Certificate {
  readonly version: number;
  readonly valid_from: string;
  readonly state: string;
  readonly retirement: number;
}

const CERTIFICATES_OF = statement<{ retirements: Table }, Certificate>(
  ({ rows }) =>
    `SELECT c.version, c.valid_from, c.state, r.version AS retirement
     FROM ${rows('@retirements', 'g', { version: 'int' })}
     JOIN mirror.retirements AS r ON r.version = g.version
     JOIN mirror.certificates AS c ON c.organization_id = r.organization_id AND c.retirement_id = r.id`,
);

/** What is looked at as the sync is let in, under its fence. */
interface Found {
  readonly standing: readonly { readonly version: number; readonly valid_from: string }[];
  readonly ended: readonly Readonly<Record<string, string>>[];
  readonly certificates: readonly Certificate[];
  readonly forgotten: readonly { readonly hash: string }[];
}

interface Work extends Pick<ChangeCounts, 'added' | 'changed' | 'removed'> {
  readonly statements: readonly (BoundStatement | null)[];
  /** One for each insert; 0 where it is left out. */
  readonly versions: readonly number[];
}

const NO_WORK: Work = { statements: [], versions: [], added: 0, changed: 0, removed: 0 };
const NO_LOOKS = [null, null, null] as const;

/** What a sync writes to its list, and how it ends. A resource that is no list has nothing but the end. */
export function createCommit({ transact }: Database): Pick<MirrorPort, 'commit' | 'endRefused'> {
  const writesOf = cachePerList(createList);
  return {
    commit: (sync, changes, ending) =>
      transact(async batch => {
        const { resource, organizationId, full } = sync.request;
        const list = isListResource(resource) ? writesOf(resource) : null;
        const wanted = list?.wanted(changes) ?? 0;
        const isUnchanged = isUnchangedRead(sync, changes, ending);
        const [, seen, installations, states, , last, ids, standing, ended, certificates, forgotten] =
          await batch(
            ...listStartStatements(sync, wanted, isUnchanged),
            ...(list?.looks(sync, changes) ?? NO_LOOKS),
            list?.namesPeople === true ? LIST_FORGOTTEN() : listForgottenFor(ending),
          );
        const entered = startCommit(sync, wanted, { seen, installations, states, ids, last });
        const work = list?.write(entered, changes, { standing, ended, certificates, forgotten }) ?? NO_WORK;
        const { statements, versions, ...counts } = work;
        const left =
          ending === null
            ? endCommit(entered, counts)
            : endSync(entered, counts, ending, { forgotten, isUnchanged });
        const isCountedAnew = full === true && ending !== null;
        await batch(
          ...statements,
          ...left.statements,
          isCountedAnew ? (list?.recount({ organizationId, resource }) ?? null) : null,
        );
        return { ...left.result, versions };
      }),
    endRefused: async (sync, ending) => {
      await transact(batch => batch(endRefusedSync(sync, ending)));
    },
  };
}

/** What one transaction writes to a list. No row is twice in it. */
function createList(resource: ListResource) {
  const { table, scope, columns } = LISTS[resource];
  const versions = createVersionStatements(LISTS[resource]);
  const archived = createVersionStatements(CERTIFICATES);
  const email = columns.findIndex(({ name }) => name === 'email');
  const hasCertificates = resource === 'retirements';

  function keepsBy(forgotten: Found['forgotten']): (insert: RowInsert) => boolean {
    const hashes = new Set(forgotten.map(({ hash }) => hash));
    return ({ cells }) => {
      const address = email < 0 ? null : cells[email];
      return typeof address !== 'string' || !isForgotten(hashes, address);
    };
  }

  function insert(
    { sync, id, firstVersion: first, clock: dates }: SyncCommit,
    inserts: readonly RowInsert[],
    found: Found,
  ) {
    const { organizationId } = sync.request;
    const since = sinceOf(found);
    const ended = new Map(found.ended.map(row => [versions.keyOf(row).join('\0'), row['valid_to'] ?? null]));
    const keeps = keepsBy(found.forgotten);
    const closings: VersionEnd[] = [];
    const rows: Value[][] = [];
    const numbers = inserts.map((each, n) => {
      if (!keeps(each)) return 0;
      const { key, cells, observedAt, replacedVersion: replaces, document } = each;
      const before = since.get(replaces ?? 0) ?? ended.get([organizationId, ...key].join('\0')) ?? null;
      const number = first + n;
      const at = dates.assignInstant(observedAt, before);
      if (replaces !== null && since.has(replaces)) {
        closings.push({ version: replaces, at, changeNumber: number, isRemoved: false });
      }
      rows.push([number, organizationId, ...key, ...cells, at, id, document]);
      return number;
    });
    return { closings, rows, numbers };
  }

  function close(
    { firstVersion: first, clock: dates }: SyncCommit,
    { inserts, closes }: ListChanges,
    found: Found,
  ) {
    const since = sinceOf(found);
    const certificateOf = new Map(found.certificates.map(row => [row.retirement, row]));
    const closings: VersionEnd[] = [];
    const stored: VersionEnd[] = [];
    for (const [n, { version, observedAt }] of closes.entries()) {
      const before = since.get(version);
      if (before === undefined) continue;
      const at = dates.assignInstant(observedAt, before);
      const number = first + inserts.length + n;
      closings.push({ version, at, changeNumber: number, isRemoved: true });
      const certificate = certificateOf.get(version);
      if (certificate?.state !== 'stored') continue;
      // It may have come after the answer that no longer showed its retirement.
      const end = computeVersionInstant(at, certificate.valid_from);
      stored.push({
        version: certificate.version,
        at: end,
        changeNumber: number + closes.length,
        isRemoved: true,
      });
    }
    return { closings, stored };
  }

  return {
    namesPeople: email >= 0,
    /** A retirement's certificate goes with it, and has a number of its own. */
    wanted: ({ inserts, closes }: ListChanges) => inserts.length + closes.length * (hasCertificates ? 2 : 1),
    looks: ({ request, previousLatestInstant: knownAt }: OpenSync, { inserts, closes }: ListChanges) => {
      const replaced = inserts.flatMap(({ replacedVersion: replaces }) => replaces ?? []);
      const closed = closes.map(({ version }) => version);
      const standing = [...replaced, ...closed];
      // An answer with a later instant than any row has needs no look at the row's own.
      const again = inserts.filter(
        ({ replacedVersion: replaces, observedAt }) =>
          replaces === null && knownAt !== null && observedAt <= knownAt,
      );
      const keys = again.map(({ key }) => [request.organizationId, ...key]);
      return [
        standing.length === 0 ? null : versions.selectCurrent(standing),
        keys.length === 0 ? null : versions.selectLastEnds(keys),
        hasCertificates && closed.length > 0
          ? CERTIFICATES_OF({ retirements: toVersionTable(closed) })
          : null,
      ] as const;
    },
    write: (entered: SyncCommit, changes: ListChanges, found: Found): Work => {
      const { sync, id } = entered;
      const { organizationId, startedAt } = sync.request;
      const { repairs: mends, projects, unconfirmedRemovals } = changes;
      const { closings: replaced, rows, numbers } = insert(entered, changes.inserts, found);
      const { closings: closed, stored } = close(entered, changes, found);
      const closings = [...replaced, ...closed];
      const certificates = found.certificates.map(({ version }) => version);
      const list = { organizationId, resource };
      const statements = [
        ...versions.moveToPast(closings, id),
        ...archived.moveToPast(stored, id),
        certificates.length === 0 ? null : archived.deleteCurrent(certificates),
        rows.length === 0 ? null : versions.insert(rows),
        mends.length === 0 ? null : versions.repair(mends),
        projects.length === 0 ? null : NOTE_PROJECTS({ organizationId, projects: idsOf(projects) }),
        unconfirmedRemovals === undefined
          ? null
          : DOUBT({
              ...list,
              doubted: unconfirmedRemovals,
              doubtedAt: unconfirmedRemovals === null ? null : formatInstant(startedAt),
            }),
      ];
      const changed = replaced.length;
      return { statements, versions: numbers, added: rows.length - changed, changed, removed: closed.length };
    },
    recount: statement<{ organizationId: string; resource: string }>(
      `UPDATE mirror.resource_states SET rows = (SELECT count(*) FROM mirror.${table} WHERE ${scope} = @organizationId)
       WHERE organization_id = @organizationId AND resource = @resource`,
    ),
  };
}

function sinceOf({ standing }: Found): ReadonlyMap<number, string> {
  return new Map(standing.map(row => [row.version, row.valid_from]));
}

function idsOf(projects: readonly string[]): Table {
  return { columns: PROJECTS, rows: projects.map(id => [id]) };
}
