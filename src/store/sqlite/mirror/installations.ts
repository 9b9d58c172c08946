import { type Sqlite, write } from '../open.js';
import { formatInstant } from '../../../resources/columns.js';
import { following } from '../../../mirror/dates.js';
import type { InstallationRead } from '../../../mirror/port.js';
import { INSTALLATIONS, type InstallationRow, valuesOf } from '../../../resources/installations.js';
import type { MirrorOperations } from './operations.js';
import { causeColumns } from '../../resource-state.js';
import type { SyncRows } from './sync-rows.js';
import { createVersions } from './versions.js';

type Row = InstallationRow & { readonly state: string };
interface Stored extends Row {
  readonly version: number;
  readonly valid_from: string;
}

/** An organization none of whose installations is active is frozen: reads are refused. */
export function createInstallations(db: Sqlite, syncRows: SyncRows): MirrorOperations['writeInstallation'] {
  const versions = createVersions(db, INSTALLATIONS);
  const find = db.prepare<[string], Stored>('SELECT * FROM installations WHERE id = ?');
  const answer = db.prepare<[string]>('DELETE FROM awaited_installations WHERE id = ?');

  function replace(row: Row, stored: Stored | undefined, read: InstallationRead): void {
    const before = stored?.valid_from ?? versions.lastEnd(row.id);
    const at = following(formatInstant(read.arrivedAt), before);
    const number = syncRows.versions(1);
    const syncId = syncRows.enterSmallSync({
      organization_id: row.organization_id,
      resource: 'installation',
      trigger: read.trigger,
      claim: read.claim,
      started_at: formatInstant(read.startedAt),
      answered_at: formatInstant(read.arrivedAt),
      finished_at: formatInstant(read.endedAt),
      rows_added: stored === undefined ? 1 : 0,
      rows_changed: stored === undefined ? 0 : 1,
      ...causeColumns(read.cause),
    });
    if (stored !== undefined) versions.close(stored.version, { at, syncId, number, isRemoved: false });
    versions.insert.run(number, ...valuesOf(row), at, syncId, row.document);
  }

  return (id, fields, read) =>
    write(db, () => {
      answer.run(id);
      const stored = find.get(id);
      const known = fields ?? stored;
      if (known === undefined) return 'unchanged';
      const row = { ...known, state: read.state };
      const organizationId = row.organization_id;
      if (organizationId !== null) {
        syncRows.fence.take({ organizationId, part: 'data', claim: read.claim });
        syncRows.prepareStates(organizationId, read.resources);
      }
      if (stored !== undefined && isSame(stored, row)) {
        const [, ...cells] = valuesOf({ ...row, organization_id: organizationId ?? stored.organization_id });
        versions.mend(stored.version, cells);
        return 'unchanged';
      }
      replace(row, stored, read);
      return stored === undefined ? 'added' : 'changed';
    });
}

/** Permissions may come from elsewhere than the document. */
function isSame(stored: Row, row: Row): boolean {
  return (
    stored.state === row.state && stored.permissions === row.permissions && stored.document === row.document
  );
}
