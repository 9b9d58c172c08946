import type { WorkSettings } from '../../../app/config/settings.js';
import { fail, type Finding, ok, warn } from '../../../store/contract/finding.js';
import type { Reader } from '../../../store/contract/reader.js';
import { compareStandings, type Standing, wordsOf } from '../../../query/freshness/words.js';
import { readRejectionCauses } from '../../../query/inbox/rejected-webhooks.js';
import { findMostDuplicated } from '../../../query/inbox/deliveries.js';
import { findTroubles } from '../../../query/inbox/troubles.js';
import { readAnswers } from '../../../query/freshness/answers.js';
import { readOrigin } from '../../../query/names.js';
import { SYNCS } from '../../../query/lists/lists.js';
import { readAll } from '../../../query/lists/read.js';
import { type Status, worstOf } from '../../../query/status.js';
import { formatAge } from '../../../text/duration.js';
import { formatCount } from '../../../text/numbers.js';
import { describeFindingCounts, describeRemedy, FINDINGS_ADVICE } from '../../health.js';

interface Mirrored {
  readonly reader: Reader;
  readonly now: number;
  readonly status: Status;
  readonly work: WorkSettings | null;
}

type Found = Finding | readonly Finding[];
type Check = (mirrored: Mirrored) => Found | Promise<Found>;

const FORMS: Readonly<Record<string, string>> = {
  list: 'a list',
  pages: 'a list in pages',
  object: 'one object',
  none: 'no rows',
  unusable: 'an unreadable answer',
};

const NOT_OFFERED =
  'The registry does not offer it in a known form. It is checked daily, and by "carbon-mirror sync". ' +
  'To see the answer: carbon-mirror query "SELECT * FROM resource_states WHERE not_offered_at IS NOT NULL".';

const ON_SILENCE =
  'Check that the app has a webhook URL at the registry, and that it reaches "carbon-mirror receive".';
const SEE_STATUS = 'See "carbon-mirror status" for the reasons.';

const CHECKED = ['worker', 'backlog', 'jobs'];
const CLOSED = ['suspended', 'uninstalled'];
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const LAST = '9999';
/** A worker counts twice in that time, however long it takes. */
const COUNTED_MS = 8 * HOUR_MS;
const NOT_COUNTED = 'Check that a worker is running. Its log says why findings are no longer counted.';
/** A registry that does not see our answers sends again some times, not every minute. */
const MANY_DUPLICATES = 60;

