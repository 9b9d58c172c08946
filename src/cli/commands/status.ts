import type { Command } from 'commander';
import { readSettings } from '../../config/config.js';
import { type Disk, describeDisk } from '../../engines/contract/disk.js';
import {
  isFrozen,
  type OrganizationStatus,
  readStatus,
  type Status,
  worstOf,
} from '../../query/reads/status.js';
import { andMore, MOST_SHOWN } from '../../text/and-more.js';
import { commandFor, describeDelay } from '../shown/delayed.js';
import { shortName } from '../../text/clean.js';
import { examples } from '../command.js';
import { type Io, print } from '../io.js';
import { type Row, writeRows, writeValue } from '../output/output.js';
import { findPlace } from '../place/find-place.js';
import { reading, type Place } from '../place/place.js';
import { describeRound } from '../shown/round.js';
import { describeFindings } from '../shown/findings.js';
import { ofKnown } from '../../text/known.js';
import { stretch } from '../../text/stretch.js';
import { withThousands } from '../../text/thousands.js';

const COLUMNS = [
  'organization',
  'state',
  'warehouse',
  'inventory',
  'retirements',
  'certificates',
  'freshness',
  'oldest_read',
];

export function define(program: Command, io: Io): void {
  const command = program
    .command('status')
    .description('Show each organization: its state, rows, certificates and freshness, and what is stuck')
    .option('--all', `show more than ${MOST_SHOWN} organizations`)
    .option('--json', 'print everything as JSON')
    .action(async (options: { all?: boolean; json?: boolean }) => {
      const place = findPlace(io);
      const status = await reading(place, async reader => await readStatus(reader, io.now()));
      const work = await readSettings(place.env, 'work').catch(() => null);
      const mirror = { demo: place.demo, folder: place.engine.place };
      const disk = place.engine.lookAtDisk();
      if (options.json) return await writeValue(io, { mirror, disk, ...status });
      await print(io, firstLine(place, status, io.now()), ...describePause(disk), '');
      const first = <Item>(list: readonly Item[]) => (options.all ? list : list.slice(0, MOST_SHOWN));
      const rest = ({ length }: readonly unknown[]) => (options.all ? [] : describeRest(length));
      await writeRows(io, 'table', COLUMNS, first(status.organizations).map(toRow), {
        keep: ['organization', 'freshness'],
        tonnes: COUNTED,
        none: 'No organization is known yet: "carbon-mirror sync" looks for installations.',
      });
      const reasons = describeReasons(status);
      await print(
        io,
        ...rest(status.organizations),
        '',
        ...summary(status, work?.requestsPerSecond ?? null, io.now()),
      );
      await print(io, ...first(reasons), ...rest(reasons));
      return undefined;
    });
  examples(command, [
    'carbon-mirror status',
    "carbon-mirror status --json | jq '.organizations[].resources'",
  ]);
}

function toRow(organization: OrganizationStatus): Row {
  const rows = (name: string) => organization.resources.find(resource => resource.resource === name)?.rows;
  const ages = organization.resources.flatMap(resource =>
    resource.ageSeconds === null ? [] : [resource.ageSeconds],
  );
  const certificates = Object.entries(organization.certificates).map(
    ([state, count]) => `${withThousands(count)} ${state}`,
  );
  return {
    organization: nameOf(organization),
    state: organization.state,
    warehouse: rows('warehouse'),
    inventory: rows('inventory'),
    retirements: rows('retirements'),
    certificates: certificates.join(', ') || null,
    freshness: worstOf(organization),
    oldest_read: ages.length === 0 ? null : stretch(Math.max(...ages)),
  };
}

function nameOf({ name, organizationId, installationId }: OrganizationStatus): string {
  return name ?? organizationId ?? installationId;
}

const COUNTED = ['warehouse', 'inventory', 'retirements'];

