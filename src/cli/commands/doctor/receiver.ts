import { once } from 'node:events';
import { request } from 'node:http';
import type { Reader } from '../../../engines/contract/reader.js';
import { findMostRepeated } from '../../../query/inbox/deliveries-and-jobs.js';
import { readAcceptedAt, type RefusalSum, sumRefusals } from '../../../query/inbox/refusals.js';
import { type Finding, ok } from '../../../engines/contract/finding.js';
import type { Place } from '../../place/place.js';

const ANSWER_WITHIN_MS = 3000;
const METHOD_NOT_ALLOWED = 405;

/** The door refuses a GET, and that is the sign that it is there. */
export async function checkReceiver(env: Place['env']): Promise<Finding> {
  const port = env['PORT'] || '8080';
  const host = loopbackOf(env['HOST'] || '127.0.0.1');
  const where = `http://${host.includes(':') ? `[${host}]` : host}:${port}/webhooks`;
  if (!/^\d{1,5}$/.test(port) || Number(port) === 0 || Number(port) > 65_535) {
    const todo = 'Set PORT to the one that it was started with.';
    return { check: 'receiver', state: 'warn', found: `PORT is ${port}: not asked`, todo };
  }
  const status = await ask(where);
  if (status === METHOD_NOT_ALLOWED) return ok('receiver', `${where} takes webhooks`);
  return {
    check: 'receiver',
    state: 'fail',
    found: status === null ? `nobody answers at ${where}` : `something else answers at ${where}: ${status}`,
    todo: 'Start "carbon-mirror receive" (or "up"), or set HOST and PORT as it has them.',
  };
}

const DAY_MS = 86_400_000;

/** What the door has turned away since yesterday; it fails where nothing genuine came since that began. */
export async function checkRefusals(reader: Reader, env: Place['env'], now: number): Promise<Finding[]> {
  const own = (env['REGISTRY_HEADER_PREFIX'] || 'registry').toLowerCase();
  const sums = await sumRefusals(reader, new Date(now - DAY_MS).toISOString());
  if (sums.length === 0) return [ok('refusals', 'no post was refused since yesterday')];
  const acceptedAt = await readAcceptedAt(reader);
  return sums.slice(0, MOST_SUMS).map(sum => ({
    check: 'refusals',
    state: isSigned(sum) && (acceptedAt ?? '') < sum.since ? 'fail' : 'warn',
    found: `${describePosts(sum)} refused since ${describeMinute(sum.since, now)}, ${describeReason(sum)}`,
    todo: `${adviceFor(sum, own)} See "carbon-mirror deliveries list --refused".`,
  }));
}

const HOUR_MS = 3_600_000;
/** A registry that does not see our answers sends again some times, not every minute. */
const MANY_REPEATS = 60;

/** One captured delivery can be sent again for ever: there is no instant in what is signed. */
export async function checkRepeats(reader: Reader, now: number): Promise<Finding> {
  const most = await findMostRepeated(reader, new Date(now - HOUR_MS).toISOString());
  if (most === null) return ok('repeats', 'no delivery came twice within the hour');
  const found = `the same delivery came ${most.posts} times within the hour, last as number ${most.newestId}`;
  if (most.posts < MANY_REPEATS) return ok('repeats', found);
  const todo =
    'Reads for it slow down to one in 15 s. Somebody sends what was captured: let only the registry reach the receiver ' +
    `(docs/hardening.md), and see "carbon-mirror deliveries show ${most.newestId}".`;
  return { check: 'repeats', state: 'warn', found, todo };
}

const MOST_SUMS = 5;

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

function adviceFor({ reason, headerPrefix }: RefusalSum, own: string): string {
  if (reason === 'signature_not_valid') return "Is WEBHOOK_SECRETS the registry's?";
  if (reason === 'no_signature' && headerPrefix !== '') {
    return `Is REGISTRY_HEADER_PREFIX right? It is "${own}", and the sender's is "${headerPrefix}".`;
  }
  if (reason === 'not_stored') return "The receiver's log says why: the disk, a lock, or too many at once.";
  return 'The registry signs every delivery: whoever sent these is somebody else.';
}

async function ask(url: string): Promise<number | null> {
  try {
    const asked = request(url, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS), agent: false });
    asked.end();
    const [response] = await once(asked, 'response');
    response.resume();
    return Number(response.statusCode);
  } catch {
    return null;
  }
}

function loopbackOf(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}
