import {
  BEFORE_ITS_TURN,
  type Followed,
  readSynced,
  type Synced,
  SYNCED_COLUMNS,
} from '../../../query/sync-progress.js';
import { countKnown } from '../../../query/coverage.js';
import { wordsOf } from '../../../query/freshness/words.js';
import { RESOURCES } from '../../../sync/plan.js';
import { truncateName } from '../../../text/clean-text.js';
import { defineCommand } from '../../command.js';
import { createCheckError, CommandError, EXIT, type ExitCode } from '../../exit.js';
import { getExitCodeOfJobError } from '../../errors/explain-error.js';
import { defineChoice, defineFlag, ORGANIZATION_OPTION } from '../../options.js';
import { formatCount, formatWithCommas } from '../../../text/numbers.js';

const ALL = [...RESOURCES, 'certificates'];
const SHAPE = {
  importantColumns: ['organization', 'resource', 'state'],
  tonneColumns: ['added', 'changed', 'removed', 'unchanged'],
  emptyMessage: '',
};

export const SYNC = defineCommand({
  summary: 'Read the registry now',
  details: 'Uses the running worker. Without one, this process reads.',
  options: {
    organization: ORGANIZATION_OPTION,
    resource: defineChoice('name', 'only this resource', ALL),
    full: defineFlag(
      'also re-read what was read just now, compare every column, and download every certificate again',
    ),
  },
  formats: { json: 'print the result as JSON' },
  examples: [
    'carbon-mirror sync --organization ID --resource retirements',
    'carbon-mirror sync --full --json',
  ],
  run: async (context, typed) => {
    const { enqueueSync: askForSync, followJobs: follow } = await import('./jobs.js');
    const {
      io,
      format,
      openReader: reader,
      printRows: rows,
      printJson: value,
      printLines,
      printNotice,
    } = context;
    const interrupted = io.createInterruptSignal();
    const startedAt = io.now();
    const asked = await askForSync(context, typed);
    const { jobs, by } = await follow(context, asked, interrupted);
    const resources = typed.resource === undefined ? ALL : [typed.resource];
    const synced = await readSynced(await reader(), asked, resources);
    const failures = jobs.filter(({ state }) => state !== 'done');
    const seconds = (io.now() - startedAt) / 1000;
    if (format === 'json') await value({ by, seconds, resources: synced, failures });
    else if (synced.length > 0) {
      const shown = countOrganizations(synced) < 2 ? synced : synced.filter(isWorthShowing);
      const told = shown.map(row => ({ ...row, state: wordsOf(row) }));
      if (told.length > 0) await rows(SYNCED_COLUMNS, told, SHAPE);
      await printLines(describeSynced(synced));
    }
    demandWhole(failures, synced, typed.organization);
    if (synced.length === 0 && typed.resource === 'members' && (await countKnown(await reader())) > 0)
      throw createCheckError(
        'Members were not read, because they are not mirrored.',
        'Set MIRROR_MEMBERS=on to mirror them.',
      );
    if (synced.length === 0) printNotice('There was nothing to read: no organization has installed the app.');
    printNotice(`Read in ${((io.now() - startedAt) / 1000).toFixed(1)} s by ${by}.`);
  },
});

/** Where several things failed, the cause of most of them is named by the exit code. */
const GRAVEST_FIRST: readonly ExitCode[] = [EXIT.notAuthorized, EXIT.unreachable, EXIT.usage];

/** A job that is over and did not do what was asked for may be tried again later by itself. */
function demandWhole(
  failures: readonly Followed[],
  rows: readonly Synced[],
  organization: string | undefined,
): void {
  const unread = rows.filter(row => row.refused || isFailing(row));
  const closed = rows.find(({ reason }) => reason === 'suspended' || reason === 'uninstalled');
  if (failures.length > 0) {
    const codes = failures.map(({ error_or_pause_code: code }) => getExitCodeOfJobError(code ?? ''));
    const exitCode = GRAVEST_FIRST.find(code => codes.includes(code)) ?? EXIT.checkFailed;
    const todo = 'Waiting jobs are retried by the next worker or the next "carbon-mirror sync".';
    throw new CommandError(exitCode, failures.map(describeFailure), todo);
  }
  if (unread.length > 0) {
    const exitCode = unread.some(({ refused }) => refused) ? EXIT.notAuthorized : EXIT.checkFailed;
    const isUnconfirmed = unread.some(({ reason }) => reason === 'removals_unconfirmed');
    const when = isUnconfirmed ? 'in a minute' : 'now';
    const todo = `A worker reads it again automatically. To retry it yourself, run "carbon-mirror sync" ${when}.`;
    throw new CommandError(exitCode, unread.map(describeUnread), todo);
  }
  if (organization !== undefined && closed !== undefined) {
    const found = `The app is ${closed.reason} on ${truncateName(closed.organization)}, so the registry refuses every read.`;
    const todo = 'An administrator of the organization can change this at the registry.';
    throw new CommandError(EXIT.notAuthorized, found, todo);
  }
  if (rows.length > 0 && !rows.some(wasRead))
    throw createCheckError(
      'No list could be read.',
      'The states above say why; "carbon-mirror doctor" says what to do.',
    );
}

function isFailing({ state, failing_since: since, error_code: code }: Synced): boolean {
  const isSaid = state === 'not_offered' && (code === 'not_found' || code === 'other_form');
  return state !== 'no_access' && !isSaid && since !== null;
}

/** Projects are public: they are read even where an organization permits nothing. */
function wasRead({ resource, state }: Synced): boolean {
  return resource !== 'projects' && !['no_access', 'never_read', 'not_read'].includes(state);
}

function describeUnread({ organization, resource, refused, error }: Synced): string {
  const why = refused ? 'refused although permitted: ' : '';
  return `${truncateName(organization)}, ${resource}: ${why}${error ?? ''}`;
}

function describeFailure({ id, kind, state, run_at: at, ...failed }: Followed): string {
  const why = failed.last_error ?? failed.error_or_pause_code ?? 'no reason given';
  const ended = state === 'failed' ? 'failed' : `is ${state}`;
  return `Job ${id} (${kind}) ${state === 'waiting' ? `failed, next try at ${at}` : ended}: ${why}`;
}

/** As freshness has them where nothing is wrong: read, or not to be read, as the organization has it. */
const EXPECTED = [...BEFORE_ITS_TURN, 'no_permission', null];

/** Of one organization everything is shown; of many what changed or failed. */
function isWorthShowing(row: Synced): boolean {
  const { added, changed, removed, reason, failing_since: failingSince, refused, noted } = row;
  if (refused || noted || failingSince !== null) return true;
  return added + changed + removed > 0 || !EXPECTED.includes(reason);
}

/** All of it in one line, what is not in the table too. */
function describeSynced(rows: readonly Synced[]): string {
  const words = rows.map(row => (isFailing(row) ? 'failed' : row.state.replaceAll('_', ' ')));
  const states = [...new Set(words)].map(
    word => `${formatWithCommas(words.filter(each => each === word).length)} ${word}`,
  );
  const sums = (['added', 'changed', 'removed'] as const).map(
    name => `${formatWithCommas(rows.reduce((total, row) => total + row[name], 0))} ${name}`,
  );
  const resources = `${formatCount(rows.length, 'resource')}: ${states.join(', ')}`;
  return `${formatCount(countOrganizations(rows), 'organization')}; ${resources}; rows: ${sums.join(', ')}`;
}

function countOrganizations(rows: readonly Synced[]): number {
  return new Set(rows.map(row => row.organization_id)).size;
}
