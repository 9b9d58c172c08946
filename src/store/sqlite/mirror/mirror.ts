import type { MirrorPort } from '../../../mirror/port.js';
import type { Database } from '../../database.js';
import { createMirrorStore } from '../../mirror/mirror.js';
import { createCertificateFiles } from '../certificates/folder.js';
import { databaseOn, tuned } from '../database.js';
import type { Sqlite } from '../open.js';

/** The port on whatever does its statements. */
export function portOn(database: Database, certificates: string): Omit<MirrorPort, 'close'> {
  return createMirrorStore(database, createCertificateFiles(certificates));
}

export function createMirrorPort(db: Sqlite, certificates: string): MirrorPort {
  return { ...portOn(databaseOn(tuned(db)), certificates), close: async () => void db.close() };
}
