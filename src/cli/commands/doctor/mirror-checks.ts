import { readCallsPerSecond } from '../../../app/config/read-settings.js';
import type { Environment } from '../../../app/config/define-setting.js';
import type { WorkSettings } from '../../../app/config/settings-table.js';
import { fail, type Finding, ok, warn } from '../../../store/contract/finding.js';
import type { Reader } from '../../../store/contract/reader.js';
import {
  compareStandings,
  type FreshnessStanding,
  wordsOf,
} from '../../../query/freshness/describe-freshness.js';
import { readRejections } from '../../../query/inbox/rejected-webhooks.js';
import { findMostDuplicated } from '../../../query/inbox/deliveries.js';
import { describeRejection } from '../../../query/inbox/troubles.js';
import { readLatestAnswers } from '../../../query/freshness/latest-answers.js';
import { describeFirstReads, estimateFirstReads } from '../../../query/first-reads.js';
import { readOrigin } from '../../../query/names.js';
import { SYNCS } from '../../../query/lists/list-definitions.js';
import { readAll } from '../../../query/lists/read-rows.js';
import { type Status, worstOf } from '../../../query/status.js';
import { formatAge } from '../../../text/duration.js';
import { formatCount } from '../../../text/numbers.js';
import { describeFindingCounts, describeRemedy, FINDINGS_ADVICE } from '../../describe-findings.js';

/** Input of each check of the mirror. */
interface MirrorCheckInput {
  readonly reader: Reader;
  readonly now: number;
  readonly status: Status;
  /** Null if the settings of the worker are incomplete. */
  readonly workSettings: WorkSettings | null;
  readonly env: Environment;
}

type CheckResult = Finding | readonly Finding[];
/** Checks one aspect of the mirror. */
type MirrorCheck = (input: MirrorCheckInput) => CheckResult | Promise<CheckResult>;

/** Descriptions of the forms in which the registry answers. */
const FORM_DESCRIPTIONS: Readonly<Record<string, string>> = {
  list: 'a list',
  pages: 'a list in pages',
  object: 'one object',
  none: 'no rows',
  unusable: 'an unreadable answer',
};

const NOT_OFFERED_ADVICE =
  'The registry does not offer it in a known form. It is checked daily, and by "carbon-mirror sync". ' +
  'To see the answer: carbon-mirror query "SELECT * FROM resource_states WHERE not_offered_at IS NOT NULL".';

const NO_WEBHOOK_ADVICE =
  'Check that the app has a webhook URL at the registry, and that it reaches "carbon-mirror receive".';
const STATUS_ADVICE = 'See "carbon-mirror status" for the reasons.';

const FIRST_READS_ADVICE =
  'Wait: each organization is shown as soon as it was read. Most certificates follow later. To speed it up, raise ' +
  'REGISTRY_REQUESTS_PER_SECOND as far as the registry permits.';

const CHECKED_TROUBLES = ['worker', 'backlog', 'jobs'];
const CLOSED_STATES = ['suspended', 'uninstalled'];
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const END_OF_TIME = '9999-12-31T23:59:59.999Z';
/** A running worker counts findings at least twice within this time, however long a count takes. */
const MAX_COUNT_AGE_MS = 8 * HOUR_MS;
const NOT_COUNTED_ADVICE = 'Check that a worker is running. Its log says why findings are no longer counted.';
/** A registry that misses our answers repeats a delivery a few times. More per hour means that somebody replays it. */
const MANY_DUPLICATES = 60;

