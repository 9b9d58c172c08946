import { once } from 'node:events';
import { request } from 'node:http';
import { markOf, RECEIVER_HEADER } from '../../../app/heartbeats.js';
import type { Environment } from '../../../app/config/row.js';
import { type Finding, fail, ok } from '../../../store/contract/finding.js';
import type { readProcesses } from '../../../query/inbox/heartbeats.js';

export type Receivers = Awaited<ReturnType<typeof readProcesses>>;

const ANSWER_WITHIN_MS = 3000;
const LOOPBACK: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** Of all that answer there, ours are those that store where this mirror is. The receiver refuses a GET, and says thereby that it is there, and which one it is. */
export async function checkReceiver(env: Environment, ours: Receivers): Promise<Finding> {
  const port = env['PORT'] || '8080';
  const named = env['HOST'] || '127.0.0.1';
  const host = LOOPBACK[named] ?? named;
  const where = `http://${host.includes(':') ? `[${host}]` : host}:${port}/webhooks`;
  const answer = await ask(where);
  const marks = ours.map(each => markOf({ ...each, startedAt: Date.parse(each.startedAt) }));
  if (marks.includes(answer?.mark ?? '')) return ok('receiver', `${where} takes webhooks`);
  const todo = 'Start "carbon-mirror receive" (or "up"), or set HOST and PORT as it has them.';
  return fail('receiver', describeStranger(where, answer), todo);
}

function describeStranger(where: string, answer: Awaited<ReturnType<typeof ask>>): string {
  if (answer === null) return `nobody answers at ${where}`;
  if (answer.mark === '') return `something else answers at ${where}: ${answer.status}`;
  return `the receiver of another mirror answers at ${where}: what it takes does not come here`;
}

/** What answers there, with the mark that only receivers have; null where nobody does. */
async function ask(url: string) {
  try {
    const asked = request(url, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS), agent: false });
    asked.end();
    const [response] = await once(asked, 'response');
    response.resume();
    return { status: Number(response.statusCode), mark: String(response.headers[RECEIVER_HEADER] ?? '') };
  } catch {
    return null;
  }
}
