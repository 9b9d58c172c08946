import type { Sqlite } from '../../open.js';
import type { Value } from '../../../../resources/columns.js';
import { CERTIFICATES } from '../../../../resources/certificates.js';
import { columnsOf } from '../../../../resources/entry.js';
import { createRetirementSums } from './retirement-sums.js';
import type { Closing } from '../versions.js';

/** What has to change together with a list's rows, in the same transaction. */
export interface Companion {
  begin(): void;
  enter(cells: readonly Value[]): void;
  /** Before a version is closed, because it changed or because it is gone. */
  leave(version: number): void;
  /** Before a version is closed for good. */
  vanish(version: number, closing: Closing): void;
  flush(organizationId: string): void;
  recount(organizationId: string): void;
}

/** A certificate may have come after the answer that no longer showed its retirement. */
const NEXT = "strftime('%Y-%m-%dT%H:%M:%fZ', valid_from, '+0.001 seconds')";

export const NO_COMPANION: Companion = {
  begin: () => undefined,
  enter: () => undefined,
  leave: () => undefined,
  vanish: () => undefined,
  flush: () => undefined,
  recount: () => undefined,
};

/** Retirements carry their sums with them, and a retirement that is gone takes its certificate to the past. */
export function createRetirementCompanion(
  db: Sqlite,
  runRows: { versions(count: number): number },
): Companion {
  const sums = createRetirementSums(db);
  const its =
    '(organization_id, retirement_id) = (SELECT organization_id, id FROM retirements WHERE version = ?)';
  const names = columnsOf(CERTIFICATES).join(', ');
  const archive = db.prepare<[string, number, number, number]>(
    `INSERT INTO certificates_past (${names}, valid_to, closed_by, closed_version)
     SELECT ${names}, max(?, ${NEXT}), ?, ? FROM certificates WHERE state = 'stored' AND ${its}`,
  );
  const remove = db.prepare<[number]>(`DELETE FROM certificates WHERE ${its}`);
  return {
    begin: sums.discard,
    enter: sums.add,
    leave: sums.subtract,
    vanish: (version, { at, runId }) => {
      archive.run(at, runId, runRows.versions(1), version);
      remove.run(version);
    },
    flush: sums.flush,
    recount: sums.recount,
  };
}
