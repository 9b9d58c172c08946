import { JOBS as JOB_LIST } from '../../query/lists/list-definitions.js';
import { defineCommand } from '../define-command.js';
import { createCheckError, CommandError, createUsageError } from '../command-error.js';
import { findNumberedRow, createNumberedShowCommand } from '../lists/show-command.js';
import type { Row } from '../output/output-formats.js';
import { defineFlag, defineText } from '../options.js';

const show = createNumberedShowCommand(JOB_LIST, async ({ id, state }) => ({
  notices:
    state === 'failed' ? [`Once the cause is fixed, run "carbon-mirror jobs retry ${String(id)}".`] : [],
}));

const retry = defineCommand({
  summary: 'Retry one failed job, or all of them',
  args: { id: defineText('id', 'number of the failed job') },
  options: { all: defineFlag('retry every failed job') },
  formats: { json: 'print the retried jobs as JSON' },
  run: async (context, { id, all }) => {
    if ((id === undefined) !== all) {
      throw createUsageError(
        'Expected the number of a failed job, or --all.',
        'See "carbon-mirror jobs list --state failed".',
      );
    }
    const row = id === undefined ? null : await findNumberedRow(context, JOB_LIST, id);
    const inbox = await context.openInbox();
    const retried = await inbox.retryFailed(id === undefined ? 'all' : [Number(id)]);
    if (row !== null && retried.some(({ job }) => job === null)) throw createNotFailedError(id, row);
    const jobs = retried.map(({ job }) => job).join(', ');
    await context.printResult(retried, retried.length === 0 ? 'No failed jobs.' : `Retrying jobs: ${jobs}.`);
  },
});

/** Commands of jobs besides `list`. */
export const JOBS = { show, retry };

/** Creates the error for a job that cannot be retried because it has not failed. */
function createNotFailedError(id: string | undefined, { state, end }: Row): CommandError {
  const currentState = [state, end].flatMap(text => (typeof text === 'string' ? text : [])).join(', ');
  return createCheckError(
    `Job ${id} has not failed: it is ${currentState}.`,
    state === 'paused'
      ? 'It is retried automatically. To retry it now, run "carbon-mirror sync".'
      : `See "carbon-mirror jobs show ${id}".`,
  );
}
