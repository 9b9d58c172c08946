/**
 * `sync`: enqueues reads of the registry, waits until a worker has done them, and prints what changed. Without a running
 * worker this process does the work (follow-jobs.ts). The exit code says whether everything that was requested was read; a read
 * that failed is retried later by a worker.
 */
import {
  BEFORE_ITS_TURN,
  type FollowedJob,
  readSynced,
  type SyncedResourceResult,
  SYNCED_COLUMNS,
} from '../../../query/sync-progress.js';
import { countInstalled } from '../../../query/coverage.js';
import { wordsOf } from '../../../query/freshness/describe-freshness.js';
import { RESOURCES } from '../../../sync/plan.js';
import { truncateName } from '../../../text/clean-text.js';
import { defineCommand } from '../../define-command.js';
import { EXIT, type ExitCode } from '../../exit.js';
import { createCheckError, CommandError } from '../../command-error.js';
import { getExitCodeOfJobError } from '../../errors/explain-error.js';
import { defineChoice, defineFlag, ORGANIZATION_OPTION } from '../../options.js';
import { formatCount, formatWithCommas } from '../../../text/numbers.js';

const SYNCED_RESOURCES = [...RESOURCES, 'certificates'];
const TABLE_SHAPE = {
  importantColumns: ['organization', 'resource', 'state'],
  tonneColumns: ['added', 'changed', 'removed', 'unchanged'],
  emptyMessage: '',
};

export const SYNC = defineCommand({
  summary: 'Read the registry now',
  details: 'Uses the running worker. Without one, this process reads.',
  options: {
    organization: ORGANIZATION_OPTION,
    resource: defineChoice('name', 'only this resource', SYNCED_RESOURCES),
    full: defineFlag(
      'read even lists that were just read, compare every column and download every certificate again',
    ),
  },
  formats: { json: 'print the result as JSON' },
  examples: [
    'carbon-mirror sync --organization ID --resource retirements',
    'carbon-mirror sync --full --json',
  ],
  run: async (context, selection) => {
    const { enqueueSync, followJobs } = await import('./follow-jobs.js');
    const { io, format, printRows, printJson, printLines, printNotice } = context;
    const interrupted = io.createInterruptSignal();
    const startedAt = io.now();
    const request = await enqueueSync(context, selection);
    const { jobs, by } = await followJobs(context, request, interrupted);
    const reader = await context.openReader();
    const resources = selection.resource === undefined ? SYNCED_RESOURCES : [selection.resource];
    const synced = await readSynced(reader, request, resources);
    const failedJobs = jobs.filter(({ state }) => state !== 'done');
    const seconds = (io.now() - startedAt) / 1000;
    if (format === 'json') await printJson({ by, seconds, resources: synced, failures: failedJobs });
    else if (synced.length > 0) {
      const shown =
        countOrganizations(synced) < 2 ? synced.filter(list => !isIdle(list)) : synced.filter(isWorthShowing);
      const tableRows = shown.map(row => ({ ...row, state: wordsOf(row) }));
      if (tableRows.length > 0) await printRows(SYNCED_COLUMNS, tableRows, TABLE_SHAPE);
      await printLines(summarizeSync(synced));
    }
    throwIfSyncIncomplete(failedJobs, synced, selection.organization);
    if (synced.length === 0 && selection.resource === 'members' && (await countInstalled(reader)) > 0)
      throw createCheckError(
        'Members were not read, because they are not mirrored.',
        'Set MIRROR_MEMBERS=on to mirror them.',
      );
    if (synced.length === 0) printNotice('There was nothing to read: no organization has installed the app.');
    printNotice(`Read in ${((io.now() - startedAt) / 1000).toFixed(1)} s by ${by}.`);
  },
});

/** Exit codes by precedence: the first that any failed job has is the exit code of the command. */
const EXIT_CODE_PRECEDENCE: readonly ExitCode[] = [EXIT.notAuthorized, EXIT.unreachable, EXIT.usage];

