import {
  BEFORE_ITS_TURN,
  type Followed,
  readSynced,
  type Synced,
  SYNCED_COLUMNS,
} from '../../../query/reads/sync-progress.js';
import { RESOURCES } from '../../../sync/plan.js';
import { shortName } from '../../../text/clean.js';
import { command } from '../../command.js';
import { checkFault, CommandFault, EXIT, type ExitCode } from '../../exit.js';
import { exitCodeOf } from '../../faults/explain.js';
import { choice, flag, ORGANIZATION } from '../../options.js';
import { counted } from '../../../text/counted.js';
import { withThousands } from '../../../text/thousands.js';

const CERTIFICATES = 'certificates';
const SHAPE = {
  keep: ['organization', 'resource', 'state'],
  tonnes: ['added', 'changed', 'removed', 'unchanged'],
  none: '',
};

export const SYNC = command({
  says: 'Read the registry now: by the running worker where there is one, else in this process',
  options: {
    organization: ORGANIZATION,
    resource: choice('name', 'one resource only', [...RESOURCES, CERTIFICATES]),
    full: flag(
      'read also what was read a moment ago, compare every column of every row, and fetch every certificate again',
    ),
  },
  prints: { json: 'print what was read as JSON' },
  examples: [
    'carbon-mirror sync --organization ID --resource retirements',
    'carbon-mirror sync --full --json',
  ],
  run: async (context, typed) => {
    const { askForSync, follow } = await import('./work.js');
    const { io, format, reader, rows, value, print, say } = context;
    const interrupted = io.interruption();
    const startedAt = io.now();
    const asked = await askForSync(context, typed);
    const { jobs, by } = await follow(context, asked, interrupted);
    const resources = typed.resource === undefined ? [...RESOURCES, CERTIFICATES] : [typed.resource];
    const synced = await readSynced(await reader(), asked, resources);
    const failures = jobs.filter(({ state }) => state !== 'done');
    const seconds = (io.now() - startedAt) / 1000;
    if (format === 'json') await value({ by, seconds, resources: synced, failures });
    else if (synced.length > 0) {
      const shown = worthShowing(synced).map(row => ({ ...row }));
      if (shown.length > 0) await rows(SYNCED_COLUMNS, shown, SHAPE);
      await print(describeSynced(synced));
    }
    demandWhole(failures, synced, typed.organization);
    if (synced.length === 0) say('The app is installed on no organization: there was nothing to read.');
    say(`Read in ${((io.now() - startedAt) / 1000).toFixed(1)} s by ${by}.`);
  },
});

const UNREAD = ['no_access', 'never_read', 'not_read'];
/** Where several things failed, the cause of most of them is named by the exit code. */
const GRAVEST_FIRST: readonly ExitCode[] = [EXIT.notAuthorized, EXIT.unreachable, EXIT.usage];

function isFailing({ state, failing_since: since }: Synced): boolean {
  return state !== 'no_access' && state !== 'not_offered' && since !== null;
}

function describeUnread({ organization, resource, refused, error }: Synced): string {
  const why = refused ? 'refused, although it is permitted: ' : '';
  return `${shortName(organization)}, ${resource}: ${why}${error ?? ''}`;
}

/** A job that is over and did not do what was asked for may be tried again later by itself. */
function demandWhole(
  failures: readonly Followed[],
  rows: readonly Synced[],
  organization: string | undefined,
): void {
  if (failures.length > 0) {
    const codes = failures.map(({ error_or_pause_code: code }) => exitCodeOf(code ?? ''));
    throw new CommandFault(
      GRAVEST_FIRST.find(code => codes.includes(code)) ?? EXIT.checkFailed,
      failures.map(describeFailure),
      'What waits is tried again by the next worker or the next "carbon-mirror sync".',
    );
  }
  const unread = rows.filter(row => row.refused || isFailing(row));
  if (unread.length > 0) {
    const isUnconfirmed = unread.some(({ reason }) => reason === 'removals_unconfirmed');
    throw new CommandFault(
      unread.some(({ refused }) => refused) ? EXIT.notAuthorized : EXIT.checkFailed,
      unread.map(describeUnread),
      `A worker reads it again by itself; "carbon-mirror sync" asks ${isUnconfirmed ? 'again after a minute' : 'at once'}.`,
    );
  }
  const [closed] = rows.filter(({ reason }) => reason === 'suspended' || reason === 'uninstalled');
  if (organization !== undefined && closed !== undefined) {
    throw new CommandFault(
      EXIT.notAuthorized,
      `The app is ${closed.reason} on ${shortName(closed.organization)}: the registry refuses every read.`,
      'An administrator of the organization can change that at the registry.',
    );
  }
  if (rows.length === 0 || rows.some(wasRead)) return;
  throw checkFault(
    'Nothing of what was found could be read.',
    'The states above say why; "carbon-mirror doctor" says what to do.',
  );
}

/** Projects are public: they are read even where an organization permits nothing. */
function wasRead({ resource, state }: Synced): boolean {
  return resource !== 'projects' && !UNREAD.includes(state);
}

function describeFailure({ id, kind, state, run_at: at, ...failed }: Followed): string {
  const why = failed.last_error ?? failed.error_or_pause_code ?? 'no reason given';
  const ended = state === 'failed' ? 'has failed' : `is ${state}`;
  const how = state === 'waiting' ? `failed, next try at ${at}` : ended;
  return `Job ${id} (${kind}) ${how}: ${why}`;
}

/** As freshness has them where nothing is wrong: read, or not to be read, as the organization has it. */
const EXPECTED = [...BEFORE_ITS_TURN, 'no_permission', null];

/** Of one organization everything is shown; of many what changed or failed. */
function worthShowing(rows: readonly Synced[]): readonly Synced[] {
  return countOrganizations(rows) < 2 ? rows : rows.filter(row => row.refused || row.mended || !isQuiet(row));
}

function isQuiet({ added, changed, removed, reason, failing_since: failingSince }: Synced): boolean {
  return added + changed + removed === 0 && failingSince === null && EXPECTED.includes(reason);
}

/** All of it in one line, what is not in the table too. */
function describeSynced(rows: readonly Synced[]): string {
  const organizations = countOrganizations(rows);
  const states = [...new Set(rows.map(({ state }) => state))].map(state => {
    const count = rows.filter(row => row.state === state).length;
    return `${withThousands(count)} ${state.replaceAll('_', ' ')}`;
  });
  const sum = (name: 'added' | 'changed' | 'removed') =>
    `${withThousands(rows.reduce((total, row) => total + row[name], 0))} ${name}`;
  return [
    counted(organizations, 'organization'),
    `${withThousands(rows.length)} resources: ${states.join(', ')}`,
    `rows: ${sum('added')}, ${sum('changed')}, ${sum('removed')}`,
  ].join('; ');
}

function countOrganizations(rows: readonly Synced[]): number {
  return new Set(rows.map(row => row.organization_id)).size;
}
