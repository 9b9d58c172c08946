import { describeDisk } from '../../store/contract/disk-space.js';
import { readCallsPerSecond } from '../../app/config/read-settings.js';
import { describeFirstReads, estimateFirstReads, type FirstReadEstimate } from '../../query/first-reads.js';
import { getOrganizationName } from '../../query/coverage.js';
import { toNotesData } from '../../query/answer/serialize.js';
import {
  describeListState,
  isFrozen,
  type OrganizationStatus,
  readStatus,
  type Status,
  worstOf,
} from '../../query/status.js';
import { wordsOf } from '../../query/freshness/describe-freshness.js';
import { describeActor } from '../../query/inbox/troubles.js';
import { formatOmittedCount, formatCount, MAX_SHOWN, formatWithCommas } from '../../text/numbers.js';
import { truncateName } from '../../text/clean-text.js';
import { formatAge, formatDuration } from '../../text/duration.js';
import { defineCommand } from '../define-command.js';
import { printAnswerNotes } from '../output/answer.js';
import type { Row } from '../output/output-formats.js';
import type { MirrorContext } from '../context.js';
import { describeFindings, describeRemedy } from '../describe-findings.js';
import { defineFlag } from '../options.js';
import { describeDemoCreation, isDemoBeingCreated } from './demo/demo-sandbox.js';

/** The status without the first reads, which have a line of their own. */
type ShownStatus = Omit<Status, 'firstReads' | 'notes'>;

const ROW_COUNT_COLUMNS = ['warehouse', 'inventory', 'retirements'];
const COLUMNS = ['organization', 'state', ...ROW_COUNT_COLUMNS, 'certificates', 'freshness', 'oldest_read'];

export const STATUS = defineCommand({
  summary: 'Show organizations, fresh and stale data, and problems',
  options: { all: defineFlag(`show all organizations, not only the first ${MAX_SHOWN}`) },
  formats: { json: 'print everything as JSON' },
  examples: ['carbon-mirror status', "carbon-mirror status --json | jq '.organizations[].resources'"],
  run: async (context, { all }) => {
    const now = context.io.now();
    const location = context.requireMirror();
    const { firstReads, notes, ...status } = await readStatus(await context.openReader(), now);
    const estimate = firstReads && estimateFirstReads(firstReads, await readCallsPerSecond(location.env));
    const disk = location.engine.measureDisk();
    const isCreating = status.worker.state !== 'alive' && (await isDemoBeingCreated(location));
    if (context.format === 'json') {
      const mirror = { demo: location.isDemo, being_created: isCreating, folder: location.engine.location };
      const data = { mirror, disk, ...status, firstReads: estimate, ...toNotesData(notes) };
      return await context.printJson(data);
    }
    if (isCreating)
      return await context.printLines(`${describeDemoCreation(location)} Try again in a moment.`);
    const paused = `READS AND CERTIFICATES ARE PAUSED: ${disk && describeDisk(disk)}. Deliveries are still stored.`;
    await context.printLines(describeMirror(location, status, now), ...(disk?.paused ? [paused] : []), '');
    const limit = all ? Infinity : MAX_SHOWN;
    const { organizations } = status;
    await context.printRows(COLUMNS, organizations.slice(0, limit).map(toStatusRow), {
      importantColumns: ['organization', 'freshness'],
      tonneColumns: ROW_COUNT_COLUMNS,
      emptyMessage: 'No organizations yet. Run "carbon-mirror sync" to look for installations.',
    });
    const reasons = describeListsNotFresh(status);
    const describeHidden = (items: readonly unknown[]) =>
      items.length > limit ? [describeHiddenCount(items.length)] : [];
    await context.printLines(...describeHidden(organizations), '', ...describeEstimate(estimate));
    await context.printLines(...describeActivity(status, now), ...describeUnclaimed(status));
    await context.printLines(...reasons.slice(0, limit), ...describeHidden(reasons));
    await context.printLines(...describeIssues(status));
    printAnswerNotes(context.io, notes);
  },
});

/** Returns a line such as "and 12 more: carbon-mirror status --all". `count` is the total number of items. */
function describeHiddenCount(count: number): string {
  return `${formatOmittedCount(count)}: carbon-mirror status --all`;
}

/**
 * Formats an organization as a table row with the row counts and freshness of its lists. Certificates of unclaimed retirements
 * (retirements without a beneficiary) are counted as unavailable.
 */
