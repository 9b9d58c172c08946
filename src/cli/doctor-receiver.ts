import { once } from 'node:events';
import { request } from 'node:http';
import { type Finding, ok } from './finding.js';
import type { Place } from './place.js';

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
