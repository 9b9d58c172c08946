import { JOBS as OF_JOBS } from '../../query/lists/lists.js';
import { command } from '../command.js';
import { checkFault, CommandFault, usageFault } from '../exit.js';
import { findNumbered, showNumbered } from '../lists/show.js';
import type { Row } from '../output/output.js';
import { flag, text } from '../options.js';

const show = showNumbered(OF_JOBS, async ({ id, state }) => ({
  says: state === 'failed' ? [`When its cause is gone: "carbon-mirror jobs retry ${String(id)}".`] : [],
}));

const retry = command({
  says: 'Try a failed job again',
  words: { id: text('id', 'its number') },
  options: { all: flag('every failed job') },
  prints: { json: 'print what will run as JSON' },
  run: async (context, { id, all }) => {
    if ((id === undefined) !== all) {
      throw usageFault(
        'Expected the number of a failed job, or --all.',
        'See "carbon-mirror jobs list --state failed".',
      );
    }
    const named = id === undefined ? null : await findNumbered(context, OF_JOBS, id);
    const inbox = await context.inbox();
    const retried = await inbox.retryFailed(id === undefined ? 'all' : [Number(id)]);
    if (named !== null && retried.some(({ job }) => job === null)) throw notFailed(id, named);
    const jobs = retried.map(({ job }) => job).join(', ');
    await context.tell(retried, retried.length === 0 ? 'No job has failed.' : `Will run again: ${jobs}.`);
  },
});

export const JOBS = { show, retry };

function notFailed(id: string | undefined, { state, end }: Row): CommandFault {
  const how = [state, end].filter(Boolean).join(', ');
  return checkFault(
    `Job ${id} has not failed: it is ${how}.`,
    state === 'paused'
      ? 'It tries again by itself, and at once with "carbon-mirror sync".'
      : `See "carbon-mirror jobs show ${id}".`,
  );
}