/** What stands in the databases. */
export const MIRROR_CHECKS = {
  deliveries: ({ status: { newestDeliveryAt, organizations, ignored }, now }) => {
    if (newestDeliveryAt === null) {
      const found = 'no webhook has ever arrived';
      const isInstalled = organizations.some(({ state }) => state === 'active');
      return isInstalled ? warn('deliveries', found, ON_SILENCE) : ok('deliveries', found);
    }
    const found = `the newest arrived ${formatAge(newestDeliveryAt, now)} ago`;
    if (ignored === 0) return ok('deliveries', found);
    const todo = 'See "carbon-mirror deliveries list --ignored" for the reasons.';
    return warn('deliveries', `${found}; ${ignored} ignored in the last 24 hours`, todo);
  },

  /** The receiver and the registry are asked themselves, and all rejected webhooks are told. */
  troubles: ({ status, now }) => {
    const { worker, jobs } = status;
    const found = findTroubles(status, now)
      .filter(({ check }) => CHECKED.includes(check))
      .map(each => (each.isFault ? fail : warn)(each.check, each.found, describeRemedy(each)));
    const well = [
      ok('worker', `last heartbeat ${formatAge(worker.seenAt ?? '', now)} ago`),
      ok('jobs', `${jobs.failed} failed, ${jobs.paused} paused`),
    ];
    return [...well.filter(({ check }) => found.every(each => each.check !== check)), ...found];
  },

  /** What a webhook announced and nobody has read, or nobody could, is a fault of ours. */
  freshness: ({ status: { organizations } }) => {
    const troubled = organizations.flatMap(({ name, organization_id: id, resources }) =>
      resources.filter(isTroubled).map(each => ({ ...each, name: name ?? id ?? '' })),
    );
    const unread = troubled.filter(({ reason }) => reason === 'unread_webhook' || reason === 'worker_gone');
    const printNotice = (count: string, { name, resource, ...standing }: (typeof troubled)[number]) =>
      `${count}, such as ${name}, ${resource}: ${wordsOf(standing)}`;
    const waiting = organizations.filter(
      each => !CLOSED.includes(each.state) && worstOf(each).reason === 'waiting',
    );
    const [[missed], [worst]] = [unread, troubled.toSorted(compareStandings)];
    if (missed !== undefined)
      return fail(
        'freshness',
        printNotice(`${formatCount(unread.length, 'resource')} with unread deliveries`, missed),
        SEE_STATUS,
      );
    if (worst === undefined && waiting.length === 0)
      return ok('freshness', 'all readable resources are fresh');
    if (worst === undefined)
      return warn(
        'freshness',
        `${formatCount(waiting.length, 'organization')} never read completely; all others are fresh`,
        SEE_STATUS,
      );
    return warn(
      'freshness',
      printNotice(`${formatCount(troubled.length, 'resource')} not fresh, or failing`, worst),
      SEE_STATUS,
    );
  },

  drift: async ({ reader, now }) => {
    const yesterday = { column: 'started_at', from: new Date(now - DAY_MS).toISOString(), to: LAST };
    const syncs = await readAll(reader, SYNCS, [{ column: 'drift', above: 0 }, yesterday], null);
    if (syncs.length === 0) return [];
    const found = `${syncs.reduce((sum, { drift }) => sum + Number(drift), 0)} changes in the last 24 hours were not announced by a webhook`;
    const todo =
      'Webhooks are lost, the webhook URL is wrong, or the registry sends none for such changes. See the view "drift".';
    return warn('drift', found, todo);
  },

  /** What the registry restated is told and no fault. */
  findings: ({ status, now }) => {
    const { countedAt, counts } = status.findings;
    const wrong = describeFindingCounts(counts.filter(({ finding }) => finding !== 'restatements'));
    if (countedAt === null) return [];
    const told = describeFindingCounts(counts) ?? 'all sums balance, and nothing implausible was found';
    const found = `${told}, counted ${formatAge(countedAt, now)} ago`;
    if (wrong !== null) return warn('findings', found, FINDINGS_ADVICE);
    return now - Date.parse(countedAt) < COUNTED_MS
      ? ok('findings', found)
      : warn('findings', found, NOT_COUNTED);
  },

  rejected_webhooks: async ({ reader, now }) => {
    const causes = await readRejectionCauses(reader, now);
    if (causes.length === 0)
      return [ok('rejected_webhooks', 'no webhooks were rejected in the last 24 hours')];
    return causes.map(({ isFault, check, found, todo }) => (isFault ? fail : warn)(check, found, todo));
  },

  /** One captured delivery can be sent again for ever: there is no instant in what is signed. */
  duplicates: async ({ reader, now }) => {
    const most = await findMostDuplicated(reader, new Date(now - HOUR_MS).toISOString());
    if (most === null) return ok('duplicates', 'no delivery arrived twice in the last hour');
    const found = `the same delivery arrived ${most.times} times in the last hour, most recently as number ${most.newest_id}`;
    if (most.times < MANY_DUPLICATES) return ok('duplicates', found);
    return warn(
      'duplicates',
      found,
      'Its reads slow down to one per 15 s. Somebody is replaying a captured delivery: let only the registry reach the receiver ' +
        `(docs/security.md). See "carbon-mirror deliveries show ${most.newest_id}".`,
    );
  },

  origin: async ({ reader, work }) => {
    const from = await readOrigin(reader);
    if (from === null || work === null) return [];
    if (from.base_url === new URL(work.baseUrl).href && from.app_id === work.appId) return [];
    const found = `the mirror was filled from ${from.base_url} by app ${from.app_id}`;
    return fail('origin', found, 'Use another DATA_DIR with these settings, or restore the old settings.');
  },

  /** What the registry really answered the last time that each resource was asked for. */
  answers: async ({ reader, now }) => {
    const groups = await readAnswers(reader);
    return groups.map(
      ({ resource, status, form, organizations, last_answer_at: at, example, not_offered: refused }) => {
        const told = `${resource}: ${status}, ${FORMS[form] ?? form}, ${formatAge(at, now)} ago, for`;
        const whose = organizations === 1 ? example : `${organizations} organizations`;
        if (status < 300 && form !== 'unusable' && refused === 0) return ok('answers', `${told} ${whose}`);
        const among = organizations === 1 ? '' : `, ${example} included`;
        return warn('answers', `${told} ${whose}${among}`, refused > 0 ? NOT_OFFERED : SEE_STATUS);
      },
    );
  },
} satisfies Readonly<Record<string, Check>>;

/** Stale, never read for a fault, or with a last read that failed or was refused although it is permitted. */
function isTroubled({ state, reason, failing_since: failing }: Standing): boolean {
  if (state === 'never_read') return reason !== 'waiting';
  return state === 'stale' || ((state === 'fresh' || reason === 'no_permission') && failing !== null);
}
