import { readSettings } from '../../../app/config/config.js';
import { createLog } from '../../../app/log.js';
import { startReceive } from '../../../app/receive.js';
import { openAll } from '../../../app/shutdown.js';
import { startWork } from '../../../app/work.js';
import { installationJob } from '../../../inbox/job.js';
import type { InboxPort } from '../../../inbox/port.js';
import { createMask } from '../../../registry/http/mask.js';
import type { Sandbox } from '../../../sandbox/start.js';
import type { Engine } from '../../../store/engine.js';
import { WEBHOOK_PATH } from '../../../webhook/pages.js';
import type { Io } from '../../io.js';

const DAY_MS = 86_400_000;
const MONTH_DAYS = 30;
const FIRST_DAY = 6 * MONTH_DAYS;

interface Stage {
  readonly registry: Sandbox['registry'];
  readonly inbox: InboxPort;
  readonly appId: string;
  /** The id of the organization at this place, in the order of its name. */
  readonly organization: (place: number) => string;
  readonly installation: (place: number) => string;
  readonly installations: readonly Installation[];
}

type Installation = ReturnType<Sandbox['registry']['installations']['all']>[number];
type Act = (stage: Stage) => unknown;

const sell =
  (place: number, tonnes: number, beneficiaryName: string): Act =>
  stage =>
    finish(stage, place, tonnes, 'retire', { retirementData: { beneficiaryName, reason: 'Compliance' } });

const transfer =
  (from: number, to: number, tonnes: number): Act =>
  stage =>
    finish(stage, from, tonnes, 'transfer', { receiverId: stage.organization(to) });

const reserve =
  (place: number, tonnes: number): Act =>
  stage =>
    reserveSome(stage, place, tonnes);

const deposit =
  (place: number, tonnes: number): Act =>
  ({ registry, organization }) => {
    const id = organization(place);
    const credit = someOf(registry, id, 'inventory', tonnes);
    registry.credits.deposit(id, { creditId: credit, amount: tonnes });
  };

/** The registry says another beneficiary of the newest retirement, and no webhook tells of it. */
const restate =
  (beneficiary: string): Act =>
  ({ registry }) => {
    const [newest] = registry.store.tables.retirements.newest(1);
    if (newest !== undefined) registry.retirements.describe(newest.id, { beneficiary, reason: 'Compliance' });
  };

const loseTheNextWebhook: Act = ({ registry }) => registry.deliveries.behave({ drop: 1 });
const suspend: Act = ({ registry, installation }) => registry.installations.suspend(installation(3));
const unsuspend: Act = ({ registry, installation }) => registry.installations.unsuspend(installation(3));

/** Reads all, and finds what no webhook told of. */
const round: Act = ({ inbox, installations }) =>
  inbox.enqueue(
    installations.map(({ id, organization }) => installationJob(id, organization.id, 'schedule')),
  );

/** How many days before the first start it happened; after each the mirror reads what it heard of. */
const PAST: readonly (readonly [daysAgo: number, act: Act])[] = [
  [172, sell(0, 4000, 'Nordlys Ferries AS')],
  [165, sell(1, 1250, 'Brightwater Foods Ltd')],
  [143, deposit(0, 6000)],
  [137, sell(0, 1800, 'Kestrelwood Hotels B.V.')],
  [128, transfer(1, 0, 1500)],
  [112, sell(2, 2200, 'Quillford Logistics GmbH')],
  [108, restate('Quillford Freight GmbH')],
  [104, sell(0, 3500, 'Aurelia Airways S.A.')],
  [91, round],
  [83, suspend],
  [76, sell(1, 750, 'Larkmere Paper Oy')],
  [69, unsuspend],
  [54, sell(0, 2800, 'Nordlys Ferries AS')],
  [48, loseTheNextWebhook],
  [47, sell(2, 1200, 'Thistledown Bakeries ApS')],
  [31, round],
  [24, deposit(1, 4500)],
  [17, sell(1, 1000, 'Havenport Insurance Inc.')],
  [9, sell(0, 1600, 'Solvanna Ceramics Pvt.')],
  [0, reserve(0, 250)],
  [0, reserve(1, 40)],
  [0, round],
];

