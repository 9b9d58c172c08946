import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { createInboxPort } from '../../../src/store/sqlite/inbox/inbox-port.js';
import { createMirrorPort } from '../../../src/store/sqlite/mirror/mirror-port.js';
import { createInboxPort as createInboxIn } from '../../../src/store/postgres/inbox/inbox-port.js';
import { describeLocation } from '../../../src/store/postgres/pool-settings.js';
import { createMirror } from '../../../src/mirror/create-mirror.js';
import { recordUnreadDeliveries } from '../../../src/sync/schedule/unread-deliveries.js';
import { takeEmptyDatabase, createRole } from '../postgres.js';
import { type TestMirror, openMirrorOnPostgres, MINUTE, temporaryMirror } from './open.js';
import { NOON, temporaryFolder, temporaryInbox } from '../inbox.js';
import { fillInboxWithOddRows, fillWithOddRows } from '../odd-rows.js';
import { openTablesIn } from '../tables.js';

interface MirrorLocation {
  readonly env: Readonly<Record<string, string>>;
  /** The location as commands print it. */
  readonly location: string;
}

export interface MirrorPair {
  readonly inFiles: MirrorLocation;
  readonly inPostgres: MirrorLocation;
}

const NOW = NOON + 20 * MINUTE;

/** Opens two equal mirrors with every kind of odd row: one in PostgreSQL and one in files. */
export async function openOddMirrorTwice(): Promise<MirrorPair> {
  const database = await takeEmptyDatabase();
  const stage = await openMirrorOnPostgres(database.postgres);
  const readRole = await createRole(database.postgres, database, 'read');
  await fillWithOddRows(stage);
  const folder = temporaryFolder();
  await stage.snapshot(join(folder, 'mirror.db'));
  await copyPdfs(stage, join(folder, 'certificates'));
  const port = createMirrorPort(temporaryMirror(folder), join(folder, 'certificates'));
  const both = [
    {
      tables: openTablesIn(folder),
      mirror: createMirror(port, () => NOW),
      inbox: createInboxPort(temporaryInbox(folder), () => NOW),
    },
    { tables: stage.db, mirror: stage.mirror, inbox: createInboxIn(database.postgres, () => NOW) },
  ];
  for (const { tables, ...parts } of both) {
    await fillInboxWithOddRows(tables);
    await recordUnreadDeliveries({ ...parts, mirrorMembers: true }, NOW);
  }
  return {
    inFiles: { env: { DATA_DIR: folder }, location: folder },
    inPostgres: {
      env: {
        MIRROR_DATABASE_URL: database.url,
        QUERY_DATABASE_URL: readRole.url,
        DATA_DIR: join(folder, 'none'),
      },
      location: describeLocation(database.url),
    },
  };
}

async function copyPdfs({ pdfs }: TestMirror, folder: string): Promise<void> {
  mkdirSync(folder);
  const store = pdfs(1000);
  for await (const names of store.list(null)) {
    for (const name of names) {
      const body = await store.open(name);
      if (body !== null) writeFileSync(join(folder, name), await buffer(body));
    }
  }
}
