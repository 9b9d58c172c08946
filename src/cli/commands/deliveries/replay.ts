import { createInstallationJob } from '../../../inbox/job.js';
import { DELIVERIES } from '../../../query/lists/list-definitions.js';
import { createCheckError } from '../../command-error.js';
import { defineCommand } from '../../define-command.js';
import { findNumberedRow } from '../../lists/show-command.js';
import { defineText, makeRequired } from '../../options.js';

export const REPLAY = defineCommand({
  summary: 'Run a stored delivery again',
  details:
    'Reads the installation of the delivery from the registry again, as if the delivery had just arrived. The delivery itself does not change.',
  args: { id: makeRequired(defineText('id', 'number of the delivery')) },
  formats: { json: 'print the delivery and the job as JSON' },
  examples: ['carbon-mirror deliveries replay 7'],
  run: async (context, { id }) => {
    const delivery = await findNumberedRow(context, DELIVERIES, id);
    const { installation_id: installationId, organization_id: organizationId } = delivery;
    if (delivery['verdict'] !== 'accepted' || typeof installationId !== 'string')
      throw createCheckError(
        `Delivery ${id} was ignored: ${String(delivery['ignored_reason'])}. There is nothing to run.`,
        `See "carbon-mirror deliveries show ${id}".`,
      );
    const owner = typeof organizationId === 'string' ? organizationId : null;
    const inbox = await context.openInbox();
    const [job] = await inbox.enqueue([createInstallationJob(installationId, owner, 'person')]);
    await context.printResult(
      { delivery: Number(id), job },
      `Job ${job} reads installation ${installationId} again. Follow it with "carbon-mirror jobs show ${job}".`,
    );
  },
});
