import { installationJob } from '../../inbox/job.js';
import { readKnown } from '../../query/coverage.js';
import { defineCommand } from '../command.js';
import { checkFault, usageFault } from '../exit.js';
import { findOrganizationId } from '../find/in-mirror.js';
import { describeOlderCopy } from '../older-copies.js';
import { eraseSealed } from '../sealed.js';
import { flag, required, VACUUM, text, THE_ORGANIZATION } from '../options.js';

export const PURGE = defineCommand({
  summary: 'Remove everything mirrored for one organization',
  details: 'Removes its rows, history and certificate files.',
  options: {
    organization: THE_ORGANIZATION,
    confirm: required(text('name', "the organization's exact name, to confirm")),
    force: flag('purge even while the app is installed; the next read restores everything'),
    vacuum: VACUUM,
  },
  formats: { json: 'print what was removed as JSON' },
  examples: ['carbon-mirror purge --organization ID --confirm "Harbour Ferries"'],
  run: async (context, { organization, confirm, force, vacuum }) => {
    const reader = await context.reader();
    const organizationId = await findOrganizationId(reader, organization);
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
    await context.printResult(
      {
        organizationId,
        name,
        certificateFiles: files,
        signedTexts: texts,
        logEmptied,
        vacuumed,
        olderCopies,
      },
      `Removed everything mirrored for ${name}, including ${files} certificate files.`,
      `Emptied ${texts} signed texts of webhooks. Their times, digests and jobs remain until RETENTION_DAYS.`,
      'Backups, snapshots, and rows of other organizations that name it were not changed.',
      ...left,
      ...olderCopies.map(describeOlderCopy),
    );
    if (state !== 'uninstalled')
      context.printNotice(
        'The app is still installed: the next scheduled read, or "carbon-mirror sync", restores everything.',
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
    `The app is active on ${name}: the next read would restore everything. Nothing was removed.`,
    'Uninstall the app from it first, or add --force.',
  );
}
