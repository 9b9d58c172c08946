import { SQLITE } from '../../../../migrations/schema.js';
import { CERTIFICATES } from '../../../resources/certificates.js';
import { archive } from '../../past.js';
import type { Sqlite } from '../open.js';
import type { SyncRows } from './sync-rows.js';
import type { Closing } from './versions.js';

/** A certificate may have come after the answer that no longer showed its retirement. */
const AT = "max(?, strftime('%Y-%m-%dT%H:%M:%fZ', v.valid_from, '+0.001 seconds'))";
const ENDS = { number: '?', at: AT, by: '?', isRemoved: '1' };

/** A retirement that is gone takes its certificate to the past, before its version is closed. */
export function createVanishing(db: Sqlite, syncRows: Pick<SyncRows, 'versions'>) {
  const its =
    '(organization_id, retirement_id) = (SELECT organization_id, id FROM retirements WHERE version = ?)';
  const toPast = db.prepare<[number, string, number, number]>(
    archive(SQLITE, CERTIFICATES, ENDS, `FROM certificates AS v WHERE state = 'stored' AND ${its}`),
  );
  const remove = db.prepare<[number]>(`DELETE FROM certificates WHERE ${its}`);
  return (version: number, { at, syncId }: Pick<Closing, 'at' | 'syncId'>): void => {
    toPast.run(syncRows.versions(1), at, syncId, version);
    remove.run(version);
  };
}
