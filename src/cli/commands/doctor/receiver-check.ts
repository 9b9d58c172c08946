import { once } from 'node:events';
import { request as sendRequest } from 'node:http';
import type { Environment } from '../../../app/config/define-setting.js';
import { fingerprintProcess, RECEIVER_FINGERPRINT_HEADER } from '../../../app/process-identity.js';
import type { readProcesses } from '../../../query/inbox/activity.js';
import { fail, type Finding, ok } from '../../../store/contract/finding.js';
import { formatReceiverUrl } from '../../post-webhook.js';

/** The processes that receive webhooks for a mirror, as their heartbeats in its database show them. */
export type ReceiverProcesses = Awaited<ReturnType<typeof readProcesses>>;

const ANSWER_TIMEOUT_MS = 3000;

/**
 * Checks that a receiver of this mirror answers at HOST and PORT. `ownReceivers` are the receiver processes that the mirror's
 * database has recorded.
 */
export async function checkReceiver(env: Environment, ownReceivers: ReceiverProcesses): Promise<Finding> {
  const url = formatReceiverUrl(env['HOST'] || '127.0.0.1', env['PORT'] || '8080');
  const answer = await readFingerprint(url);
  const ownFingerprints = ownReceivers.map(receiver =>
    fingerprintProcess({ ...receiver, startedAt: Date.parse(receiver.started_at) }),
  );
  // The fingerprint tells this mirror's receiver from any other server.
  if (ownFingerprints.includes(answer?.fingerprint ?? '')) return ok('receiver', `${url} accepts webhooks`);
  const todo = 'Start "carbon-mirror receive" (or "up"), or set HOST and PORT to where it listens.';
  return fail('receiver', describeWrongReceiver(url, answer), todo);
}

/** The kind of server that answers at the URL of the receiver. */
type ReceiverFingerprint = Awaited<ReturnType<typeof readFingerprint>>;

/** Describes why the server at this URL is not the mirror's own receiver. */
function describeWrongReceiver(url: string, answer: ReceiverFingerprint): string {
  if (answer === null) return `nothing answers at ${url}`;
  if (answer.fingerprint === '') return `another program answers at ${url} with status ${answer.status}`;
  return `the receiver of another mirror answers at ${url}: its deliveries are not stored here`;
}

/**
 * Requests a URL. Returns the HTTP status and the fingerprint, which is the value of the header in which a webhook receiver
 * identifies its process. The fingerprint is empty if the header is absent. Returns null if the server does not answer.
 */
async function readFingerprint(url: string) {
  try {
    const request = sendRequest(url, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS), agent: false });
    request.end();
    const [response] = await once(request, 'response');
    response.resume();
    return {
      status: Number(response.statusCode),
      fingerprint: String(response.headers[RECEIVER_FINGERPRINT_HEADER] ?? ''),
    };
  } catch {
    return null;
  }
}
