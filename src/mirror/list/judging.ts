import { LISTS } from '../../resources/lists.js';
import type { FindMissing } from '../mirror.js';
import type { ReadFault, ListRef, MirrorPort, SyncRequest } from '../port.js';
import type { Sync } from '../sync.js';
import {
  type Circumstances,
  COMPLETE,
  type Decision,
  decide,
  findMissing,
  type Missing,
  NONE,
  partial,
  unconfirmed,
} from './missing.js';
import type { PageDigests } from './page-digests.js';
import type { Staging } from './staging.js';
import { VersionSet } from './version-set.js';

/** How a read stands when everything has come. */
interface Stand {
  readonly port: MirrorPort;
  readonly list: ListRef;
  readonly sync: Sync;
  readonly request: SyncRequest;
  readonly staging: Pick<Staging<never>, 'seen' | 'distinct' | 'unseen' | 'prints' | 'unreadable'>;
  readonly pages: PageDigests;
}

/** What the answers tell of the whole list: how long it is, why this is not all of it, whose it is. */
interface Answers {
  readonly total: number | null;
  readonly flaw: ReadFault | null;
  readonly ask: FindMissing | undefined;
  readonly ownerNamed: boolean | undefined;
  /** Names the rows that could not be read. */
  readonly unreadable: ReadFault | null;
}

/** Which rows stand on pages that were passed nobody knows: the next pass reads each. */
const UNACCOUNTED: ReadFault = {
  code: 'rows_missing',
  message: 'pages moved while others stood as they stood, and the rows of both do not add up',
};

const OWNER_UNNAMED: ReadFault = {
  code: 'owner_untold',
  message:
    'it lacks rows and does not say whose list it is, as earlier answers did; "sync --full" believes it',
};

/** What becomes of the rows that the read did not find. */
export async function judgeRead(stand: Stand, answers: Answers): Promise<Decision> {
  const { port, list, request, staging, pages } = stand;
  const { total, flaw } = answers;
  if (flaw !== null) return partial(flaw);
  const { added, withoutKey } = staging.unreadable;
  const distinct = staging.distinct + added + withoutKey;
  if (total !== null && total !== distinct) {
    const message = `the registry counts ${total} rows, this read saw ${distinct}`;
    return { ...partial({ code: 'total_differs', message }), readAgain: true };
  }
  if (pages.passed > 0 && (staging.unseen !== 0 || pages.areMixed(staging.prints))) {
    return { ...partial(UNACCOUNTED), readAgain: true };
  }
  if (staging.unseen === 0 && request.full !== true) return COMPLETE;
  return await decisionOn(await findMissing(port, list, staging.seen), stand, answers);
}

/**
 * An answer that lacks rows and does not say whose it is, where others did, may be anybody's. An unreadable row without a
 * key may be any of the missing rows: nothing is closed.
 */
async function decisionOn(
  missing: Missing,
  stand: Stand,
  { ask, ownerNamed, unreadable }: Answers,
): Promise<Decision> {
  if (missing.versions.size === 0) return COMPLETE;
  if (stand.staging.unreadable.withoutKey > 0) return unconfirmed(missing, unreadable);
  if (ownerNamed === undefined && stand.sync.before.isOwnerNamed) return partial(OWNER_UNNAMED);
  return decide(missing, circumstancesOf(stand, ask));
}

function circumstancesOf(stand: Stand, ask: Answers['ask']): Circumstances {
  const { list, sync, staging, pages } = stand;
  const { before } = sync;
  return {
    before: before.rows,
    seen: staging.distinct,
    isSnapshot: pages.visited <= 1,
    isQuiet: pages.isQuiet,
    endsByNature: LISTS[list.resource].rowsExpire === true,
    doubted: before.doubted === null ? NONE : VersionSet.unpack(before.doubted),
    doubtedForMs: doubtedForMs(stand),
    ask,
  };
}

/** A doubt of the future, before the clock was put right, begins anew. */
function doubtedForMs({ sync, request }: Stand): number | null {
  if (sync.before.doubtedAt === null) return null;
  const ms = request.startedAt - Date.parse(sync.before.doubtedAt);
  return ms < 0 ? null : ms;
}
