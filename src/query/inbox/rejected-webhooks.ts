import type { Reader } from '../../store/contract/reader.js';
import type { Row, Tables } from '../../store/contract/tables.js';
import { formatCount } from '../../text/numbers.js';
import { largest, plain, sql } from '../sql.js';

type Rejected = Pick<Tables['inbox.rejected_webhooks'], 'reason' | 'status' | 'header_prefix' | 'newest_at'>;
type RejectedSum = Awaited<ReturnType<typeof sumRejected>>[number];

interface Summed extends Rejected {
  readonly rejected: number | bigint;
  /** The minute of the first of them. */
  readonly since: string;
}

/** What was turned away since an instant, added up over the minutes, what came most first. */
export async function sumRejected({ all }: Reader, since: string) {
  const sums =
    await all(sql<Summed>`SELECT reason, status, header_prefix, sum(rejected) AS rejected, min(minute) AS since,
      max(newest_at) AS newest_at
    FROM inbox.rejected_webhooks WHERE minute >= ${since.slice(0, 'YYYY-MM-DDTHH:MM'.length)}
    GROUP BY reason, status, header_prefix
    ORDER BY sum(rejected) DESC, reason, header_prefix, status`);
  return sums.map(sum => ({ ...sum, rejected: Number(sum.rejected) }));
}

const DAY_MS = 86_400_000;
const MOST_SUMS = 5;

/** What the receiver has turned away since yesterday; it is a fault of ours where nothing genuine came since that began. */
export async function readRejectionCauses(reader: Reader, now: number) {
  const sums = await sumRejected(reader, new Date(now - DAY_MS).toISOString());
  const accepted = plain(`inbox.deliveries WHERE verdict = 'accepted'`);
  const acceptedAt = (await largest(reader, 'received_at', accepted)) ?? '';
  return sums.slice(0, MOST_SUMS).map(sum => ({
    check: 'rejected_webhooks' as const,
    isFault: isSigned(sum) && acceptedAt < sum.since,
    found: `${formatCount(sum.rejected, 'webhook')} rejected since ${describeMinute(sum.since, now)}: ${describeReason(sum)}`,
    todo: `${adviceFor(sum)} See "carbon-mirror deliveries rejected".`,
  }));
}

/** Somebody who signs is no passer-by. */
function isSigned({ status, header_prefix: prefix }: RejectedSum): boolean {
  return status === 401 && prefix !== '';
}

function describeMinute(minute: string, now: number): string {
  const [day, time] = minute.split('T');
  return `${new Date(now).toISOString().startsWith(day ?? '') ? '' : `${day} `}${time} UTC`;
}

function describeReason({ reason, status, header_prefix: prefix }: RejectedSum): string {
  if (reason === 'no_signature' && prefix !== '') return `signed in x-${prefix}-signature-256`;
  return `${reason.replaceAll('_', ' ')} (${status})`;
}

/** What to ask oneself about a reason. */
export function adviceFor({ reason, header_prefix: prefix }: Row | RejectedSum): string {
  if (reason === 'signature_not_valid')
    return 'Check that WEBHOOK_SECRETS matches the secret at the registry.';
  if (reason === 'not_stored') return "The receiver's log says why: disk space, a lock, or too many at once.";
  if (prefix === '') return 'The registry signs every delivery, so somebody else sent these.';
  if (reason === 'no_signature') return `Check REGISTRY_HEADER_PREFIX: the sender uses "${String(prefix)}".`;
  if (reason === 'wrong_content_type')
    return 'Check that no proxy changes the content type: it must be application/json.';
  return 'Check that no proxy changes the body. If none does, somebody else sent these.';
}
