import { existsEventsKey, readEventsKey } from '../../events/key-file.js';
import type { Subscription } from '../../events/port.js';
import { deriveKeyCheck } from '../../events/signing.js';
import { readNumberBefore } from '../../query/history/changes.js';
import type { Reader } from '../../store/contract/reader.js';
import { fail, type Finding, ok, warn } from '../../store/contract/finding.js';
import { formatCount } from '../../text/numbers.js';
import { toNullIfRefused } from '../evidence/evidence-log.js';
import { type SubscriptionsContext, withSubscriptions } from './open-subscriptions.js';
import { describeProblem } from './subscription-rows.js';

const CHECK = 'subscriptions';
const KEY_ADVICE =
  'Set EVENTS_KEY_FILE of the worker to the file with the key of the subscriptions. Until then no events are sent.';

const OVERDUE_ADVICE =
  'Start a worker with EVENTS_KEY_FILE. After "subscriptions replay" or "--from beginning", a worker may still be sending.';
const NO_ACCESS_ADVICE = 'Run doctor as the database role of the worker.';

/** How long changes may wait before they count as overdue. A worker that has the key sends them within seconds. */
const OVERDUE_MS = 5 * 60_000;

/** Checks for `doctor` that events can be sent to every subscriber, and that a worker sends them. */
export async function checkSubscriptions(context: SubscriptionsContext, reader: Reader): Promise<Finding[]> {
  const findings = await findSubscriptionProblems(context, reader).catch(toNullIfRefused);
  return findings ?? [warn(CHECK, 'this database role may not read the subscriptions', NO_ACCESS_ADVICE)];
}

/** Returns a finding for an unusable events key, and one for each subscription whose events wait. */
async function findSubscriptionProblems(context: SubscriptionsContext, reader: Reader): Promise<Finding[]> {
  return await withSubscriptions(context, async port => {
    const subscriptions = (await port?.list()) ?? [];
    if (port === null || subscriptions.length === 0) return [];
    const keyFault = findKeyFault(context.requireMirror().env['EVENTS_KEY_FILE'], subscriptions);
    const holds = await port.listHolds();
    const due = await readNumberBefore(reader, new Date(context.io.now() - OVERDUE_MS).toISOString());
    const problems = subscriptions.flatMap(subscription => {
      const own = holds.filter(({ subscription_id: id }) => id === subscription.id);
      const problem = describeProblem(subscription, own);
      if (problem === null) return subscription.change_cursor < due ? [reportOverdue(subscription)] : [];
      const advice = `See "carbon-mirror subscriptions show ${subscription.id}". After the cause is fixed: subscriptions resume ${subscription.id}.`;
      const found = `${subscription.id} (${subscription.url}): ${problem}`;
      return [subscription.state === 'paused' ? fail(CHECK, found, advice) : warn(CHECK, found, advice)];
    });
    const findings = [...(keyFault === null ? [] : [fail(CHECK, keyFault, KEY_ADVICE)]), ...problems];
    if (findings.length > 0) return findings;
    return [ok(CHECK, `${formatCount(subscriptions.length, 'subscription')}, all delivered or on time`)];
  });
}

/** Returns the finding for a subscription to which no worker sends, although changes wait and no event was refused. */
function reportOverdue({ id, url }: Subscription): Finding {
  return warn(CHECK, `${id} (${url}): changes have waited for more than 5 minutes`, OVERDUE_ADVICE);
}

/** Returns why the events key in `file` cannot be used for these subscriptions, or null if it can. */
function findKeyFault(file: string | undefined, subscriptions: readonly Subscription[]): string | null {
  if (!file) return 'there are subscriptions, but EVENTS_KEY_FILE is not set';
  if (!existsEventsKey(file)) return `the file ${file} of EVENTS_KEY_FILE does not exist`;
  try {
    const key = readEventsKey(file);
    const other = subscriptions.find(({ id, key_check: check }) => deriveKeyCheck(key, id) !== check);
    return other === undefined ? null : `EVENTS_KEY_FILE is not the key of the subscription ${other.id}`;
  } catch (error) {
    return `EVENTS_KEY_FILE cannot be used: ${error instanceof Error ? error.message : String(error)}`;
  }
}