/** Throws unless all requested lists were read. The exit code depends on the kind of failure. */
function throwIfSyncIncomplete(
  failedJobs: readonly FollowedJob[],
  lists: readonly SyncedResourceResult[],
  organization: string | undefined,
): void {
  if (failedJobs.length > 0) {
    const codes = failedJobs.map(({ error_or_pause_code: code }) => getExitCodeOfJobError(code ?? ''));
    const exitCode = EXIT_CODE_PRECEDENCE.find(code => codes.includes(code)) ?? EXIT.checkFailed;
    const advice = 'Waiting jobs are retried by the next worker or the next "carbon-mirror sync".';
    throw new CommandError(exitCode, failedJobs.map(describeFailedJob), advice);
  }
  const failedLists = lists.filter(list => list.refused || isFailing(list));
  if (failedLists.length > 0) {
    const exitCode = failedLists.some(({ refused }) => refused) ? EXIT.notAuthorized : EXIT.checkFailed;
    const isUnconfirmed = failedLists.some(({ reason }) => reason === 'removals_unconfirmed');
    const when = isUnconfirmed ? 'in a minute' : 'now';
    const advice = `A worker reads it again automatically. To retry it yourself, run "carbon-mirror sync" ${when}.`;
    throw new CommandError(exitCode, failedLists.map(describeFailedList), advice);
  }
  const closed = lists.find(({ reason }) => reason === 'suspended' || reason === 'uninstalled');
  if (organization !== undefined && closed !== undefined)
    throw new CommandError(
      EXIT.notAuthorized,
      `The app is ${closed.reason} on ${truncateName(closed.organization)}, so the registry refuses every read.`,
      'An administrator of the organization can change this at the registry.',
    );
  if (lists.length > 0 && !lists.some(wasRead))
    throw createCheckError(
      'No list could be read.',
      'The states above say why; "carbon-mirror doctor" says what to do.',
    );
}

/** Whether reads of a list fail. Ignores lists that the app may not read or that the registry does not offer. */
function isFailing({ state, failing_since: failingSince, error_code: code }: SyncedResourceResult): boolean {
  const isNotOffered = state === 'not_offered' && (code === 'not_found' || code === 'other_form');
  // A missing permission or a list that the registry does not offer is no failure.
  return state !== 'no_access' && !isNotOffered && failingSince !== null;
}

/**
 * Returns whether a list of an organization was read. Ignores projects, because they are public and need no
 * permission.
 */
function wasRead({ resource, state }: SyncedResourceResult): boolean {
  return resource !== 'projects' && !['no_access', 'never_read', 'not_read'].includes(state);
}

/** Returns a line such as "Acme, retirements: timeout". */
function describeFailedList({ organization, resource, refused, error }: SyncedResourceResult): string {
  const refusal = refused ? 'refused although permitted: ' : '';
  return `${truncateName(organization)}, ${resource}: ${refusal}${error ?? ''}`;
}

/** Returns a line such as "Job 46 (installation) failed: timeout". */
function describeFailedJob({ id, kind, state, run_at: runAt, ...job }: FollowedJob): string {
  const reason = job.last_error ?? job.error_or_pause_code ?? 'no reason given';
  const ending = state === 'failed' ? 'failed' : `is ${state}`;
  return `Job ${id} (${kind}) ${state === 'waiting' ? `failed, next try at ${runAt}` : ending}: ${reason}`;
}

/** Reasons of freshness that are no problem after a sync; null for a fresh list. */
const EXPECTED_REASONS = [...BEFORE_ITS_TURN, 'no_permission', null];

/** Whether a list has changes or problems, so that `sync` shows it. */
function isWorthShowing(list: SyncedResourceResult): boolean {
  const { added, changed, removed, reason, failing_since: failingSince, refused, noted } = list;
  if (refused || noted || failingSince !== null) return true;
  return added + changed + removed > 0 || !EXPECTED_REASONS.includes(reason);
}

/** Whether a sync had no certificate to download, so that its counts of certificates are all 0 although some are stored. */
function isIdle(list: SyncedResourceResult): boolean {
  return list.resource === 'certificates' && list.unchanged === 0 && !isWorthShowing(list);
}

/** Summarizes the result of `sync` in one line: organizations, lists by state, changed rows. */
function summarizeSync(lists: readonly SyncedResourceResult[]): string {
  const allStates = lists.map(list => (isFailing(list) ? 'failed' : list.state.replaceAll('_', ' ')));
  const stateCounts = [...new Set(allStates)].map(
    state => `${formatWithCommas(allStates.filter(each => each === state).length)} ${state}`,
  );
  const rowSums = (['added', 'changed', 'removed'] as const).map(
    name => `${formatWithCommas(lists.reduce((sum, list) => sum + list[name], 0))} ${name}`,
  );
  const organizations = formatCount(countOrganizations(lists), 'organization');
  const resources = `${formatCount(lists.length, 'resource')}: ${stateCounts.join(', ')}`;
  return `${organizations}; ${resources}; rows: ${rowSums.join(', ')}`;
}

function countOrganizations(lists: readonly SyncedResourceResult[]): number {
  return new Set(lists.map(list => list.organization_id)).size;
}