/** Of a registry and a mirror that are made now and are to have a past: it is played through, and ends at the present. */
export function createPastClock(now: () => number) {
  let behindMs = FIRST_DAY * DAY_MS;
  return {
    now: () => now() - behindMs,
    moveTo: (daysAgo: number) => {
      behindMs = daysAgo * DAY_MS;
    },
  };
}

export interface Past {
  readonly engine: Engine;
  readonly env: Io['env'];
  readonly sandbox: Sandbox;
  readonly appId: string;
  readonly clock: ReturnType<typeof createPastClock>;
  readonly install: () => void;
  readonly stopping: AbortSignal;
}

/** Six months within seconds, by the programs themselves: only their clock is another, and no budget of calls holds them up. */
export async function playPast(past: Past): Promise<void> {
  const { engine, env, sandbox, appId, clock, stopping } = past;
  const { registry } = sandbox;
  const tools = {
    now: clock.now,
    log: createLog({ level: 'silent', mask: createMask([]), now: clock.now, pretty: false }),
  };
  const settings = { ...env, PORT: '0', OPERATIONS_PORT: '', REGISTRY_REQUESTS_PER_SECOND: '10000' };
  await openAll(async shutdown => {
    shutdown.add(() => clock.moveTo(0));
    const { inbox, close } = await engine.openWriters(clock.now);
    shutdown.add(close);
    const receive = await startReceive(await readSettings(settings, 'receive'), tools);
    shutdown.add(() => receive.stop());
    const work = await startWork({ ...(await readSettings(settings, 'work')), syncSchedule: null }, tools);
    shutdown.add(() => work.stop());
    const read = async () => {
      await registry.deliveries.settled();
      await work.sync.idle();
    };
    registry.apps.change(appId, { webhookUrl: `http://127.0.0.1:${receive.port}${WEBHOOK_PATH}` });
    past.install();
    await read();
    const stage = stageOf(registry, inbox, appId);
    for (const [daysAgo, act] of PAST) {
      if (stopping.aborted) break;
      clock.moveTo(daysAgo);
      await act(stage);
      await read();
    }
    await shutdown.close();
  });
}

function stageOf(registry: Sandbox['registry'], inbox: InboxPort, appId: string): Stage {
  const organizations = registry.organizations.all().toSorted((a, b) => (a.fullName < b.fullName ? -1 : 1));
  const installations = registry.installations.all().filter(each => each.appId === appId);
  const organization = (place: number) => organizations[place]?.id ?? '';
  return {
    registry,
    inbox,
    appId,
    organization,
    installations,
    installation: place => installations.find(each => each.organization.id === organization(place))?.id ?? '',
  };
}

function someOf(
  { store }: Sandbox['registry'],
  organizationId: string,
  place: 'warehouse' | 'inventory',
  tonnes: number,
) {
  const { accounts, tables } = store;
  const enough = accounts
    .held(organizationId, place)
    .filter(row => row.amountMicro >= tonnes * 1e6 && tables.credits.find(row.creditId).type === 'exPost');
  const held = enough[tables.reservations.count() % enough.length];
  if (held === undefined)
    throw new Error(`no credit of ${tonnes} t stands in the ${place} of ${organizationId}`);
  return held.creditId;
}

function reserveSome({ registry, organization, appId }: Stage, place: number, amount: number) {
  const id = organization(place);
  const creditId = someOf(registry, id, 'warehouse', amount);
  return registry.reservations.reserve(id, appId, { creditId, amount });
}

function finish(stage: Stage, place: number, tonnes: number, action: 'retire' | 'transfer', body: object) {
  const { id } = reserveSome(stage, place, tonnes);
  stage.registry.reservations.finish(stage.organization(place), stage.appId, { id, action, body });
}
