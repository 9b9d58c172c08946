import { readSettings } from '../../../app/config/config.js';
import { createLog } from '../../../app/log.js';
import { startReceiver } from '../../../app/receive.js';
import { openInOrder } from '../../../app/shutdown.js';
import { startWorker } from '../../../app/work.js';
import { createInstallationJob } from '../../../inbox/job.js';
import type { InboxPort } from '../../../inbox/port.js';
import { createMask } from '../../../registry/http/mask.js';
import type { Sandbox } from '../../../sandbox/start.js';
import type { Engine } from '../../../store/engine.js';
import { WEBHOOK_PATH } from '../../../webhook/pages.js';
import type { Io } from '../../io.js';

const DAY_MS = 86_400_000;
const DAYS_OF_MONTH = 30;
export const MONTHS = 6;
const FIRST_DAY = MONTHS * DAYS_OF_MONTH;

/** How many days before the first start it happened; after each the mirror reads what it heard of. */
const PAST: readonly (readonly [daysAgo: number, act: (stage: Stage) => unknown])[] = [
  [172, stage => stage.sell(0, 4000, 'Nordlys Ferries AS')],
  [165, stage => stage.sell(1, 1250, 'Brightwater Foods Ltd')],
  [143, stage => stage.deposit(0, 6000)],
  [137, stage => stage.sell(0, 1800, 'Kestrelwood Hotels B.V.')],
  [128, stage => stage.transfer(1, 0, 1500)],
  [112, stage => stage.sell(2, 2200, 'Quillford Logistics GmbH')],
  [108, stage => stage.restateNewest('Quillford Freight GmbH')],
  [104, stage => stage.sell(0, 3500, 'Aurelia Airways S.A.')],
  [91, stage => stage.readAll()],
  [83, stage => stage.suspend(3)],
  [76, stage => stage.sell(1, 750, 'Larkmere Paper Oy')],
  [69, stage => stage.unsuspend(3)],
  [54, stage => stage.sell(0, 2800, 'Nordlys Ferries AS')],
  [48, stage => stage.loseTheNextWebhook()],
  [47, stage => stage.sell(2, 1200, 'Thistledown Bakeries ApS')],
  [31, stage => stage.readAll()],
  [24, stage => stage.deposit(1, 4500)],
  [17, stage => stage.sell(1, 1000, 'Havenport Insurance Inc.')],
  /** Half an hour ago: the reads that follow are not held back by the pace of one read a second. */
  [0.02, stage => stage.sell(0, 1600, 'Solvanna Ceramics Pvt.')],
  [0, stage => stage.reserveAndRead(0, 250)],
  [0, stage => stage.reserveAndRead(1, 40)],
  [0, stage => stage.readAll()],
];

type Stage = ReturnType<typeof createStage>;

/** What can be done there by the organization at a place, in the order of their names. */
function createStage({ registry }: Sandbox, inbox: InboxPort, appId: string) {
  const { installations, reservations, credits, deliveries, retirements, store } = registry;
  const owners = registry.organizations.listAll().toSorted((a, b) => (a.fullName < b.fullName ? -1 : 1));
  const installed = installations.listAll().filter(each => each.appId === appId);
  const owner = (place: number) => owners[place]?.id ?? '';
  const installation = (place: number) =>
    installed.find(({ organization }) => organization.id === owner(place))?.id ?? '';

  function creditOf(place: number, where: 'warehouse' | 'inventory', tonnes: number): string {
    const { accounts, tables } = store;
    const enough = accounts
      .listHoldings(owner(place), where)
      .filter(
        row => row.amountMicro >= tonnes * 1e6 && tables.credits.getOrThrow(row.creditId).type === 'exPost',
      );
    const held = enough[tables.reservations.count() % enough.length];
    if (held === undefined) throw new Error(`no ${where} credit of ${tonnes} t at ${owner(place)}`);
    return held.creditId;
  }

  function reserve(place: number, amount: number) {
    const creditId = creditOf(place, 'warehouse', amount);
    return reservations.reserve(owner(place), appId, { creditId, amount });
  }

  function finish(place: number, tonnes: number, action: 'retire' | 'transfer', body: object): void {
    const { id } = reserve(place, tonnes);
    reservations.finish(owner(place), appId, { id, action, body });
  }

  return {
    /** The registry sends no webhook for a reservation: who reserves asks for a read. */
    reserveAndRead: (place: number, amount: number) => {
      reserve(place, amount);
      return inbox.enqueue([createInstallationJob(installation(place), owner(place), 'person')]);
    },
    sell: (place: number, tonnes: number, beneficiaryName: string) =>
      finish(place, tonnes, 'retire', { retirementData: { beneficiaryName, reason: 'Compliance' } }),
    transfer: (from: number, to: number, tonnes: number) =>
      finish(from, tonnes, 'transfer', { receiverId: owner(to) }),
    deposit: (place: number, amount: number) =>
      credits.deposit(owner(place), { creditId: creditOf(place, 'inventory', amount), amount }),
    /** The registry says another beneficiary, and no webhook tells of it. */
    restateNewest: (beneficiary: string) => {
      for (const { id } of store.tables.retirements.listNewest(1))
        retirements.changeDetails(id, { beneficiary, reason: 'Compliance' });
    },
    loseTheNextWebhook: () => deliveries.changeSettings({ drop: 1 }),
    suspend: (place: number) => installations.suspend(installation(place)),
    unsuspend: (place: number) => installations.unsuspend(installation(place)),
    /** As the schedule does: it finds what no webhook told of. */
    readAll: () =>
      inbox.enqueue(
        installed.map(({ id, organization }) => createInstallationJob(id, organization.id, 'schedule')),
      ),
  };
}

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
  /** Called as each month begins to be played; the first month is 1. */
  readonly onMonth: (month: number) => void;
}

/** Six months within seconds, by the programs themselves: only their clock is another, and no budget of calls holds them up. */
export async function playPast(past: Past): Promise<void> {
  const { engine, env, sandbox, appId, clock, stopping } = past;
  const { apps, deliveries } = sandbox.registry;
  const { now } = clock;
  const tools = { now, log: createLog({ level: 'silent', mask: createMask([]), now, pretty: false }) };
  const settings = { ...env, PORT: '0', OPERATIONS_PORT: '', REGISTRY_REQUESTS_PER_SECOND: '10000' };
  await openInOrder(async shutdown => {
    shutdown.add(() => clock.moveTo(0));
    const { inbox, close } = await engine.openWriters(now);
    shutdown.add(close);
    const receive = await startReceiver(await readSettings(settings, 'receive'), tools);
    shutdown.add(() => receive.stop());
    const work = await startWorker({ ...(await readSettings(settings, 'work')), syncSchedule: null }, tools);
    shutdown.add(() => work.stop());
    const read = async () => {
      await deliveries.waitUntilSettled();
      await work.sync.idle();
    };
    apps.change(appId, { webhookUrl: `http://127.0.0.1:${receive.port}${WEBHOOK_PATH}` });
    let month = 1;
    past.onMonth(month);
    past.install();
    await read();
    const stage = createStage(sandbox, inbox, appId);
    for (const [daysAgo, act] of PAST) {
      if (stopping.aborted) break;
      for (; month < MONTHS && month * DAYS_OF_MONTH <= FIRST_DAY - daysAgo; past.onMonth(month)) month += 1;
      clock.moveTo(daysAgo);
      await act(stage);
      await read();
    }
    await shutdown.close();
  });
}
