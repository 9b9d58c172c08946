import { readSettings } from '../../../app/config/read-settings.js';
import { createLog } from '../../../app/log.js';
import { startReceiver } from '../../../app/receive.js';
import { openWithCleanup } from '../../../app/shutdown.js';
import { startWorker } from '../../../app/work.js';
import { createInstallationJob } from '../../../inbox/job.js';
import type { InboxPort } from '../../../inbox/port.js';
import { createMask } from '../../../text/mask.js';
import type { Sandbox } from '../../../sandbox/start.js';
import type { Engine } from '../../../store/engine.js';
import { WEBHOOK_PATH } from '../../../webhook/visitor-pages.js';
import type { Io } from '../../io.js';

const DAY_MS = 86_400_000;
/** The history spans a year end, and at least this many days after it. */
const MIN_DAYS_SINCE_YEAR_END = 90;
const FIRST_READ = -31;
const PRESENT = 1;

/**
 * Events of the history, oldest first. A position below 0 is in days before the year end; a position from 0 to 1 is a part of
 * the time from the year end to the present. Organizations are given by their index in alphabetical order.
 */
const HISTORY_EVENTS: readonly (readonly [position: number, act: (market: MarketActions) => unknown])[] = [
  [-27.6, market => market.sell(0, 4000, 'Nordlys Ferries AS')],
  [-23.4, market => market.sell(1, 1250, 'Brightwater Foods Ltd')],
  [-16.7, market => market.deposit(0, 6000)],
  [-12.5, market => market.sell(0, 1800, 'Kestrelwood Hotels B.V.')],
  [-9.4, market => market.transfer(1, 0, 1500)],
  [-5.6, market => market.sell(2, 2200, 'Quillford Logistics GmbH')],
  /** Half an hour before midnight, so that the records as of the year end are recent. */
  [-0.02, market => market.readAll()],
  [0.02, market => market.restateNewest('Quillford Freight GmbH')],
  [0.04, market => market.dropNextWebhook()],
  [0.04, market => market.sell(2, 1200, 'Thistledown Bakeries ApS')],
  [0.06, market => market.readAll()],
  [0.15, market => market.sell(0, 3500, 'Aurelia Airways S.A.')],
  [0.27, market => market.suspend(3)],
  [0.34, market => market.sell(1, 750, 'Larkmere Paper Oy')],
  [0.38, market => market.unsuspend(3)],
  [0.56, market => market.sell(0, 2800, 'Nordlys Ferries AS')],
  [0.73, market => market.deposit(1, 4500)],
  [0.91, market => market.sell(1, 1000, 'Havenport Insurance Inc.')],
  /** Some minutes ago, so that pacing does not delay the reads of the last three events. */
  [0.9999, market => market.sell(0, 1600, 'Solvanna Ceramics Pvt.')],
  [PRESENT, market => market.reserveAndRead(0, 250)],
  [PRESENT, market => market.reserveAndRead(1, 40)],
  [PRESENT, market => market.readAll()],
];

/** Functions that act as organizations of the sandbox. */
type MarketActions = ReturnType<typeof createMarketActions>;

/**
 * Creates functions that act as organizations of the sandbox, such as `sell`. They identify an organization
 * by its index in alphabetical order.
 */
function createMarketActions({ registry }: Sandbox, inbox: InboxPort, appId: string) {
  const { installations, reservations, credits, deliveries, retirements, store } = registry;
  const organizations = registry.organizations
    .listAll()
    .toSorted((left, right) => (left.fullName < right.fullName ? -1 : 1));
  const appInstallations = installations.listAll().filter(installation => installation.appId === appId);
  const getOrganizationId = (organizationIndex: number) => organizations[organizationIndex]?.id ?? '';
  const getInstallationId = (organizationIndex: number) =>
    appInstallations.find(({ organization }) => organization.id === getOrganizationId(organizationIndex))
      ?.id ?? '';

  /** Returns the id of an ex-post credit with at least `tonnes` in this account. */
  function chooseCredit(
    organizationIndex: number,
    account: 'warehouse' | 'inventory',
    tonnes: number,
  ): string {
    const { accounts, tables } = store;
    const sufficient = accounts
      .listHoldings(getOrganizationId(organizationIndex), account)
      .filter(
        row => row.amountMicro >= tonnes * 1e6 && tables.credits.getOrThrow(row.creditId).type === 'exPost',
      );
    // Takes turns, so that reservations use different credits.
    const holding = sufficient[tables.reservations.count() % sufficient.length];
    if (holding === undefined)
      throw new Error(`no ${account} credit of ${tonnes} t at ${getOrganizationId(organizationIndex)}`);
    return holding.creditId;
  }

  /**
   * Reserves `amount` tonnes of a single ex-post credit for the app. The credit is in the warehouse of the organization with this index.
   * Returns the reservation. Throws if no credit in the warehouse has so many tonnes.
   */
  function reserveCredits(organizationIndex: number, amount: number) {
    const creditId = chooseCredit(organizationIndex, 'warehouse', amount);
    return reservations.reserve(getOrganizationId(organizationIndex), appId, { creditId, amount });
  }

  /** Reserves credits, then retires or transfers them. `body` has the details of the retirement or transfer. */
  function moveCredits(
    organizationIndex: number,
    tonnes: number,
    action: 'retire' | 'transfer',
    body: object,
  ): void {
    const { id } = reserveCredits(organizationIndex, tonnes);
    reservations.finish(getOrganizationId(organizationIndex), appId, { id, action, body });
  }

  return {
    /** Reserves credits and enqueues a read, because the registry sends no webhook for a reservation. */
    reserveAndRead: (organizationIndex: number, amount: number) => {
      reserveCredits(organizationIndex, amount);
      return inbox.enqueue([
        createInstallationJob(
          getInstallationId(organizationIndex),
          getOrganizationId(organizationIndex),
          'person',
        ),
      ]);
    },
    sell: (organizationIndex: number, tonnes: number, beneficiaryName: string) =>
      moveCredits(organizationIndex, tonnes, 'retire', {
        retirementData: { beneficiaryName, reason: 'Compliance' },
      }),
    transfer: (senderIndex: number, receiverIndex: number, tonnes: number) =>
      moveCredits(senderIndex, tonnes, 'transfer', { receiverId: getOrganizationId(receiverIndex) }),
    deposit: (organizationIndex: number, amount: number) =>
      credits.deposit(getOrganizationId(organizationIndex), {
        creditId: chooseCredit(organizationIndex, 'inventory', amount),
        amount,
      }),
    /** Changes the beneficiary of the newest retirement at the registry, without a webhook. */
    restateNewest: (beneficiary: string) => {
      for (const { id } of store.tables.retirements.listNewest(1))
        retirements.changeDetails(id, { beneficiary, reason: 'Compliance' });
    },
    dropNextWebhook: () => deliveries.changeSettings({ drop: 1 }),
    suspend: (organizationIndex: number) => installations.suspend(getInstallationId(organizationIndex)),
    unsuspend: (organizationIndex: number) => installations.unsuspend(getInstallationId(organizationIndex)),
    /** Enqueues a scheduled read of every installation, which also finds changes without a webhook. */
    readAll: () =>
      inbox.enqueue(
        appInstallations.map(({ id, organization }) =>
          createInstallationJob(id, organization.id, 'schedule'),
        ),
      ),
  };
}

