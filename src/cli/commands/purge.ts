import { installationJob } from '../../inbox/job.js';
import { readKnown } from '../../query/coverage.js';
import { command } from '../command.js';
import { checkFault, usageFault } from '../exit.js';
import { organizationIn } from '../find/in-mirror.js';
import { describeOlderCopy } from '../older-copies.js';
import { eraseSealed } from '../sealed.js';
import { flag, needed, OLDER_COPIES, text, THE_ORGANIZATION } from '../options.js';

export const PURGE = command({
  says: 'Remove all that was mirrored for one organization: rows, history and certificate files',
  options: {
    organization: THE_ORGANIZATION,
    confirm: needed(text('name', 'its exact name, to confirm')),
    force: flag('purge even while the app is installed there; the next read brings everything back'),
    vacuum: OLDER_COPIES,
  },
  prints: { json: 'print what was removed as JSON' },
  examples: ['carbon-mirror purge --organization ID --confirm "Harbour Ferries"'],
  run: async (context, { organization, confirm, force, vacuum }) => {
    const reader = await context.reader();
    const organizationId = await organizationIn(reader, organization);
    const [known] = await readKnown(reader, organizationId);
    const { state = 'uninstalled' } = known ?? {};
    const name = known?.name ?? organizationId;
    demandMeant(name, state, confirm, force);
    const { forgetTexts } = await import('../../inbox/forget.js');
    const { inbox, mirror, pdfs, erase } = await context.writers();
    const takeClaim = async () => inbox.allocateClaim((await mirror.readState()).highestClaim);
    const { removedFiles: files, newInstallationIds: installations } = await eraseSealed(
      context,
      'purge',
      async () => ({ organizationId }),
      () => mirror.purge({ organizationId, acquireClaim: takeClaim, pdfs }),
    );
    await inbox.enqueue(installations.map(id => installationJob(id, organizationId, 'person')));
    const { texts } = await forgetTexts(inbox, content => content.includes(organizationId));
    const { vacuumed, logEmptied, left } = await erase(vacuum);
    const olderCopies = await context.location().engine.findOlderCopies();
    await context.tell(
      {
        organizationId,
        name,
        certificateFiles: files,
        signedTexts: texts,
        logEmptied,
        vacuumed,
        olderCopies,
      },
      `Removed all that was mirrored for ${name}, and ${files} certificate files.`,
      `Emptied ${texts} signed texts of webhooks; their times, digests and jobs stay until RETENTION_DAYS.`,
      'Backups and snapshots are not touched. Rows of other organizations that name it stay.',
      ...left,
      ...olderCopies.map(describeOlderCopy),
    );
    if (state !== 'uninstalled')
      context.say(
        'The app is still installed there: the schedule brings it back, "carbon-mirror sync" at once.',
      );
  },
});

function demandMeant(name: string, state: string, confirm: string, force: boolean): void {
  if (confirm !== name) {
    throw usageFault(
      `--confirm: expected the organization's exact name, "${name}", got "${confirm}".`,
      'Nothing was removed.',
    );
  }
  if (state !== 'active' || force) return;
  throw checkFault(
    `The app is active on ${name}: the next read would bring everything back. Nothing was removed.`,
    'Uninstall the app there first, or add --force.',
  );
}