/** Checks of what the databases contain, by name. */
export const MIRROR_CHECKS = {
  deliveries: ({ status: { newestDeliveryAt, organizations, ignored }, now }) => {
    if (newestDeliveryAt === null) {
      const found = 'no webhook has ever arrived';
      const isInstalled = organizations.some(({ state }) => state === 'active');
      return isInstalled ? warn('deliveries', found, NO_WEBHOOK_ADVICE) : ok('deliveries', found);
    }
    const found = `the newest arrived ${formatAge(newestDeliveryAt, now)} ago`;
    if (ignored === 0) return ok('deliveries', found);
    const todo = 'See "carbon-mirror deliveries list --ignored" for the reasons.';
    return warn('deliveries', `${found}; ${ignored} ignored in the last 24 hours`, todo);
  },

  /** Reports troubles of the worker and its jobs. Other checks cover the receiver, the registry and rejected webhooks. */
  troubles: ({ status, now }) => {
    const { worker, jobs, issues } = status;
    const troubles = issues
      .filter(({ check }) => CHECKED_TROUBLES.includes(check))
      .map(trouble => (trouble.isFault ? fail : warn)(trouble.check, trouble.found, describeRemedy(trouble)));
    const passed = [
      ok('worker', `last heartbeat ${formatAge(worker.seenAt ?? '', now)} ago`),
      ok('jobs', `${jobs.failed} failed, ${jobs.paused} paused`),
    ];
    return [...passed.filter(({ check }) => troubles.every(trouble => trouble.check !== check)), ...troubles];
  },

  /** Reports how far the first reads of new organizations are, and how long the others will take. */
  first_reads: async ({ status: { firstReads }, env }) => {
    if (firstReads === null) return [];
    const estimate = estimateFirstReads(firstReads, await readCallsPerSecond(env));
    return {
      ...warn('first_reads', describeFirstReads(estimate), FIRST_READS_ADVICE),
      values: { ...estimate },
    };
  },

  /** Fails if a webhook announced a change that was not read; warns of other lists that are not fresh. */
  freshness: ({ status: { organizations } }) => {
    const notFresh = organizations.flatMap(({ name, organization_id: id, resources }) =>
      resources.filter(isStaleOrFailing).map(list => ({ ...list, name: name ?? id ?? '' })),
    );
    const unread = notFresh.filter(({ reason }) => reason === 'unread_webhook' || reason === 'worker_gone');
    const describeExample = (count: string, { name, resource, ...standing }: (typeof notFresh)[number]) =>
      `${count}, such as ${name}, ${resource}: ${wordsOf(standing)}`;
    const [firstUnread] = unread;
    if (firstUnread !== undefined)
      return fail(
        'freshness',
        describeExample(`${formatCount(unread.length, 'resource')} with unread deliveries`, firstUnread),
        STATUS_ADVICE,
      );
    const [worst] = notFresh.toSorted(compareStandings);
    if (worst !== undefined)
      return warn(
        'freshness',
        describeExample(`${formatCount(notFresh.length, 'resource')} not fresh, or failing`, worst),
        STATUS_ADVICE,
      );
    const waiting = organizations.filter(
      organization =>
        !CLOSED_STATES.includes(organization.state) && worstOf(organization).reason === 'waiting',
    );
    if (waiting.length === 0) return ok('freshness', 'all readable resources are fresh');
    return warn(
      'freshness',
      `${formatCount(waiting.length, 'organization')} never read completely; all others are fresh`,
      STATUS_ADVICE,
    );
  },

  drift: async ({ reader, now }) => {
    const yesterday = { column: 'started_at', from: new Date(now - DAY_MS).toISOString(), to: END_OF_TIME };
    const syncs = await readAll(reader, SYNCS, [{ column: 'drift', above: 0 }, yesterday], null);
    if (syncs.length === 0) return [];
    const found = `${syncs.reduce((sum, { drift }) => sum + Number(drift), 0)} changes in the last 24 hours were not announced by a webhook`;
    const todo =
      'Webhooks are lost, the webhook URL is wrong, or the registry sends none for such changes. See the view "drift".';
    return warn('drift', found, todo);
  },

  /** Reports findings in the registry's data. Restatements are listed, but are no reason for a warning. */
  findings: ({ status, now }) => {
    const { countedAt, counts } = status.findings;
    if (countedAt === null) return [];
    const implausible = describeFindingCounts(counts.filter(({ finding }) => finding !== 'restatements'));
    const allCounts = describeFindingCounts(counts) ?? 'all sums balance, and nothing implausible was found';
    const found = `${allCounts}, counted ${formatAge(countedAt, now)} ago`;
    if (implausible !== null) return warn('findings', found, FINDINGS_ADVICE);
    return now - Date.parse(countedAt) < MAX_COUNT_AGE_MS
      ? ok('findings', found)
      : warn('findings', found, NOT_COUNTED_ADVICE);
  },

  rejected_webhooks: async ({ reader, now }) => {
    const rejections = await readRejections(reader, now);
    if (rejections.length === 0)
      return [ok('rejected_webhooks', 'no webhooks were rejected in the last 24 hours')];
    return rejections.map(({ isFault, ...sum }) => {
      const { found, todo } = describeRejection(sum, now);
      return (isFault ? fail : warn)('rejected_webhooks', found, todo);
    });
  },

  /** Reports replayed deliveries. The signed text contains no time, so a captured delivery stays valid forever. */
  duplicates: async ({ reader, now }) => {
    const mostRepeated = await findMostDuplicated(reader, new Date(now - HOUR_MS).toISOString());
    if (mostRepeated === null) return ok('duplicates', 'no delivery arrived twice in the last hour');
    const found = `the same delivery arrived ${mostRepeated.times} times in the last hour, most recently as number ${mostRepeated.newest_id}`;
    if (mostRepeated.times < MANY_DUPLICATES) return ok('duplicates', found);
    return warn(
      'duplicates',
      found,
      'Its reads slow down to one per 15 s. Somebody is replaying a captured delivery: let only the registry reach the receiver ' +
        `(docs/security.md). See "carbon-mirror deliveries show ${mostRepeated.newest_id}".`,
    );
  },

  /** Fails if the settings name another registry or app than the one that filled the mirror. */
  origin: async ({ reader, workSettings }) => {
    const origin = await readOrigin(reader);
    if (origin === null || workSettings === null) return [];
    const { baseUrl, appId } = workSettings;
    if (origin.base_url === new URL(baseUrl).href && origin.app_id === appId) return [];
    const found = `the mirror was filled from ${origin.base_url} by app ${origin.app_id}`;
    return fail('origin', found, 'Use another DATA_DIR with these settings, or restore the old settings.');
  },

  /** Reports the registry's last answer to each resource, and warns of errors and unusable answers. */
  answers: async ({ reader, now }) => {
    const groups = await readLatestAnswers(reader);
    return groups.map(
      ({ resource, status, form, organizations, last_answer_at: at, example, not_offered: notOffered }) => {
        const answer = `${status}, ${FORM_DESCRIPTIONS[form] ?? form}, ${formatAge(at, now)} ago`;
        const owner = organizations === 1 ? example : `${organizations} organizations`;
        const found = `${resource}: ${answer}, for ${owner}`;
        if (status < 300 && form !== 'unusable' && notOffered === 0) return ok('answers', found);
        const includedExample = organizations === 1 ? '' : `, ${example} included`;
        const todo = notOffered > 0 ? NOT_OFFERED_ADVICE : STATUS_ADVICE;
        return warn('answers', `${found}${includedExample}`, todo);
      },
    );
  },
} satisfies Readonly<Record<string, MirrorCheck>>;

/** Returns whether `doctor` must warn about a list, because its data is stale or its reads fail. */
function isStaleOrFailing({ state, reason, failing_since: failing }: FreshnessStanding): boolean {
  if (state === 'never_read') return reason !== 'waiting';
  return state === 'stale' || ((state === 'fresh' || reason === 'no_permission') && failing !== null);
}
