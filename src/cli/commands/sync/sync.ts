import type { Followed } from '../../../query/reads/sync-progress.js';
import { readSynced, type Synced, SYNCED_COLUMNS } from '../../../query/reads/synced.js';
import { RESOURCES } from '../../../sync/plan.js';
import { shortName } from '../../../text/clean.js';
import { command } from '../../command.js';
import { checkFault, CommandFault, EXIT, type ExitCode, exitCodeOf } from '../../exit.js';
import { choice, flag, ORGANIZATION } from '../../taken.js';
import { describeSynced, worthShowing } from './summary.js';

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
    'carbon-mirror sync',
    'carbon-mirror sync --organization ID --resource retirements',
    'carbon-mirror sync --full --json',
  ],
  run: async (context, typed) => {
    const { follow } = await import('./follow.js');
    const { askForSync } = await import('./ask.js');
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

function nameOf({ organization, resource }: Synced): string {
  return `${shortName(organization)}, ${resource}`;
}

/** A job that is over and did not do what was asked for may be tried again later by itself. */
function demandWhole(
  failures: readonly Followed[],
  rows: readonly Synced[],
  organization: string | undefined,
): void {
  if (failures.length > 0) {
    const codes = failures.map(({ errorCode }) => exitCodeOf(errorCode ?? ''));
    throw new CommandFault(
      GRAVEST_FIRST.find(code => codes.includes(code)) ?? EXIT.checkFailed,
      failures.map(describeFailure),
      'What waits is tried again by the next worker or the next "carbon-mirror sync".',
    );
  }
  const notBelieved = rows.filter(
    ({ state, failing_since: since }) => state !== 'no_access' && state !== 'not_offered' && since !== null,
  );
  if (notBelieved.length > 0) {
    throw checkFault(
      notBelieved.map(row => `${nameOf(row)}: ${row.error ?? ''}`),
      notBelieved.some(({ reason }) => reason === 'removals_unconfirmed')
        ? 'A worker reads it again by itself; without one repeat "carbon-mirror sync" after a minute.'
        : 'It is read again by itself; a repeated "carbon-mirror sync" asks at once.',
    );
  }
  const refused = rows.filter(row => row.refused);
  if (refused.length > 0) {
    throw new CommandFault(
      EXIT.notAuthorized,
      refused.map(row => `${nameOf(row)}: refused, although it is permitted: ${row.error ?? ''}`),
      'A repeated "carbon-mirror sync" asks again at once.',
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

function describeFailure({ id, kind, state, error, errorCode, runAt }: Followed): string {
  const ended = state === 'failed' ? 'has failed' : `is ${state}`;
  const how = state === 'waiting' ? `failed, next try at ${runAt}` : ended;
  return `Job ${id} (${kind}) ${how}: ${error ?? errorCode ?? 'no reason given'}`;
}
