import { describeDisk } from '../../store/contract/disk.js';
import { isFrozen, type OrganizationStatus, readStatus, type Status, worstOf } from '../../query/status.js';
import { sentenceOf, wordsOf } from '../../query/freshness/words.js';
import { findTroubles } from '../../query/inbox/troubles.js';
import { formatOmittedCount, formatCount, MAX_SHOWN, formatWithCommas } from '../../text/numbers.js';
import { truncateName } from '../../text/clean-text.js';
import { formatAge, formatDuration } from '../../text/duration.js';
import { defineCommand } from '../command.js';
import type { Row } from '../output/formats.js';
import type { MirrorLocation } from '../context.js';
import { describeFindings, describeRemedy } from '../health.js';
import { defineFlag } from '../options.js';
import { describeCreation, isBeingCreated } from './demo/sandbox.js';

const COUNTED = ['warehouse', 'inventory', 'retirements'];
const COLUMNS = ['organization', 'state', ...COUNTED, 'certificates', 'freshness', 'oldest_read'];

export const STATUS = defineCommand({
  summary: 'Show organizations, data freshness and problems',
  options: { all: defineFlag(`show all organizations, not only the first ${MAX_SHOWN}`) },
  formats: { json: 'print everything as JSON' },
  examples: ['carbon-mirror status', "carbon-mirror status --json | jq '.organizations[].resources'"],
  run: async (context, { all }) => {
    const now = context.io.now();
    const location = context.requireMirror();
    const status = await readStatus(await context.openReader(), now);
    const disk = location.engine.lookAtDisk();
    const creating = status.worker.state !== 'alive' && (await isBeingCreated(location));
    if (context.format === 'json') {
      const mirror = { demo: location.isDemo, being_created: creating, folder: location.engine.location };
      return await context.printJson({ mirror, disk, ...status });
    }
    if (creating) return await context.printLines(`${describeCreation(location)} Try again in a moment.`);
    const paused = `READS AND CERTIFICATES ARE PAUSED: ${disk && describeDisk(disk)}. Deliveries are still stored.`;
    await context.printLines(firstLine(location, status, now), ...(disk?.paused ? [paused] : []), '');
    const most = all ? Infinity : MAX_SHOWN;
    const { organizations } = status;
    await context.printRows(COLUMNS, organizations.slice(0, most).map(toRow), {
      importantColumns: ['organization', 'freshness'],
      tonneColumns: COUNTED,
      emptyMessage: 'No organizations yet. Run "carbon-mirror sync" to look for installations.',
    });
    const reasons = describeReasons(status);
    const rest = (list: readonly unknown[]) => (list.length > most ? [describeRest(list.length)] : []);
    await context.printLines(...rest(organizations), '', ...summary(status, now));
    await context.printLines(...reasons.slice(0, most), ...rest(reasons));
  },
});

function describeRest(count: number): string {
  return `${formatOmittedCount(count)}: carbon-mirror status --all`;
}

function toRow(organization: OrganizationStatus): Row {
  const { state, resources } = organization;
  const ages = resources.flatMap(({ age_seconds: age }) => age ?? []);
  const certificates = Object.entries(organization.certificates).map(
    ([of, count]) => `${formatWithCommas(count)} ${of}`,
  );
  return {
    ...Object.fromEntries(resources.map(({ resource, rows }) => [resource, rows])),
    organization: nameOf(organization),
    state,
    certificates: certificates.join(', ') || null,
    freshness: wordsOf(worstOf(organization)),
    oldest_read: ages.length === 0 ? null : formatDuration(Math.max(...ages)),
  };
}

function nameOf({ name, organization_id: id, installation_id: installed }: OrganizationStatus): string {
  return name ?? id ?? installed;
}

/** Which mirror this is, and whether anything waits. */
function firstLine({ isDemo, engine }: MirrorLocation, status: Status, now: number): string {
  const { registry, worker, oldestUnreadAt: due, rejectedWebhooks } = status;
  const rejected = rejectedWebhooks.reduce((sum, each) => sum + each.rejected, 0);
  const reasons = [...new Set(rejectedWebhooks.map(({ reason }) => reason.replaceAll('_', ' ')))].join(', ');
  return [
    `${isDemo ? 'The demo' : 'The mirror'} in ${engine.location}${registry === null ? '' : ` of ${registry}`}.`,
    worker.state === 'alive' ? 'A worker is running.' : 'NO WORKER IS RUNNING.',
    due === null
      ? 'All deliveries are read.'
      : `The oldest unread delivery has waited ${formatAge(due, now)}.`,
    rejected === 0
      ? 'No webhooks were rejected in the last 24 hours.'
      : `${formatCount(rejected, 'webhook was', 'webhooks were')} rejected in the last 24 hours: ${reasons}.`,
  ].join(' ');
}

function summary(status: Status, now: number): string[] {
  const { newestDeliveryAt: newest, ignored, findings } = status;
  const { due, planned, running, paused, failed } = status.jobs;
  return [
    `Newest delivery: ${newest === null ? 'never' : `${formatAge(newest, now)} ago`}. Ignored in the last 24 hours: ${ignored}.`,
    `Jobs: ${running} running, ${due + planned} waiting (${due} due now), ${paused} paused, ${failed} failed.`,
    describeFindings(findings, now),
    ...findTroubles(status, now).map(each => `${each.found}. ${describeRemedy(each)}`),
  ];
}

function describeReasons({ organizations }: Status): string[] {
  return organizations.flatMap(organization =>
    organization.resources.flatMap(each => {
      const why = isFrozen(each)
        ? `its ${formatWithCommas(each.rows)} rows are as of ${each.as_of}; nothing newer is known`
        : sentenceOf(each);
      if (why === null || (each.reason === 'no_permission' && !isFrozen(each))) return [];
      return [`${truncateName(nameOf(organization))}, ${each.resource}: ${wordsOf(each)}: ${why}`];
    }),
  );
}
