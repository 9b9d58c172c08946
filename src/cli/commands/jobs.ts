import { JOB_STATES } from '../../inbox/job.js';
import { JOB_COLUMNS, readJob, readJobs } from '../../query/inbox/deliveries-and-jobs.js';
import { withEnds } from '../../query/inbox/ends.js';
import { command, type CommandGroup } from '../command.js';
import type { Context } from '../context.js';
import { CommandFault, EXIT } from '../exit.js';
import { organizationOfJobs } from '../named/in-mirror.js';
import type { Row } from '../output/output.js';
import { sheet } from '../shown/sheet.js';
import { choice, flag, limit, needed, ORGANIZATION, text } from '../taken.js';
import { readNumber } from '../words.js';

const list = command({
  says: 'List jobs, newest first',
  options: {
    state: choice('state', 'in one state only', JOB_STATES),
    organization: ORGANIZATION,
    limit: limit(50),
  },
  prints: { json: 'print the rows as JSON' },
  run: async (context, { state, organization, limit: most }) => {
    const reader = await context.reader();
    const organizationId = await organizationOfJobs(reader, organization);
    const jobs = await readJobs(reader, { state: state ?? null, organizationId, limit: most || null });
    const none = state === undefined ? 'No job is known.' : `No job is ${state}.`;
    await context.rows(JOB_COLUMNS, await withEnds(reader, jobs), { keep: ['id'], none });
  },
});

const show = command({
  says: 'Show one job, and its latest error in full',
  words: { id: needed(text('id', 'its number')) },
  prints: { json: 'print it as JSON' },
  run: async (context, { id }) => {
    const job = await findJob(context, id);
    if (context.format === 'json') return await context.value(job);
    await context.print(...sheet(job));
    if (job['state'] === 'buried') context.say(`When its cause is gone: "carbon-mirror jobs retry ${id}".`);
    return undefined;
  },
});

const retry = command({
  says: 'Try a buried job again',
  words: { id: text('id', 'its number') },
  options: { all: flag('every buried job') },
  prints: { json: 'print what will run as JSON' },
  run: async (context, { id, all }) => {
    if ((id === undefined) !== all) {
      throw new CommandFault(
        EXIT.usage,
        'Expected the number of a buried job, or --all.',
        'See "carbon-mirror jobs list --state buried".',
      );
    }
    const named = id === undefined ? null : await findJob(context, id);
    const inbox = await context.inbox();
    const retried = await inbox.retryBuried(id === undefined ? 'all' : [readNumber('the job', id)]);
    if (named !== null && retried.some(({ job }) => job === null)) throw notBuried(id, named);
    if (retried.length === 0) context.say('No job is buried.');
    if (context.format === 'json') return await context.value(retried);
    if (retried.length > 0) context.say(`Will run again: ${retried.map(({ job }) => job).join(', ')}.`);
    return undefined;
  },
});

export const JOBS: CommandGroup = {
  says: 'What is to do, what is being done and what is stuck',
  examples: [
    'carbon-mirror jobs list --state buried',
    'carbon-mirror jobs show 42',
    'carbon-mirror jobs retry 42',
    'carbon-mirror jobs retry --all',
  ],
  commands: { list, show, retry },
};

function notBuried(id: string | undefined, { state, end }: Row): CommandFault {
  const how = [state, end].filter(Boolean).join(', ');
  return new CommandFault(
    EXIT.checkFailed,
    `Job ${id} is not buried: it is ${how}.`,
    state === 'parked'
      ? 'It tries again by itself, and at once with "carbon-mirror sync".'
      : `See "carbon-mirror jobs show ${id}".`,
  );
}

async function findJob(context: Context, id: string): Promise<Row> {
  const reader = await context.reader();
  const found = await readJob(reader, readNumber('the job', id));
  const [job] = found === null ? [] : await withEnds(reader, [found]);
  if (job !== undefined) return job;
  throw new CommandFault(
    EXIT.notThere,
    `There is no job ${id}.`,
    'See "carbon-mirror jobs list"; done jobs are kept for RETENTION_DAYS.',
  );
}
