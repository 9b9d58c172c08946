import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { migrate } from '../../src/store/sqlite/migrate.js';
import { openDatabase, type Sqlite } from '../../src/store/sqlite/open.js';
import type { Arrived } from './box.js';
import { temporaryFolder } from './folder.js';
import { layMigrated } from './migrated.js';

/** Noon of an arbitrary day, the usual time in tests. */
export const NOON = Date.UTC(2026, 4, 4, 12);

export { temporaryFolder };

/** Opens a real, migrated inbox.db that is closed after the test. */
export function temporaryInbox(folder: string = temporaryFolder(), busyTimeoutMs = 250): Sqlite {
  const file = join(folder, 'inbox.db');
  layMigrated(file, 'inbox');
  const db = openDatabase(file, { busyTimeoutMs });
  onTestFinished(() => {
    db.close();
  });
  migrate(db, 'inbox', new Date(NOON).toISOString());
  return db;
}

/** Creates an accepted delivery. Each has a digest of its own unless one is given. */
export function acceptedDelivery(overrides: Partial<Arrived> = {}): Arrived {
  return {
    receivedAt: NOON,
    event: 'warehouseTransaction',
    installationId: 'installation-1',
    organizationId: 'organization-1',
    signedData: 'e30=',
    sha256: randomBytes(32).toString('hex'),
    contradictedFields: null,
    verdict: 'accepted',
    reason: null,
    secretIndex: 0,
    ...overrides,
  };
}
