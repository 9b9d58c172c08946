import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openDatabase } from '../../src/engines/sqlite/open.js';

export interface MirrorCopy {
  readonly folder: string;
  /** Change what stands there, as no program would. */
  change(sql: string, ...values: (string | number | null)[]): void;
  query(sql: string, ...values: (string | number | null)[]): Record<string, unknown>[];
}

/** Both databases of a folder, copied into one where no program is at work. It is gone after the test. */
export function copyMirror(from: string): MirrorCopy {
  const folder = mkdtempSync(join(tmpdir(), 'carbon-mirror-copy-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const name of ['mirror.db', 'inbox.db']) {
    const db = openDatabase(join(from, name), { busyTimeoutMs: 5000, readonly: true });
    db.prepare('VACUUM INTO ?').run(join(folder, name));
    db.close();
  }
  const open = () => openDatabase(join(folder, 'mirror.db'), { busyTimeoutMs: 1000 });
  return {
    folder,
    change(sql, ...values) {
      const db = open();
      db.prepare(sql).run(...values);
      db.close();
    },
    query(sql, ...values) {
      const db = open();
      const rows = db.prepare<unknown[], Record<string, unknown>>(sql).all(...values);
      db.close();
      return rows;
    },
  };
}