/** Creates a clock that can be set to a time in the simulated history, such as an instant before or after the year end. */
export function createHistoryClock(now: () => number) {
  const sinceYearEndMs = now() - findYearEnd(now());
  let delayMs = 0;
  const clock = {
    now: () => now() - delayMs,
    /** Sets the clock to a position of the history. */
    setPosition: (position: number) => {
      delayMs = Math.round(
        position < 0 ? sinceYearEndMs - position * DAY_MS : sinceYearEndMs * (1 - position),
      );
    },
    setPresent: () => clock.setPosition(PRESENT),
  };
  clock.setPosition(FIRST_READ);
  return clock;
}

/** Returns the latest end of a year that is long enough ago for the history after it. */
function findYearEnd(now: number): number {
  return Date.UTC(new Date(now - MIN_DAYS_SINCE_YEAR_END * DAY_MS).getUTCFullYear(), 0, 1);
}

export interface HistoryOptions {
  readonly engine: Engine;
  readonly env: Io['env'];
  readonly sandbox: Sandbox;
  readonly appId: string;
  readonly clock: ReturnType<typeof createHistoryClock>;
  /** Installs the app on the organizations. */
  readonly install: () => void;
  readonly stopping: AbortSignal;
  /** Called with each month in which something happens, such as `2025-12`. */
  readonly onMonth: (month: string) => void;
}

/** Replays the demo's months of market events within seconds, on a simulated clock. A real receiver and worker mirror them. */
export async function playHistory(options: HistoryOptions): Promise<void> {
  const { engine, env, sandbox, appId, clock, stopping, onMonth } = options;
  const { apps, deliveries } = sandbox.registry;
  const { now } = clock;
  const tools = { now, log: createLog({ level: 'silent', mask: createMask([]), now, pretty: false }) };
  const settings = { ...env, PORT: '0', OPERATIONS_PORT: '', REGISTRY_REQUESTS_PER_SECOND: '10000' };
  await openWithCleanup(async shutdown => {
    /** The clock shows the present afterwards, even after a failure. */
    shutdown.add(clock.setPresent);
    const { inbox, close } = await engine.openWriterStores(now);
    shutdown.add(close);
    const receive = await startReceiver(await readSettings(settings, 'receive'), tools);
    shutdown.add(() => receive.stop());
    const work = await startWorker({ ...(await readSettings(settings, 'work')), syncSchedule: null }, tools);
    shutdown.add(() => work.stop());
    const waitUntilRead = async () => {
      await deliveries.waitUntilSettled();
      await work.sync.idle();
    };
    apps.change(appId, { webhookUrl: `http://127.0.0.1:${receive.port}${WEBHOOK_PATH}` });
    let month = getMonth(now());
    onMonth(month);
    options.install();
    await waitUntilRead();
    const market = createMarketActions(sandbox, inbox, appId);
    for (const [position, act] of HISTORY_EVENTS) {
      if (stopping.aborted) break;
      clock.setPosition(position);
      if (getMonth(now()) !== month) {
        month = getMonth(now());
        onMonth(month);
      }
      await act(market);
      await waitUntilRead();
    }
    await shutdown.close();
  });
}

function getMonth(at: number): string {
  return new Date(at).toISOString().slice(0, 'YYYY-MM'.length);
}
