import { type Sqlite, write } from '../open.js';
import type { MirrorOperations } from './operations.js';

export function createFindings(db: Sqlite): MirrorOperations['keepFindings'] {
  const empty = db.prepare('DELETE FROM finding_counts');
  const put = db.prepare<[string, number, string]>('INSERT INTO finding_counts VALUES (?, ?, ?)');
  return (counts, at) =>
    write(db, () => {
      empty.run();
      for (const { finding, rows } of counts) put.run(finding, rows, at);
    });
}