/** Of several organizations together. */
function describeSums({ organizations }: Status): string[] {
  if (organizations.length < 2) return [];
  const rows = (name: string) =>
    organizations.flatMap(({ resources }) => resources).filter(({ resource }) => resource === name);
  const sum = (name: string) =>
    withThousands(rows(name).reduce((total, { rows: some }) => total + (some ?? 0), 0));
  const known = organizations.filter(({ state }) => state !== 'uninstalled');
  const unread = known.filter(({ state }) => state === 'never_read').length;
  const stored = organizations.reduce((total, { certificates }) => total + (certificates['stored'] ?? 0), 0);
  return [
    `Together, of ${ofKnown(known.length)}${unread > 0 ? `, ${withThousands(unread)} of them never read` : ''}: ${sum('warehouse')} rows in warehouses, ${sum('inventory')} in inventories, ${sum('retirements')} retirements, ${withThousands(stored)} certificates.`,
  ];
}

/** Which mirror this is, and whether anything is stuck. */
function firstLine({ demo, engine }: Place, status: Status, now: number): string {
  const registry = status.registry === null ? '' : ` of ${status.registry}`;
  const delivery = status.oldestDueDeliveryAt;
  return [
    `${demo ? 'The demo' : 'The mirror'} in ${engine.place}${registry}.`,
    WORKER[status.worker.state](stretch(secondsSince(status.worker.seenAt, now))),
    delivery === null
      ? 'No delivery is due.'
      : `The oldest due delivery waits for ${stretch(secondsSince(delivery, now))}.`,
    describeRefused(status),
  ].join(' ');
}

function describePause(disk: Disk | null): string[] {
  if (!disk?.paused) return [];
  return [`READS AND CERTIFICATES PAUSE: ${describeDisk(disk)}. Deliveries are still stored.`];
}

const WORKER: Readonly<Record<Status['worker']['state'], (since: string) => string>> = {
  alive: () => 'A worker lives.',
  gone: since => `NO WORKER LIVES: the last was seen ${since} ago.`,
  never_seen: () => 'No worker has ever watched.',
};

function describeRefused({ refused }: Status): string {
  const posts = refused.reduce((sum, each) => sum + each.posts, 0);
  if (posts === 0) return 'No post was refused since yesterday.';
  const reasons = [...new Set(refused.map(({ reason }) => reason.replaceAll('_', ' ')))].join(', ');
  return `${posts} ${posts === 1 ? 'post was' : 'posts were'} refused since yesterday: ${reasons}.`;
}

function secondsSince(at: string | null, now: number): number {
  return at === null ? 0 : (now - Date.parse(at)) / 1000;
}

function summary(status: Status, requestsPerSecond: number | null, now: number): string[] {
  const since = (at: string | null) => (at === null ? 'never' : `${stretch(secondsSince(at, now))} ago`);
  const { due, claimed, parked, buried, triedFirst, retrying, retryingError } = status.jobs;
  const lines = [
    ...describeSums(status),
    `Newest delivery: ${since(status.newestDeliveryAt)}. Set aside: ${status.setAside}.`,
    `Jobs: ${claimed} at work, ${due} due, ${parked} parked, ${buried} buried.`,
  ];
  if (status.round !== null) lines.push(`The schedule: ${describeRound(status.round, requestsPerSecond)}.`);
  for (const each of status.delayed) lines.push(`${describeDelay(each, now)}: see ${commandFor(each)}.`);
  if (triedFirst > 0)
    lines.push(
      `The registry answers again: ${triedFirst} that failed are left, and come before what is due.`,
    );
  if (retrying > 0)
    lines.push(`Failed more than once, and tried again by themselves: ${retrying}: ${retryingError}`);
  lines.push(describeFindings(status.findings, now));
  for (const { check, found, todo } of status.causes) lines.push(`${check}: ${found}. ${todo}`);
  if (buried > 0)
    lines.push('Stuck: see "carbon-mirror jobs list --state buried", then "carbon-mirror jobs retry ID".');
  return lines;
}

function describeReasons({ organizations }: Status): string[] {
  return organizations.flatMap(organization =>
    organization.resources.flatMap(each => {
      const why = isFrozen(each)
        ? `its ${withThousands(each.rows)} rows are those of ${each.completeAt}, and nothing later is known`
        : each.error;
      if (why === null || (each.state === 'forbidden' && !isFrozen(each))) return [];
      return [`${shortName(nameOf(organization))}, ${each.resource}: ${each.state}: ${why}`];
    }),
  );
}

function describeRest(count: number): string[] {
  const more = andMore(count);
  return more === null ? [] : [`${more}: carbon-mirror status --all`];
}