function toStatusRow(organization: OrganizationStatus): Row {
  const { state, resources } = organization;
  const ages = resources.flatMap(({ age_seconds: age }) => age ?? []);
  const { unclaimed = 0, unavailable = 0, ...counts } = organization.certificates;
  const certificates = Object.entries({ ...counts, unavailable: unavailable + unclaimed })
    .filter(([, count]) => count > 0)
    .map(([certificateState, count]) => `${formatWithCommas(count)} ${certificateState}`);
  return {
    ...Object.fromEntries(resources.map(({ resource, rows }) => [resource, rows])),
    organization: getOrganizationName(organization),
    state,
    certificates: certificates.join(', ') || null,
    // The least fresh list decides.
    freshness: wordsOf(worstOf(organization)),
    oldest_read: ages.length === 0 ? null : formatDuration(Math.max(...ages)),
  };
}

/** Returns one line about the mirror: location, worker, unread deliveries, rejected webhooks. */
function describeMirror({ isDemo, engine }: MirrorContext, status: ShownStatus, now: number): string {
  const { registry, simulatedUntil, worker, oldestUnreadAt, rejectedWebhooks } = status;
  const rejectedCount = rejectedWebhooks.reduce((sum, { rejected }) => sum + rejected, 0);
  const reasons = [...new Set(rejectedWebhooks.map(({ reason }) => reason.replaceAll('_', ' ')))].join(', ');
  return [
    `${isDemo ? 'The demo' : 'The mirror'} in ${engine.location}${registry === null ? '' : ` of ${registry}`}.`,
    ...(simulatedUntil === null ? [] : [`Its history until ${simulatedUntil} is simulated.`]),
    worker.state === 'alive' ? 'A worker is running.' : 'NO WORKER IS RUNNING.',
    oldestUnreadAt === null
      ? 'All deliveries are read.'
      : `The oldest unread delivery has waited ${formatAge(oldestUnreadAt, now)}.`,
    rejectedCount === 0
      ? 'No webhooks were rejected in the last 24 hours.'
      : `${formatCount(rejectedCount, 'webhook was', 'webhooks were')} rejected in the last 24 hours: ${reasons}.`,
  ].join(' ');
}

/**
 * Returns a line with the number of organizations that were never read, and how long their first reads will take. Returns no line if there
 * are none, in which case `estimate` is null.
 */
function describeEstimate(estimate: FirstReadEstimate | null): string[] {
  if (estimate === null) return [];
  const text = describeFirstReads(estimate);
  return [`${text.charAt(0).toUpperCase()}${text.slice(1)}.`];
}

/** Returns lines about deliveries, jobs and suspicious rows. */
function describeActivity(status: ShownStatus, now: number): string[] {
  const { newestDeliveryAt, ignored, findings } = status;
  const { due, planned, running, paused, failed } = status.jobs;
  return [
    `Newest delivery: ${newestDeliveryAt === null ? 'never' : `${formatAge(newestDeliveryAt, now)} ago`}. Ignored in the last 24 hours: ${ignored}.`,
    `Jobs: ${running} running, ${due + planned} waiting (${due} due now), ${paused} paused, ${failed} failed.`,
    describeFindings(findings, now),
  ];
}

/**
 * Returns a line with the number of issues, then a line for each issue that says who can solve it and how. Returns only "Nothing
 * needs attention." if there are no issues.
 */
function describeIssues({ issues }: ShownStatus): string[] {
  if (issues.length === 0) return ['Nothing needs attention.'];
  return [
    `${formatCount(issues.length, 'thing needs', 'things need')} attention:`,
    ...issues.map(issue =>
      [`  ${issue.found}.`, describeActor(issue) ?? [], describeRemedy(issue)].flat().join(' '),
    ),
  ];
}

/**
 * Returns a line with the number of certificates that are unavailable because the retirement is unclaimed (has no beneficiary). The table
 * of organizations includes these in its number of unavailable certificates. Returns no line if there are none.
 */
function describeUnclaimed({ organizations }: ShownStatus): string[] {
  const count = organizations.reduce((sum, { certificates }) => sum + (certificates['unclaimed'] ?? 0), 0);
  if (count === 0) return [];
  return [
    `${formatCount(count, 'certificate is', 'certificates are')} unavailable because the retirement is unclaimed: it has no beneficiary yet.`,
  ];
}

/** Describes each list that is not fresh in one line, with the reason. */
function describeListsNotFresh({ organizations }: ShownStatus): string[] {
  return organizations.flatMap(organization =>
    organization.resources.flatMap(list => {
      const reason = describeListState(list);
      // A list that the app was never permitted to read is left out.
      if (reason === null || (list.reason === 'no_permission' && !isFrozen(list))) return [];
      const name = truncateName(getOrganizationName(organization));
      return [`${name}, ${list.resource}: ${wordsOf(list)}: ${reason}`];
    }),
  );
}
