import type { MirrorPort } from '../../mirror/port.js';
import { CERTIFICATES } from '../../resources/certificates.js';
import { type ResourceEntry, findOwnerColumn } from '../../resources/entry.js';
import { INSTALLATIONS } from '../../resources/installations.js';
import { LISTS } from '../../resources/lists.js';
import { findResourceOfTable } from '../../resources/resources.js';
import type { Table } from '../dialect.js';
import { type Batch, fixed, statement, type Database } from '../statement.js';
import type { CertificateFiles } from './certificates.js';
import { assertNotFenced, raiseFence } from './fence.js';
import { OVERWRITE_DELETED, LOCK_COUNTER } from './people.js';

const SLICE = 500;
type Whose = { readonly organizationId: string };

const FREEZE = statement<Whose>(
  "UPDATE mirror.installations SET state = 'uninstalled' WHERE organization_id = @organizationId",
);
const FILES = statement<Whose, { readonly file: string }>(
  `SELECT DISTINCT file FROM mirror.certificates_history
   WHERE organization_id = @organizationId AND file IS NOT NULL`,
);
const CAME = statement<Whose & { last: number }, { readonly id: string }>(
  `SELECT id FROM mirror.installations
   WHERE organization_id = @organizationId AND version > @last AND state <> 'uninstalled' ORDER BY id`,
);
const REMOVE_SYNCS = statement<Whose, { readonly id: number }>(
  `DELETE FROM mirror.syncs WHERE id IN (
     SELECT id FROM mirror.syncs WHERE organization_id = @organizationId LIMIT ${SLICE}) RETURNING id`,
);
const known = (is: string) =>
  `SELECT id FROM mirror.retirements_history WHERE organization_id ${is} @organizationId
   UNION SELECT retirement_id FROM mirror.certificates_history WHERE organization_id ${is} @organizationId`;
/** Those that no other organization has too. */
const OWN_RETIREMENTS = statement<Whose, { readonly id: string }>(
  `SELECT id FROM (${known('=')}) AS theirs EXCEPT SELECT id FROM (${known('<>')}) AS others`,
);

/** Some of a table. */
type Rows = readonly [table: string, which: string];

const pastOf = (entries: readonly ResourceEntry[]) =>
  `resource IN (${entries.map(entry => `'${findResourceOfTable(entry)}'`).join(', ')})`;
const rowsOf = (entries: readonly ResourceEntry[]): Rows[] => [
  ['past', `${pastOf(entries)} AND organization_id = @organizationId`],
  ...entries.map((entry): Rows => [entry.table, `${findOwnerColumn(entry)} = @organizationId`]),
];
/** A slice at a time. By its name a person who asks again knows the organization: that goes last. */
const PURGED = {
  certificates: rowsOf([CERTIFICATES]),
  lists: rowsOf(
    Object.values<ResourceEntry>(LISTS).toSorted(
      (a, b) => Number(a.scope === 'id') - Number(b.scope === 'id'),
    ),
  ),
};
const BOOKS = [
  'syncs',
  'unchanged_spans',
  'resource_states',
  'project_references',
  'awaited_installations',
  'certificate_sums',
  'freshness_facts',
];

const removeSome = (table: string, which: string) =>
  `DELETE FROM mirror.${table} WHERE version IN (
     SELECT version FROM mirror.${table} WHERE ${which} LIMIT ${SLICE}) RETURNING version`;
const olderOf = (tables: readonly Rows[]) =>
  tables.map(([table, which]) =>
    statement<Whose & { last: number }, { readonly version: number }>(
      removeSome(table, `${which} AND version <= @last`),
    ),
  );
const OLDER = { certificates: olderOf(PURGED.certificates), lists: olderOf(PURGED.lists) } as const;
/** At once, when the most of it is gone. */
const REMOVALS = [
  ...PURGED.certificates,
  ...PURGED.lists,
  ...rowsOf([INSTALLATIONS]),
  ...BOOKS.map((table): Rows => [table, 'organization_id = @organizationId']),
].map(([table, which]) => statement<Whose>(`DELETE FROM mirror.${table} WHERE ${which}`));
const OF_MEMBERS = ['resource_states', 'freshness_facts'].map(table =>
  fixed(`DELETE FROM mirror.${table} WHERE resource = 'members'`),
);
/** The people of all organizations. */
const REMOVE_MEMBERS = [
  fixed<{ readonly version: number }>(removeSome('past', pastOf([LISTS.members]))),
  fixed<{ readonly version: number }>(removeSome('members', 'true')),
];

