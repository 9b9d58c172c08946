import { type Command, Option } from 'commander';
import type { Asked, Followed } from '../../../query/reads/sync-progress.js';
import { readSynced, type Synced, SYNCED_COLUMNS } from '../../../query/reads/synced.js';
import { RESOURCES } from '../../../sync/plan.js';
import { shortName } from '../../../text/clean.js';
import { examples } from '../../command.js';
import { CommandFault, EXIT, type ExitCode, exitCodeOf } from '../../exit.js';
import { type Io, say, print } from '../../io.js';
import { OF_ORGANIZATION } from '../../named/how-named.js';
import { writeRows, writeValue } from '../../output/output.js';
import { findPlace, meansDemo, ownPlace } from '../../place/find-place.js';
import { reading, type Place } from '../../place/place.js';
import type { Wanted } from './ask.js';
import { describeSynced, worthShowing } from './summary.js';

interface SyncOptions extends Wanted {
  readonly json?: boolean;
}

const CERTIFICATES = 'certificates';
const COUNTS = ['added', 'changed', 'removed', 'unchanged'];

export function define(program: Command, io: Io): void {
  const command = program
    .command('sync')
    .description('Read the registry now: by the running worker where there is one, else in this process')
    .option('--organization <name>', OF_ORGANIZATION)
    .addOption(new Option('--resource <name>', 'one resource only').choices([...RESOURCES, CERTIFICATES]))
    .option(
      '--full',
      'also what was read a moment ago, every row column by column, and every certificate again',
    )
    .option('--json', 'print what was read as JSON')
    .action((options: SyncOptions) => sync(io, options));
  examples(command, [
    'carbon-mirror sync',
    'carbon-mirror sync --organization ID --resource retirements',
    'carbon-mirror sync --full --json',
  ]);
}

async function sync(io: Io, options: SyncOptions): Promise<void> {
  const { follow } = await import('./follow.js');
  const { askForSync } = await import('./ask.js');
  const place = meansDemo(io.env) ? findPlace(io) : ownPlace(io);
  const interrupted = io.interruption();
  const startedAt = io.now();
  const asked = await askForSync(io, place, options);
  const { jobs, by } = await follow(io, place, asked, interrupted);
  const rows = await readSummary(place, asked, options.resource);
  const failures = jobs.filter(isFailure);
  if (options.json) {
    await writeValue(io, { by, seconds: (io.now() - startedAt) / 1000, resources: rows, failures });
  } else {
    await writeSummary(io, rows);
  }
  demandWhole(failures, rows, options.organization);
  if (rows.length === 0) say(io, 'The app is installed on no organization: there was nothing to read.');
  say(io, `Read in ${((io.now() - startedAt) / 1000).toFixed(1)} s by ${by}.`);
}

async function writeSummary(io: Io, rows: readonly Synced[]): Promise<void> {
  const shown = worthShowing(rows).map(row => ({ ...row }));
  const keep = ['organization', 'resource', 'state'];
  if (shown.length > 0) await writeRows(io, 'table', SYNCED_COLUMNS, shown, { keep, tonnes: COUNTS });
  if (rows.length > 0) await print(io, describeSynced(rows));
}

async function readSummary(place: Place, asked: Asked, resource: string | undefined): Promise<Synced[]> {
  const resources = resource === undefined ? [...RESOURCES, CERTIFICATES] : [resource];
  return await reading(place, async reader => await readSynced(reader, asked, resources));
}

/** A job that is over and did not do what was asked for; it may be tried again later by itself. */
function isFailure({ state }: Followed): boolean {
  return state !== 'done';
}

const NOT_BELIEVED = ['failing', 'partial', 'doubtful'];
const CLOSED = ['suspended', 'uninstalled'];
const UNREAD = [...CLOSED, 'forbidden', 'never_read', 'not_read'];
/** Where several things failed, the cause of most of them is named by the exit code. */
const GRAVEST_FIRST: readonly ExitCode[] = [EXIT.notAuthorized, EXIT.unreachable, EXIT.usage];

function nameOf({ organization, resource }: Synced): string {
  return `${shortName(organization)}, ${resource}`;
}

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
  const notBelieved = rows.filter(({ state }) => NOT_BELIEVED.includes(state));
  if (notBelieved.length > 0) {
    throw new CommandFault(
      EXIT.checkFailed,
      notBelieved.map(row => `${nameOf(row)}: ${row.state}: ${row.error ?? ''}`),
      notBelieved.some(({ state }) => state === 'doubtful')
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
  const [closed] = rows.filter(({ state }) => CLOSED.includes(state));
  if (organization !== undefined && closed !== undefined) {
    throw new CommandFault(
      EXIT.notAuthorized,
      `The app is ${closed.state} on ${shortName(closed.organization)}: the registry lets nothing be read.`,
      'An administrator of the organization can change that at the registry.',
    );
  }
  if (rows.length === 0 || rows.some(wasRead)) return;
  throw new CommandFault(
    EXIT.checkFailed,
    'Nothing of what was found could be read.',
    'The states above say why; "carbon-mirror doctor" says what to do.',
  );
}

/** Projects are public: they are read even where an organization permits nothing. */
function wasRead({ resource, state }: Synced): boolean {
  return resource !== 'projects' && !UNREAD.includes(state);
}

function describeFailure({ id, kind, state, error, errorCode, runAt }: Followed): string {
  const next = state === 'ready' ? `, next try at ${runAt}` : '';
  return `Job ${id} (${kind}) ${state === 'ready' ? 'failed' : `is ${state}`}${next}: ${error ?? errorCode ?? 'no reason given'}`;
}
