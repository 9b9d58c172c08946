import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { createMirrorPort } from '../../../../src/store/sqlite/mirror/mirror-port.js';
import { temporaryFolder } from '../../../support/inbox.js';
import { temporaryMirror } from '../../../support/mirror/open.js';

test('past certificates that refer to a file are found by the index of past files', async () => {
  const folder = temporaryFolder();
  const db = temporaryMirror(folder);
  db.exec(`WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1000)
    INSERT INTO past (closed_version, valid_to, closed_by, sync_id, is_removed, version, resource, key, valid_from, cells)
    SELECT n + 10000, '2026-05-04', 1, 1, 1, n, 'certificates', n, '2026-05-03', json_object('file', 'f-' || n) FROM numbers;
    ANALYZE`);
  const port = createMirrorPort(db, join(folder, 'certificates'));
  const prepare = vi.spyOn(db, 'prepare');
  await port.removeUnreferencedFiles(['r-1.pdf']);
  const texts = prepare.mock.calls.map(([text]) => text).filter(text => text.includes('json_extract'));
  const plans = texts.flatMap(text =>
    db.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`).all('[]', '[]'),
  );
  expect(texts).toHaveLength(1);
  expect(plans.map(({ detail }) => detail).join()).toContain('past_by_file');
});
