import type { MirrorPort } from '../../mirror/port.js';
import type { Database } from '../database.js';
import { createFacts } from './facts.js';
import { createLooks } from './looks.js';
import { createMarks } from './marks.js';
import { createOrigin } from './origin.js';
import { createPruneSyncs } from './prune-syncs.js';

/** What each engine still does in its own way. */
export type OfEngine =
  | 'writeInstallation'
  | 'pages'
  | 'find'
  | 'cells'
  | 'after'
  | 'commit'
  | 'closeSync'
  | 'forgottenPeople'
  | 'writeProjects'
  | 'enterCertificates'
  | 'makeCertificatesDue'
  | 'dueCertificates'
  | 'writeCertificates'
  | 'removeUnnamedFiles'
  | 'freshnessFacts'
  | 'knownResources'
  | 'keepFreshnessFacts'
  | 'forget'
  | 'removeMembers'
  | 'beginPurge'
  | 'purgeRows'
  | 'endPurge'
  | 'close';

/** What both engines do by the same statements. */
export function createMirrorStore(database: Database): Omit<MirrorPort, OfEngine> {
  return {
    ...createOrigin(database),
    ...createLooks(database),
    ...createMarks(database),
    ...createFacts(database),
    pruneSyncs: createPruneSyncs(database),
  };
}
