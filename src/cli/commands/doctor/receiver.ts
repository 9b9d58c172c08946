import { once } from 'node:events';
import { request } from 'node:http';
import type { Reader } from '../../../engines/contract/reader.js';
import { findMostRepeated } from '../../../query/inbox/deliveries-and-jobs.js';
import { readRefusalCauses } from '../../../query/inbox/causes.js';
import { type Finding, ok } from '../../../engines/contract/finding.js';
import { type Place, reading } from '../../place/place.js';
import { markOf, RECEIVER_HEADER } from '../../../app/signs.js';
import { readProcesses } from '../../../query/inbox/signs.js';

const ANSWER_WITHIN_MS = 3000;

/** The door refuses a GET, and says thereby that it is there, and which one it is. */
export async function checkReceiver(place: Place): Promise<Finding> {
  const { env } = place;
  const port = env['PORT'] || '8080';
  const host = loopbackOf(env['HOST'] || '127.0.0.1');
  const where = `http://${host.includes(':') ? `[${host}]` : host}:${port}/webhooks`;
  if (!/^\d{1,5}$/.test(port) || Number(port) === 0 || Number(port) > 65_535) {
    const todo = 'Set PORT to the one that it was started with.';
    return { check: 'receiver', state: 'warn', found: `PORT is ${port}: not asked`, todo };
  }
  const answer = await ask(where);
  const mark = answer?.mark ?? null;
  if (mark !== null && (await readMarks(place)).includes(mark))
    return ok('receiver', `${where} takes webhooks`);
  return {
    check: 'receiver',
    state: 'fail',
    found: describeStranger(where, answer),
    todo: 'Start "carbon-mirror receive" (or "up"), or set HOST and PORT as it has them.',
  };
}

function describeStranger(where: string, answer: Answer | null): string {
  if (answer === null) return `nobody answers at ${where}`;
  if (answer.mark === null) return `something else answers at ${where}: ${answer.status}`;
  return `the receiver of another mirror answers at ${where}: what it takes does not come here`;
}

/** Of the receivers that store where this place is. Where there is none to open, other checks say so. */
async function readMarks(place: Place): Promise<string[]> {
  try {
    const processes = await reading(place, reader => readProcesses(reader, 'receive'));
    return processes.map(({ startedAt, ...each }) => markOf({ ...each, startedAt: Date.parse(startedAt) }));
  } catch {
    return [];
  }
}

export async function checkRefusals(reader: Reader, now: number): Promise<Finding[]> {
  const causes = await readRefusalCauses(reader, now);
  if (causes.length === 0) return [ok('refusals', 'no post was refused since yesterday')];
  return causes.map(({ isFault, ...cause }) => ({ ...cause, state: isFault ? 'fail' : 'warn' }));
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
    `(docs/security.md), and see "carbon-mirror deliveries show ${most.newestId}".`;
  return { check: 'repeats', state: 'warn', found, todo };
}

interface Answer {
  readonly status: number;
  /** Of a receiver. */
  readonly mark: string | null;
}

async function ask(url: string): Promise<Answer | null> {
  try {
    const asked = request(url, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS), agent: false });
    asked.end();
    const [response] = await once(asked, 'response');
    response.resume();
    const { [RECEIVER_HEADER]: mark = null } = response.headers;
    return { status: Number(response.statusCode), mark };
  } catch {
    return null;
  }
}

function loopbackOf(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}