const NAMES = { file: 'text' } as const;
/** By rows of now and of the past. */
const NAMED = statement<{ files: Table }, { readonly file: string }>(({ engine, rows }) => {
  const ofPast = engine === 'sqlite' ? "json_extract(cells, '$.file')" : "(cells ->> 'file')";
  const wanted = `IN (SELECT g.file FROM ${rows('@files', 'g', NAMES)})`;
  return `SELECT file FROM mirror.certificates WHERE file ${wanted}
    UNION SELECT ${ofPast} FROM mirror.past WHERE resource = 'certificates' AND ${ofPast} ${wanted}`;
});

/** Both parts, always in this order. */
function bothOf(organizationId: string, claim: number) {
  const certificates = { organizationId, part: 'certificates', claim };
  return { certificates, data: { ...certificates, part: 'data' } };
}

/**
 * Everything that was mirrored for one organization goes, history included. Fences stay, so that an old claim cannot
 * write it back. What reads write meanwhile goes too, in one last transaction, from which on every read that had begun
 * before is refused: it may have held its answers against rows that are gone.
 */
export function createRemoval(
  { look, transact }: Database,
  files: CertificateFiles,
): Pick<MirrorPort, 'beginPurge' | 'removeRows' | 'endPurge' | 'removeUnreferencedFiles'> {
  /** Under the lock of all who make a row name a file: so no row ever names one that is gone. */
  async function removeUnnamed(batch: Batch, names: readonly string[]): Promise<number> {
    const [found] = await batch(NAMED({ files: { columns: NAMES, rows: names.map(file => [file]) } }));
    const named = new Set(found.map(({ file }) => file));
    const unnamed = names.filter(file => !named.has(file));
    return unnamed.length === 0 ? 0 : await files.remove(batch, unnamed);
  }

  return {
    beginPurge: async (organizationId, claim) => {
      const { certificates, data } = bothOf(organizationId, claim);
      const last = await transact(async batch => {
        const [, , one, , other, , counter] = await batch(
          OVERWRITE_DELETED(),
          ...raiseFence(certificates),
          ...raiseFence(data),
          FREEZE({ organizationId }),
          LOCK_COUNTER(),
        );
        assertNotFenced(one, certificates);
        assertNotFenced(other, data);
        return counter[0]?.last ?? 0;
      });
      const [own] = await look(OWN_RETIREMENTS({ organizationId }));
      return { lastVersion: last, retirementIds: own.map(({ id }) => id) };
    },
    removeRows: these =>
      transact(async batch => {
        await batch(OVERWRITE_DELETED());
        const ofMembers = these === 'members';
        for (const remove of ofMembers ? REMOVE_MEMBERS : OLDER[these.kind].map(older => older(these))) {
          const [removed] = await batch(remove);
          if (removed.length > 0) return removed.length;
        }
        if (ofMembers) await batch(LOCK_COUNTER(), ...OF_MEMBERS);
        if (ofMembers || these.kind === 'certificates') return 0;
        return (await batch(REMOVE_SYNCS(these)))[0].length;
      }),
    endPurge: (organizationId, last, claim) =>
      transact(async batch => {
        const { certificates, data } = bothOf(organizationId, claim);
        const [, one, , other, , named, came] = await batch(
          ...raiseFence(certificates),
          ...raiseFence(data),
          LOCK_COUNTER(),
          FILES({ organizationId }),
          CAME({ organizationId, last }),
        );
        assertNotFenced(one, certificates);
        assertNotFenced(other, data);
        await batch(...REMOVALS.map(remove => remove({ organizationId })));
        const removed = await removeUnnamed(
          batch,
          named.map(({ file }) => file),
        );
        return { removedFiles: removed, newInstallationIds: came.map(({ id }) => id) };
      }),
    removeUnreferencedFiles: names =>
      transact(async batch => {
        await batch(LOCK_COUNTER());
        return await removeUnnamed(batch, names);
      }),
  };
}
