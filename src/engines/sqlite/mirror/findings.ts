import type { FindingCount } from '../../../mirror/port.js';
import { type Sqlite, write } from '../open.js';

export function createFindings(db: Sqlite): (counts: readonly FindingCount[], at: string) => void {
  const empty = db.prepare('DELETE FROM finding_counts');
  const put = db.prepare<[string, number, string]>('INSERT INTO finding_counts VALUES (?, ?, ?)');
  return (counts, at) =>
    write(db, () => {
      empty.run();
      for (const { finding, rows } of counts) put.run(finding, rows, at);
    });
}
