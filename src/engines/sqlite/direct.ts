import type { Sqlite } from '../../database/open.js';
import type { MirrorPort } from '../../mirror/port.js';
import { createCertificateFiles } from './files.js';
import { createMirrorOperations } from './mirror.js';
import { portOf } from './operations.js';

/** The port on a connection of this thread: each operation is done before its promise is handed out. */
export function createMirrorPort(db: Sqlite, certificates: string): MirrorPort {
  const operations = createMirrorOperations(db, createCertificateFiles(certificates));
  return portOf(async (name, given) => operations[name](...given));
}
