import { CERTIFICATES } from '../../../resources/certificates.js';
import { columnsOf } from '../../../resources/entry.js';
import type { Sqlite } from '../open.js';
import type { SyncRows } from './sync-rows.js';
import type { Closing } from './versions.js';

/** A certificate may have come after the answer that no longer showed its retirement. */
const NEXT = "strftime('%Y-%m-%dT%H:%M:%fZ', valid_from, '+0.001 seconds')";

/** A retirement that is gone takes its certificate to the past, before its version is closed. */
export function createVanishing(db: Sqlite, syncRows: Pick<SyncRows, 'versions'>) {
  const its =
    '(organization_id, retirement_id) = (SELECT organization_id, id FROM retirements WHERE version = ?)';
  const names = columnsOf(CERTIFICATES).join(', ');
  const archive = db.prepare<[string, number, number, number]>(
    `INSERT INTO certificates_past (${names}, valid_to, closed_by, closed_version)
     SELECT ${names}, max(?, ${NEXT}), ?, ? FROM certificates WHERE state = 'stored' AND ${its}`,
  );
  const remove = db.prepare<[number]>(`DELETE FROM certificates WHERE ${its}`);
  return (version: number, { at, syncId }: Closing): void => {
    archive.run(at, syncId, syncRows.versions(1), version);
    remove.run(version);
  };
}
