import type { Reader } from '../store/contract/reader.js';
import { queryBuilder } from '../store/sql/builder.js';
import { LIST_RESOURCES } from '../resources/lists.js';
import { formatEstimate } from '../text/duration.js';
import { formatCount, formatWithCommas } from '../text/numbers.js';
import { countRows, readOne } from './read-one.js';

/** Organizations that wait for their first read, and what these reads need. */
export interface FirstReads {
  /** Known organizations, without those that removed the app. */
  readonly organizations: number;
  /** Known organizations that may be read and of which no list was read yet. */
  readonly organizationsToGo: number;
  /** Calls to the registry for each first read: the average of the organizations that were read. */
  readonly callsPerOrganization: number;
  /** Workers that are running. */
  readonly workers: number;
}

/** First reads with the time that they will take. */
export interface FirstReadEstimate extends FirstReads {
  /** Calls per second of all running workers together. */
  readonly callsPerSecond: number;
  /** Null if no worker is running. */
  readonly secondsLeft: number | null;
}

const MINUTE_MS = 60_000;
/** A first read needs an access token besides its lists. */
const TOKEN_CALLS = 1;
/** Calls to assume until an organization was read: one for each list, one for its projects, and the token. */
const ASSUMED_CALLS = LIST_RESOURCES.length + 1 + TOKEN_CALLS;

const COUNT_ORGANIZATIONS = queryBuilder
  .selectFrom('mirror.coverage as known')
  .select(eb => [
    eb.fn.countAll<number>().as('organizations'),
    eb.fn
      .countAll<number>()
      .filterWhere('known.state', 'in', ['active', 'never_read'])
      .filterWhere(known =>
        known.not(
          known.exists(
            known
              .selectFrom('mirror.resource_states as list')
              .select('list.resource')
              .whereRef('list.organization_id', '=', 'known.organization_id')
              .where('list.attempted_at', 'is not', null),
          ),
        ),
      )
      .as('organizationsToGo'),
  ])
  .where('known.state', '<>', 'uninstalled');

/** While lists are read, one of so many calls downloads a certificate: see the request limiter. */
const CALLS_PER_DOWNLOAD = 4;

const COUNT_CALLS = queryBuilder
  .selectFrom('mirror.resource_states')
  .select(eb => [
    eb.fn.sum<number | null>('requests').as('listCalls'),
    eb.fn.count<number>('organization_id').distinct().as('read'),
    eb
      .selectFrom('mirror.certificate_sums')
      .select(sum => sum.fn.sum<number | null>('certificates').as('certificates'))
      .as('certificates'),
  ])
  .where('requests', 'is not', null)
  .where('resource', '<>', 'certificates');

/**
 * Counts the organizations that wait for their first read, the workers that run, and the calls that each first read needs. Null if no
 * organization waits.
 */
export async function readFirstReads(reader: Reader, now: number): Promise<FirstReads | null> {
  const counts = await readOne(reader, COUNT_ORGANIZATIONS);
  if (counts.organizationsToGo === 0) return null;
  return {
    ...counts,
    callsPerOrganization: await readCallsPerOrganization(reader),
    workers: await countWorkers(reader, now),
  };
}

/**
 * Returns how many HTTP requests the first read of an organization needs on average. Includes the downloads of certificates that
 * ran at the same time.
 */
async function readCallsPerOrganization(reader: Reader): Promise<number> {
  const { listCalls, read, certificates } = await readOne(reader, COUNT_CALLS);
  if (read === 0) return ASSUMED_CALLS;
  const calls = Number(listCalls) / read + TOKEN_CALLS;
  // Further certificates are downloaded when all lists have been read.
  return calls + Math.min(Number(certificates) / read, calls / (CALLS_PER_DOWNLOAD - 1));
}

/** Counts the workers that gave a heartbeat within the last minute. */
async function countWorkers(reader: Reader, now: number): Promise<number> {
  const [from, to] = [now - MINUTE_MS, now + MINUTE_MS].map(at => new Date(at).toISOString());
  return await countRows(
    reader,
    queryBuilder
      .selectFrom('inbox.processes')
      .select('role')
      .where('role', '=', 'work')
      .where('seen_at', '>=', from ?? '')
      .where('seen_at', '<=', to ?? ''),
  );
}

/** Computes how long the first reads take if each worker makes `callsPerSecondOfWorker` calls per second. */
export function estimateFirstReads(
  firstReads: FirstReads,
  callsPerSecondOfWorker: number,
): FirstReadEstimate {
  const { organizationsToGo, callsPerOrganization, workers } = firstReads;
  const callsPerSecond = workers * callsPerSecondOfWorker;
  return {
    ...firstReads,
    callsPerSecond,
    secondsLeft:
      workers === 0 ? null : Math.ceil((organizationsToGo * callsPerOrganization) / callsPerSecond),
  };
}

/** Formats an estimate, such as "catching up: 726 of 1,000 organizations to go, about 6 minutes at 20 calls a second". */
export function describeFirstReads(estimate: FirstReadEstimate): string {
  const { organizations, organizationsToGo, callsPerSecond, secondsLeft } = estimate;
  const toGo = `catching up: ${formatWithCommas(organizationsToGo)} of ${formatCount(organizations, 'organization')} to go`;
  if (secondsLeft === null) return `${toGo}, no worker is running`;
  return `${toGo}, ${formatEstimate(secondsLeft)} at ${formatCount(callsPerSecond, 'call')} a second`;
}
