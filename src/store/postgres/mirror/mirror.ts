import type { MirrorPort } from '../../../mirror/port.js';
import type { Table } from '../../dialect.js';
import type { CertificateFiles } from '../../mirror/certificates.js';
import { createMirrorStore } from '../../mirror/mirror.js';
import { statement } from '../../statement.js';
import { databaseIn } from '../database.js';
import type { Postgres } from '../open.js';

const NAMES = { file: 'text' } as const;
const tableOf = (files: readonly string[]): Table => ({ columns: NAMES, rows: files.map(file => [file]) });
const AMONG = statement<{ files: Table }, { readonly file: string }>(
  ({ rows }) =>
    `SELECT DISTINCT file FROM mirror.certificate_pieces WHERE file IN (SELECT g.file FROM ${rows('@files', 'g', NAMES)})`,
);
const REMOVE = statement<{ files: Table }, { readonly file: string }>(
  ({ rows }) =>
    `DELETE FROM mirror.certificate_pieces WHERE file IN (SELECT g.file FROM ${rows('@files', 'g', NAMES)}) RETURNING file`,
);
const namesOf = (found: readonly { readonly file: string }[]) => new Set(found.map(({ file }) => file));

const FILES: CertificateFiles = {
  among: async (batch, files) => namesOf((await batch(AMONG({ files: tableOf(files) })))[0]),
  remove: async (batch, files) => namesOf((await batch(REMOVE({ files: tableOf(files) })))[0]).size,
};

/** The mirror in a PostgreSQL that has been migrated. */
export function createMirrorPort(postgres: Postgres): MirrorPort {
  return {
    ...createMirrorStore(databaseIn(postgres), FILES, []),
    // Who sees the mirror sees the inbox too, by the view `freshness`: nothing is looked through, and nothing copied.
    freshnessFacts: async () => ({ workerSeenAt: null, oldestRead: null, announced: [] }),
    knownResources: async () => new Map(),
    keepFreshnessFacts: async (_facts, workerSeenAt) => {
      await postgres.query('UPDATE mirror.origin SET worker_seen_at = $1', [workerSeenAt]);
    },
    close: postgres.close,
  };
}
