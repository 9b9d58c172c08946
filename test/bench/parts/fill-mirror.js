// Creates a mirror of any size, filled through the ports that a worker uses.
import { createMirror } from '../../../dist/src/mirror/create-mirror.js';

/** @import { Engine } from '../../../dist/src/store/engine.js' */
/** @import { Mirror } from '../../../dist/src/mirror/mirror.js' */
/** @import { Credit, Retirement } from '../../../dist/src/registry/object-models.js' */
/** @typedef {{ clock: { at: number }, mirror: Mirror }} Stage */

const DAY_MS = 86_400_000;
const PAGE = 100;

/**
 * Opens an empty mirror whose clock, in milliseconds, starts some days ago and only moves on request.
 * @param {Engine} engine
 * @param {number} startedDaysAgo
 * @param {(stage: Stage) => Promise<void>} work
 */
export async function withWriters(engine, startedDaysAgo, work) {
  const clock = { at: Date.now() - startedDaysAgo * DAY_MS };
  await engine.migrate(clock.at);
  const writers = await engine.openWriterStores(() => clock.at);
  try {
    await work({ clock, mirror: createMirror(writers.mirror, () => clock.at) });
  } finally {
    await writers.close();
  }
}

/**
 * Records that an organization has installed the app.
 * @param {Stage} stage
 * @param {string} organizationId
 */
export async function install({ mirror, clock }, organizationId) {
  const installation = {
    id: `of-${organizationId}`,
    appId: 'app-1',
    organizationId,
    organization: null,
    permissions: { organization_info: 'VIEW', organization_warehouse: 'WRITE' },
    createdAt: null,
    updatedAt: null,
    document: '{}',
  };
  await mirror.writeInstallation({ ...createRun(clock), installation, state: 'active' });
}

/**
 * Performs a complete read of one list, which removes all other rows.
 * @param {Stage} stage
 * @param {string} organizationId
 * @param {'warehouse' | 'retirements'} resource
 * @param {number} rows
 * @param {(organizationId: string, n: number) => Credit | Retirement} make
 */
export async function read({ mirror, clock }, organizationId, resource, rows, make) {
  const reading = await mirror.beginRead({
    ...createRun(clock),
    organizationId,
    resource,
    hasNewDelivery: async () => true,
  });
  const size = resource === 'warehouse' ? rows : PAGE;
  for (let page = 0; page * size < rows; page++) {
    const items = Array.from({ length: Math.min(size, rows - page * size) }, (_, n) =>
      make(organizationId, page * size + n),
    );
    if (resource === 'warehouse') await reading.writeBatch(items, clock.at);
    else {
      const digest = `${page}`;
      const unknownGroups = [{ digest, ids: items.map(item => ('id' in item ? item.id : item.creditId)) }];
      await reading.writePage({
        digest,
        isKnown: false,
        knownGroups: [],
        unknownGroups,
        items,
        arrivedAt: clock.at,
      });
    }
  }
  await reading.finish({ total: rows, requests: 1, bytes: 1 });
}

/**
 * Returns the job and the instants of a sync.
 * @param {{ at: number }} clock
 */
function createRun({ at }) {
  return { claim: 1, trigger: 'delivery', startedAt: at, arrivedAt: at };
}

/**
 * Creates a retirement; one in twenty is unclaimed.
 * @param {string} organizationId
 * @param {number} n
 * @param {string | null} [beneficiary]
 * @returns {Retirement}
 */
export function retirement(
  organizationId,
  n,
  beneficiary = n % 20 === 0 ? null : `Beneficiary ${n % 5_000}`,
) {
  const item = {
    ...common(organizationId, n),
    id: `${organizationId}-retirement-${n}`,
    reason: 'Voluntary purposes',
    beneficiary,
    comment: null,
    isClaimed: beneficiary !== null,
    createdAt: new Date(Date.UTC(2018, n % 96, 1 + (n % 28))).toISOString(),
  };
  return { ...item, document: JSON.stringify({ ...item, amount: item.amount.value }) };
}

/**
 * @param {string} organizationId
 * @param {number} n
 * @returns {Credit}
 */
export function credit(organizationId, n) {
  const item = {
    ...common(organizationId, n),
    creditId: `exPost-${n}-0x00`,
    inventoryId: null,
    type: 'exPost',
    tokenId: null,
    tokenAddress: null,
    unit: 'tonne',
    supply: null,
  };
  return { ...item, document: JSON.stringify({ ...item, amount: item.amount.value }) };
}

/**
 * Returns the fields that credits and retirements share.
 * @param {string} organizationId
 * @param {number} n
 */
function common(organizationId, n) {
  return {
    organizationId,
    project: { id: `project-${n % 40}`, fullName: `Project ${n % 40}` },
    serialization: `ICR-ISL-354-1-${n % 40}-R-0-${2015 + (n % 8)}`,
    vintage: String(2015 + (n % 8)),
    amount: {
      exact: `${n % 500}.25`,
      value: (n % 500) + 0.25,
      micro: BigInt((n % 500) * 1_000_000 + 250_000),
      fault: null,
    },
  };
}
