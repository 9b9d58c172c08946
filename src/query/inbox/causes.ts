import type { Reader } from '../../store/contract/reader.js';
import { counted } from '../../text/counted.js';
import { largest } from '../sql.js';
import { adviceOnAccess } from '../../registry/errors.js';

/** Webhooks that were turned away, added up over the minutes. */
type RejectedSum = Awaited<ReturnType<typeof sumRejected>>[number];

/** What was turned away since an instant, what came most first. */
export async function sumRejected({ db }: Reader, since: string) {
  const sums = await db
    .selectFrom('inbox.rejected_webhooks')
    .select(eb => [
      'reason',
      'status',
      'header_prefix as headerPrefix',
      eb.fn.sum<number | bigint>('rejected').as('rejected'),
      /** The minute of the first of them. */
      eb.fn.min('minute').as('since'),
      eb.fn.max('newest_at').as('newestAt'),
    ])
    .where('minute', '>=', since.slice(0, 'YYYY-MM-DDTHH:MM'.length))
    .groupBy(['reason', 'status', 'header_prefix'])
    .orderBy('rejected', 'desc')
    .orderBy('reason')
    .orderBy('header_prefix')
    .orderBy('status')
    .execute();
  return sums.map(sum => ({ ...sum, rejected: Number(sum.rejected) }));
}

/** What keeps the registry from being asked, or from telling, and what helps: in the words of doctor, status and the pages alike. */
export interface Cause {
  readonly check: 'registry' | 'rejected_webhooks';
  readonly found: string;
  readonly todo: string;
}

const DAY_MS = 86_400_000;
const MOST_SUMS = 5;

export async function readCauses(reader: Reader, now: number): Promise<Cause[]> {
  const rejected = await readRejectionCauses(reader, now);
  return [...(await readAccessCauses(reader)), ...rejected.filter(({ isFault }) => isFault)].map(
    ({ check, found, todo }) => ({ check, found, todo }),
  );
}

/** A wrong key or app: until it is tried again nothing else is known. */
async function readAccessCauses({ db }: Reader): Promise<Cause[]> {
  const newest = await db
    .selectFrom('inbox.jobs')
    .select('last_error as found')
    .where('state', '=', 'paused')
    .where('error_or_pause_code', '=', 'unauthorized')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return newest?.found
    ? [{ check: 'registry', found: newest.found, todo: adviceOnAccess('unauthorized') }]
    : [];
}

/** What the receiver has turned away since yesterday; it is a fault of ours where nothing genuine came since that began. */
export async function readRejectionCauses(reader: Reader, now: number) {
  const sums = await sumRejected(reader, new Date(now - DAY_MS).toISOString());
  const accepted = reader.db.selectFrom('inbox.deliveries').where('verdict', '=', 'accepted');
  const acceptedAt = (await largest(accepted, 'received_at')) ?? '';
  return sums.slice(0, MOST_SUMS).map(sum => ({
    check: 'rejected_webhooks' as const,
    isFault: isSigned(sum) && acceptedAt < sum.since,
    found: `${counted(sum.rejected, 'webhook')} rejected since ${describeMinute(sum.since, now)}, ${describeReason(sum)}`,
    todo: `${adviceFor(sum)} See "carbon-mirror deliveries list --rejected".`,
  }));
}

/** Somebody who signs is no passer-by. */
function isSigned({ status, headerPrefix }: RejectedSum): boolean {
  return status === 401 && headerPrefix !== '';
}

function describeMinute(minute: string, now: number): string {
  const [day, time] = minute.split('T');
  return `${new Date(now).toISOString().startsWith(day ?? '') ? '' : `${day} `}${time} UTC`;
}

function describeReason({ reason, status, headerPrefix }: RejectedSum): string {
  if (reason === 'no_signature' && headerPrefix !== '') return `signed in x-${headerPrefix}-signature-256`;
  return `${reason.replaceAll('_', ' ')} (${status})`;
}

function adviceFor({ reason, headerPrefix }: RejectedSum): string {
  if (reason === 'signature_not_valid') return "Is WEBHOOK_SECRETS the registry's?";
  if (reason === 'no_signature' && headerPrefix !== '') {
    return `Is REGISTRY_HEADER_PREFIX right? The sender's is "${headerPrefix}".`;
  }
  if (reason === 'not_stored') return "The receiver's log says why: the disk, a lock, or too many at once.";
  return 'The registry signs every delivery: somebody else sent these.';
}
