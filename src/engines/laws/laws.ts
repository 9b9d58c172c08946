import { BALANCE_LAWS } from './balance.js';
import { certificateLaws } from './certificates.js';
import { countLaws } from './counts.js';
import { INBOX_LAWS } from './inbox.js';
import type { Law, Say } from './law.js';
import { runLaws } from './runs.js';
import { versionLaws } from './versions.js';

/** What must hold in any mirror at any moment, whatever the registry said. */
export function lawsIn(say: Say): readonly Law[] {
  return [
    ...versionLaws(say),
    ...runLaws(say),
    ...countLaws(say),
    ...certificateLaws(say),
    ...BALANCE_LAWS,
    ...INBOX_LAWS,
  ];
}
