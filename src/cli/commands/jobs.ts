import { type Command, Option } from 'commander';
import { JOB_STATES, type JobState } from '../../inbox/job.js';
import { JOB_COLUMNS, readJob, readJobs } from '../../query/inbox/deliveries-and-jobs.js';
import { examples } from '../command.js';
import { CommandFault, EXIT } from '../exit.js';
import { withEnds } from '../../query/inbox/ends.js';
import { withInbox } from '../place/inbox-writer.js';
import { type Io, print, say } from '../io.js';
import { OF_ORGANIZATION } from '../named/how-named.js';
import { sheet } from '../shown/sheet.js';
import { organizationOfJobs } from '../named/in-mirror.js';
import { type Row, writeRows, writeValue } from '../output/output.js';
import { findPlace } from '../place/find-place.js';
import { reading, type Place } from '../place/place.js';
import { readLimit, readNumber } from '../words.js';

interface ListOptions {
  readonly state?: JobState;
  readonly organization?: string;
  readonly limit: string;
  readonly json?: boolean;
}

export function define(program: Command, io: Io): void {
  const group = examples(
    program.command('jobs').description('What is to do, what is being done and what is stuck'),
    [
      'carbon-mirror jobs list --state buried',
      'carbon-mirror jobs show 42',
      'carbon-mirror jobs retry 42',
      'carbon-mirror jobs retry --all',
    ],
  );
  group
    .command('list')
    .description('List jobs, newest first')
    .addOption(new Option('--state <state>', 'in one state only').choices(JOB_STATES))
    .option('--organization <name>', OF_ORGANIZATION)
    .addOption(new Option('--limit <n>', 'show at most so many').default('50'))
    .option('--json', 'print the rows as JSON')
    .action((options: ListOptions) => list(io, options));
  group
    .command('show')
    .description('Show one job, and its latest error in full')
    .argument('<id>', 'its number')
    .option('--json', 'print it as JSON')
    .action((id: string, options: { json?: boolean }) => show(io, id, options));
  group
    .command('retry')
    .description('Try a buried job again')
    .argument('[id]', 'its number')
    .option('--all', 'every buried job')
    .option('--json', 'print what will run as JSON')
    .action((id: string | undefined, options: { all?: boolean; json?: boolean }) => retry(io, id, options));
}

async function list(io: Io, options: ListOptions): Promise<void> {
  const rows = await reading(
    findPlace(io),
    async reader =>
      await withEnds(
        reader,
        await readJobs(reader, {
          state: options.state ?? null,
          organizationId: await organizationOfJobs(reader, options.organization),
          limit: readLimit(options.limit) || null,
        }),
      ),
  );
  await writeRows(io, options.json ? 'json' : 'table', JOB_COLUMNS, rows, {
    keep: ['id'],
    none: options.state === undefined ? 'No job is known.' : `No job is ${options.state}.`,
  });
}

async function show(io: Io, id: string, options: { json?: boolean }): Promise<void> {
  const job = await findJob(findPlace(io), id);
  if (options.json) return await writeValue(io, job);
  await print(io, ...sheet(job));
  if (job['state'] === 'buried') say(io, `When its cause is gone: "carbon-mirror jobs retry ${id}".`);
  return undefined;
}

async function retry(
  io: Io,
  id: string | undefined,
  options: { all?: boolean; json?: boolean },
): Promise<void> {
  if ((id === undefined) === (options.all !== true)) {
    throw new CommandFault(
      EXIT.usage,
      'Expected the number of a buried job, or --all.',
      'See "carbon-mirror jobs list --state buried".',
    );
  }
  const place = findPlace(io);
  const named = id === undefined ? null : await findJob(place, id);
  const which = id === undefined ? 'all' : [readNumber('the job', id)];
  const retried = await withInbox(place, io.now, inbox => inbox.retryBuried(which));
  const refused = retried.find(({ job }) => job === null);
  if (refused !== undefined && id !== undefined) {
    throw new CommandFault(
      EXIT.checkFailed,
      `Job ${id} is not buried: it is ${String(named?.['state'])}${named?.['end'] ? `, ${String(named['end'])}` : ''}.`,
      named?.['state'] === 'parked'
        ? 'It tries again by itself, and at once with "carbon-mirror sync".'
        : `See "carbon-mirror jobs show ${id}".`,
    );
  }
  if (retried.length === 0) say(io, 'No job is buried.');
  if (options.json) return await writeValue(io, retried);
  if (retried.length > 0) say(io, `Will run again: ${retried.map(({ job }) => job).join(', ')}.`);
  return undefined;
}

async function findJob(place: Place, id: string): Promise<Row> {
  const number = readNumber('the job', id);
  const job = await reading(place, async reader => {
    const found = await readJob(reader, number);
    return found === null ? null : ((await withEnds(reader, [found]))[0] ?? null);
  });
  if (job !== null) return job;
  throw new CommandFault(
    EXIT.notThere,
    `There is no job ${id}.`,
    'See "carbon-mirror jobs list"; done jobs are kept for RETENTION_DAYS.',
  );
}
