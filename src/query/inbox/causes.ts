import type { Reader } from '../../store/contract/reader.js';
import { adviceOnAccess } from '../../registry/errors.js';
import { readAcceptedAt, type RefusalSum, sumRefusals } from './refusals.js';

/** What keeps the registry from being asked, or from telling, and what helps: in the words of doctor, status and the pages alike. */
export interface Cause {
  readonly check: 'registry' | 'refusals';
  readonly found: string;
  readonly todo: string;
}

const DAY_MS = 86_400_000;
const MOST_SUMS = 5;

export async function readCauses(reader: Reader, now: number): Promise<Cause[]> {
  const refused = await readRefusalCauses(reader, now);
  return [...(await readAccessCauses(reader)), ...refused.filter(({ isFault }) => isFault)].map(
    ({ check, found, todo }) => ({ check, found, todo }),
  );
}

/** A wrong key or app: until it is tried again nothing else is known. */
async function readAccessCauses({ db }: Reader): Promise<Cause[]> {
  const newest = await db
    .selectFrom('inbox.jobs')
    .select('last_error as found')
    .where('state', '=', 'paused')
    .where('last_error_code', '=', 'unauthorized')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return newest?.found
    ? [{ check: 'registry', found: newest.found, todo: adviceOnAccess('unauthorized') }]
    : [];
}

/** What the door has turned away since yesterday; it is a fault of ours where nothing genuine came since that began. */
export async function readRefusalCauses(reader: Reader, now: number) {
  const sums = await sumRefusals(reader, new Date(now - DAY_MS).toISOString());
  const acceptedAt = (await readAcceptedAt(reader)) ?? '';
  return sums.slice(0, MOST_SUMS).map(sum => ({
    check: 'refusals' as const,
    isFault: isSigned(sum) && acceptedAt < sum.since,
    found: `${describePosts(sum)} refused since ${describeMinute(sum.since, now)}, ${describeReason(sum)}`,
    todo: `${adviceFor(sum)} See "carbon-mirror deliveries list --refused".`,
  }));
}

/** Somebody who signs is no passer-by. */
function isSigned({ status, headerPrefix }: RefusalSum): boolean {
  return status === 401 && headerPrefix !== '';
}

function describePosts({ posts }: RefusalSum): string {
  return posts === 1 ? '1 post' : `${posts} posts`;
}

function describeMinute(minute: string, now: number): string {
  const [day, time] = minute.split('T');
  return `${new Date(now).toISOString().startsWith(day ?? '') ? '' : `${day} `}${time} UTC`;
}

function describeReason({ reason, status, headerPrefix }: RefusalSum): string {
  if (reason === 'no_signature' && headerPrefix !== '') return `signed in x-${headerPrefix}-signature-256`;
  return `${reason.replaceAll('_', ' ')} (${status})`;
}

function adviceFor({ reason, headerPrefix }: RefusalSum): string {
  if (reason === 'signature_not_valid') return "Is WEBHOOK_SECRETS the registry's?";
  if (reason === 'no_signature' && headerPrefix !== '') {
    return `Is REGISTRY_HEADER_PREFIX right? The sender's is "${headerPrefix}".`;
  }
  if (reason === 'not_stored') return "The receiver's log says why: the disk, a lock, or too many at once.";
  return 'The registry signs every delivery: somebody else sent these.';
}
