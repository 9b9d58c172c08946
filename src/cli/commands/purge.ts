import { createInstallationJob } from '../../inbox/job.js';
import { readKnownOrganizations } from '../../query/coverage.js';
import { defineCommand } from '../define-command.js';
import { formatCount } from '../../text/numbers.js';
import { createCheckError, createUsageError } from '../command-error.js';
import { findOrganizationId } from '../find-rows.js';
import { describeUntouchedCopy } from '../older-copies.js';
import { eraseWithEvidence } from '../evidence/evidence-log.js';
import type { CommandContext } from '../context.js';
import { withSubscriptions } from '../subscriptions/open-subscriptions.js';
import { defineFlag, makeRequired, VACUUM_OPTION, defineText, ORGANIZATION_ARGUMENT } from '../options.js';

export const PURGE = defineCommand({
  summary: 'Remove everything mirrored for one organization',
  details:
    'Erases all rows, history, certificate files and console orders of the organization, the signed texts of webhooks that name it, and its records in the evidence log. ' +
    'Times and digests of webhooks stay until RETENTION_DAYS, and hashes stay in the evidence log. Backups, snapshots, and rows of other organizations that name it are not changed.',
  options: {
    organization: ORGANIZATION_ARGUMENT,
    confirm: makeRequired(defineText('name', "the organization's exact name, to confirm")),
    force: defineFlag('purge even while the app is installed; the next sync mirrors everything again'),
    vacuum: VACUUM_OPTION,
  },
  formats: { json: 'print what was removed as JSON' },
  examples: ['carbon-mirror purge --organization ID --confirm "Harbour Ferries"'],
  run: async (context, { organization, confirm, force, vacuum }) => {
    const reader = await context.openReader();
    const organizationId = await findOrganizationId(reader, organization);
    const [known] = await readKnownOrganizations(reader, organizationId);
    const { state = 'uninstalled' } = known ?? {};
    const name = known?.name ?? organizationId;
    assertPurgeConfirmed({ name, state, confirm, force });
    const { eraseMatchingTexts } = await import('../../inbox/erase-texts.js');
    const { inbox, mirror, pdfs, erase } = await context.openWriters();
    const acquireClaim = async () => inbox.allocateClaim((await mirror.readMirrorState()).highestClaim);
    const { removedFiles, newInstallationIds } = await eraseWithEvidence(
      context,
      'purge',
      async () => ({ organizationId }),
      () => mirror.purge({ organizationId, acquireClaim, pdfs }),
    );
    await recordPurge(context, organizationId);
    await inbox.enqueue(newInstallationIds.map(id => createInstallationJob(id, organizationId, 'person')));
    const { texts } = await eraseMatchingTexts(inbox, content => content.includes(organizationId));
    const orders = await inbox.removeOrders(organizationId);
    const { vacuumed, logEmptied, remainingCopies } = await erase(vacuum);
    const olderCopies = await context.requireMirror().engine.findOlderCopies();
    await context.printResult(
      {
        organizationId,
        name,
        certificateFiles: removedFiles,
        signedTexts: texts,
        orders,
        logEmptied,
        vacuumed,
        olderCopies,
      },
      `Removed everything mirrored for ${name}, including ${removedFiles} certificate files.`,
      `Emptied ${texts} signed texts of webhooks. Their times, digests and jobs remain until RETENTION_DAYS.`,
      ...(orders === 0 ? [] : [`Removed ${formatCount(orders, 'order')} of the console.`]),
      'Backups, snapshots, and rows of other organizations that name it were not changed.',
      ...remainingCopies,
      ...olderCopies.map(describeUntouchedCopy),
    );
    if (state !== 'uninstalled')
      context.printNotice(
        'The app is still installed: the next scheduled read, or "carbon-mirror sync", restores everything.',
      );
  },
});

/** Records an event that tells subscribers to remove their copies of the organization's data. */
async function recordPurge(context: CommandContext, organizationId: string): Promise<void> {
  const occurrence = {
    type: 'organization.purged',
    organization_id: organizationId,
    subject: '',
    detail: '',
    occurred_at: new Date(context.io.now()).toISOString(),
  };
  await withSubscriptions(context, async port => void (await port?.record([occurrence])));
}

interface PurgeConfirmation {
  readonly name: string;
  /** The state of the installation. */
  readonly state: string;
  readonly confirm: string;
  readonly force: boolean;
}

/** Throws unless `confirm` is the organization's exact name. An active installation also needs `force`. */
function assertPurgeConfirmed({ name, state, confirm, force }: PurgeConfirmation): void {
  if (confirm !== name) {
    throw createUsageError(
      `--confirm: expected the organization's exact name, "${name}", got "${confirm}".`,
      'Nothing was removed.',
    );
  }
  // While the app is installed, the next read would restore the data.
  if (state !== 'active' || force) return;
  throw createCheckError(
    `The app is active on ${name}: the next read would restore everything. Nothing was removed.`,
    'Uninstall the app from it first, or add --force.',
  );
}
