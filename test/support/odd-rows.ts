import { beginCertificateWalk, streamPdf } from './certificates.js';
import { createProjectAnswer } from '../../src/mirror/sync-session.js';
import type { InstallationState } from '../../src/store/contract/states.js';
import { createAmount } from '../../src/registry/json/amount.js';
import type { Amount, Organization, Reservation } from '../../src/registry/object-models.js';
import { type TestMirror, MINUTE, TRAFFIC, writeInstallation } from './mirror/open.js';
import { credit, retirement } from './mirror/rows.js';
import { NOON } from './inbox.js';
import type { Tables } from './tables.js';

/** Texts that collations and engines sort differently. */
export const TEXTS = [
  'Zebra',
  'zebra',
  'Äpfel',
  'äpfel',
  'Apfel',
  'e\u0301',
  'é',
  '\uFF5E',
  '😀',
  '\uD800 alone',
  'with\0NUL',
  'a_b',
  'a-b',
  'A b',
  '%',
  "o'b",
  '\\',
  '',
];

const AMOUNTS = [
  '-0',
  '1E3',
  '00.5',
  '0.1',
  '0.2',
  '0.0000001',
  '9007.199254740993',
  '9e12',
  '1e30',
  '5e-324',
  'x',
];
const INSTANTS = [
  '0000-06-01T00:00:00.000Z',
  '0000-12-31T23:30:00.000Z',
  '0001-01-01T00:30:00.000Z',
  '9999-12-31T23:59:59.999Z',
  '2024-02-29T12:00:00.123Z',
  '2024-02-29T12:00:00.999Z',
  '2024-02-29T00:00:00.000Z',
  null,
];
const OWNERS = ['organization-1', 'Organization-1', 'organization_1', `o${'-long'.repeat(25)}`] as const;
const STATES: readonly InstallationState[] = ['active', 'active', 'suspended', 'active'];

const pickCyclic = <Item>(items: readonly Item[], index: number): Item => {
  const item = items[index % items.length];
  if (item === undefined) throw new Error('expected items');
  return item;
};

const oddAmount = (index: number): Amount => createAmount(pickCyclic(AMOUNTS, index));

/** Fills every list of four organizations with odd rows that the registry might send, and records failed reads. */
export async function fillWithOddRows(stage: TestMirror): Promise<void> {
  const { mirror, clock } = stage;
  await mirror.checkOrigin({ baseUrl: 'https://registry.example', appId: 'app-1' });
  for (const [index, organizationId] of OWNERS.entries()) {
    clock.at += MINUTE;
    await writeInstallation(stage, index + 1, { organizationId, ...describeNamedOrganization(index) });
    await fillOrganization(stage, organizationId, index);
    const state = pickCyclic(STATES, index);
    const change = { claim: 1, startedAt: clock.at, arrivedAt: clock.at, trigger: 'delivery', state };
    if (state !== 'active') {
      await mirror.writeInstallation({ ...change, installationId: `installation-${index + 1}` });
    }
  }
  await mirror.markAccess('no_permission', createWriteClaim('organization_1'), ['members'], clock.at);
  await mirror.markAccess('refused', createWriteClaim('organization_1'), ['addresses'], clock.at);
  await mirror.markAccess('not_offered', createWriteClaim('organization_1'), ['inventory'], clock.at);
  await stage.db.change(`UPDATE syncs SET state = 'running', finished_at = NULL
    WHERE resource = 'inventory' AND organization_id = 'organization-1'`);
}

const READ_REQUEST = {
  organizationId: 'organization-1',
  trigger: 'schedule',
  hasNewDelivery: async () => false,
} as const;
const createWriteClaim = (organizationId: string) => ({ organizationId, part: 'data', claim: 1 });

/** Returns an installation's document with the name of its organization, which for three of the four is in no list. */
function describeNamedOrganization(index: number): { organization: Organization | null; document: string } {
  const organization = { fullName: pickCyclic(TEXTS, index) };
  return {
    organization: null,
    document: JSON.stringify({ organization: index === 3 ? null : organization }),
  };
}

async function fillOrganization(stage: TestMirror, organizationId: string, turn: number): Promise<void> {
  const { read, mirror, clock } = stage;
  const by = { ...READ_REQUEST, organizationId };
  if (turn === 0) await read('organization', [oddOrganization(organizationId, turn)], by);
  const credits = TEXTS.filter(id => id !== '').map((id, index) =>
    oddCredit(`${id} ${turn}`, index, organizationId),
  );
  await read('warehouse', credits, by);
  await read('inventory', credits.slice(0, 5), by);
  const reservations = INSTANTS.map((_, index) => oddReservation(`h-${index}`, index));
  await read('reservations', reservations, by);
  await read(
    'inventory_requests',
    INSTANTS.map((_, index) => oddRequest(`q-${index}`, index)),
    by,
  );
  await read(
    'addresses',
    TEXTS.map((name, index) => oddAddress(`a-${index}`, name, index)),
    by,
  );
  await read(
    'members',
    TEXTS.map((fullName, index) => oddMember(`m-${index}`, fullName)),
    by,
  );
  const ids = TEXTS.map((_, index) => `R${index % 3}${'-long'.repeat(index)}`);
  const retired = ids.map((id, index) => oddRetirement(id, index, organizationId));
  await read('retirements', retired, { ...by, limit: 5, total: retired.length });
  await storeCertificates(stage, organizationId, ids);
  await writeProjects(stage, organizationId, turn);
  clock.at += MINUTE;
  await read('warehouse', credits.slice(1), by);
  await read('retirements', retired.slice(1), { ...by, limit: 5, findGone: async gone => gone });
  await storeCertificates(stage, organizationId, []);
  const failed = await mirror.beginRead({ ...by, resource: 'addresses', claim: 1, startedAt: clock.at });
  const answer = { status: 404, form: 'none', at: clock.at, text: null } as const;
  const fault = { code: 'timeout', message: `no answer within ${toPrintableText(turn)}` };
  await failed.abandon(fault, { ...TRAFFIC, lastAnswerAt: clock.at, answer });
  if (turn === 1) await mirror.forget('zebra@example.com');
}

const pickText = (index: number) => pickCyclic(TEXTS, index);
/** Replaces characters that the mirror's own messages never contain. */
const toPrintableText = (index: number) => pickText(index).replaceAll(/[\0\uD800]/g, '?');
const oddProject = (index: number) =>
  index % 4 === 0 ? null : { id: `project-${index % 5}`, fullName: pickText(index + 3) };

function oddOrganization(id: string, index: number): Organization {
  const createdAt = pickCyclic(INSTANTS, index);
  const words = {
    type: null,
    countryCode: 'IS',
    city: null,
    zip: null,
    physicalAddress: null,
    registrationNumber: null,
    logo: null,
    website: pickText(index + 8),
    isPublic: null,
    updatedAt: null,
  };
  return { id, fullName: pickText(index + 2), createdAt, ...words, document: formatOddDocument({ id }) };
}

/** Formats a document with escapes, duplicate keys and unusual digits. */
function formatOddDocument(what: object): string {
  return `{"b":1.50,"b":"\\u0000\\ud800 \\u00e4 ä 😀","amount":1E3, "a":${JSON.stringify(what)}}`;
}

function oddCredit(creditId: string, index: number, organizationId: string) {
  return credit(creditId.replaceAll(/[\0\uD800]/g, '?'), {
    inventoryId: index % 3 === 0 ? null : `i-${index % 2}`,
    organizationId,
    project: oddProject(index),
    vintage: index % 2 === 0 ? null : pickText(index),
    type: index % 5 === 0 ? null : 'exPost',
    serialization: index % 4 === 0 ? null : `ICR-ÄÖ-${pickText(index)}-2021`,
    amount: oddAmount(index),
    document: formatOddDocument({ creditId }),
  });
}

function oddReservation(id: string, index: number): Reservation {
  return {
    id,
    creditId: `c-${index}`,
    serialization: index % 2 === 0 ? 'ICR-ÄÖ-Zebra-2021' : null,
    type: null,
    amount: oddAmount(index),
    project: oddProject(index),
    reserverId: null,
    reserverName: pickText(index),
    state: index % 3 === 0 ? 'Expired' : null,
    isComplete: index % 4 === 0 ? true : null,
    reservedToDate: pickCyclic(INSTANTS, index),
    createdAt: pickCyclic(INSTANTS, index + 1),
    updatedAt: pickCyclic(INSTANTS, index + 2),
    document: formatOddDocument({ id }),
  };
}

function oddRequest(id: string, index: number) {
  const parties = {
    fromOrganizationId: null,
    toOrganizationId: pickText(index),
    toAddress: null,
    txId: null,
  };
  const words = { retirementReason: null, beneficiary: pickText(index + 1), retirementComment: null };
  return {
    id,
    creditId: `C-${index}`,
    action: 'retire',
    state: pickText(index + 4),
    type: null,
    serialization: `icr-äö-${pickText(index)}-2021`,
    vintage: null,
    amount: oddAmount(index + 3),
    ...parties,
    ...words,
    project: oddProject(index + 1),
    createdAt: pickCyclic(INSTANTS, index),
    updatedAt: null,
    document: formatOddDocument({ id }),
  };
}

function oddRetirement(id: string, index: number, organizationId: string) {
  return retirement(id, {
    organizationId,
    project: oddProject(index),
    amount: oddAmount(index),
    beneficiary: index % 3 === 0 ? null : pickText(index),
    reason: index === 4 ? null : pickText(index + 5),
    comment: pickText(index + 6),
    isClaimed: pickCyclic([true, false, null], index),
    createdAt: pickCyclic(INSTANTS, index),
    document: formatOddDocument({ id, email: 'apfel@example.com' }),
  });
}

function oddAddress(id: string, name: string, index: number) {
  return {
    id,
    name,
    address: pickText(index + 1),
    isDefault: pickCyclic([true, false, null], index),
    document: formatOddDocument({ id }),
  };
}

function oddMember(id: string, fullName: string) {
  return { id, fullName, email: `${fullName}@example.com`, document: formatOddDocument({ id, fullName }) };
}

async function storeCertificates(stage: TestMirror, organizationId: string, ids: readonly string[]) {
  const { at } = stage.clock;
  const walk = await beginCertificateWalk(stage, { organizationId });
  for (const [index, id] of ids.entries()) {
    if (index % 4 === 0) await walk.markUnavailable(id, at);
    if (index % 4 === 1) await walk.markFailed(id, { code: 'timeout', message: toPrintableText(index) }, at);
    if (index % 4 === 2) await walk.store(id, streamPdf(id), at);
  }
  await walk.finish(TRAFFIC);
}

async function writeProjects(
  { mirror, clock }: TestMirror,
  organizationId: string,
  turn: number,
): Promise<void> {
  const request = { organizationId, claim: 1, trigger: 'schedule', startedAt: clock.at };
  const walk = await mirror.beginProjects(request);
  const instants = { requestedAt: clock.at, arrivedAt: clock.at };
  const empty = {
    shortDescription: null,
    registry: null,
    countryCode: null,
    sector: null,
    methodology: null,
  };
  const answers = [1, 2, 3].map(index => {
    const shown = {
      num: index === 1 ? null : `${10 - index}`,
      fullName: pickText(index + turn),
      status: null,
    };
    const whole = { ...empty, ...shown, id: `project-${index}`, type: null, startDate: 'soon' };
    return createProjectAnswer({ ...whole, document: formatOddDocument({ index, turn }) }, instants);
  });
  await walk.write([...answers, { id: 'project-4', requestedAt: clock.at, error: toPrintableText(turn) }]);
  await walk.finish(TRAFFIC);
}

const instant = (ms: number): string => new Date(ms).toISOString();

const DELIVERIES =
  'received_at, event, installation_id, signed_text_sha256, stored_text_id, contradicted_fields, verdict, ignored_reason, secret_index, job_id, duplicates, last_duplicate_at, unread_duplicate_at';
const JOBS = `kind, organization_id, installation_id, part, dedupe_key, trigger, payload, state, attempts, run_at, claimed_until,
  claim, started_at, finished_at, created_at, error_or_pause_code, last_error, outcome, merged_into, only_duplicates_asked`;

/** Fills the inbox with jobs in every state and deliveries of every kind. */
export async function fillInboxWithOddRows(tables: Tables): Promise<void> {
  const { change } = tables;
  const states = ['waiting', 'running', 'paused', 'failed', 'done'];
  for (let index = 0; index < 20; index += 1) {
    const state = pickCyclic(states, index);
    const ended = state === 'done' || state === 'failed' ? instant(NOON + index) : null;
    const merged = index % 10 === 4;
    await change(
      `INSERT INTO inbox.jobs (${JOBS}) VALUES (${'?, '.repeat(19)}?)`,
      pickCyclic(['installation', 'certificates', 'projects'], index),
      index % 7 === 0 ? null : pickCyclic(OWNERS, index),
      index % 6 === 0 ? null : `installation-${index % 4}`,
      pickCyclic(['data', 'certificates'], index),
      `key-${index}`,
      pickCyclic(['delivery', 'schedule', 'person'], index),
      '{"b":1.50,"b":"\\u0000"}',
      state,
      index,
      instant(NOON + (index - 9) * MINUTE),
      state === 'running' ? instant(NOON + MINUTE) : null,
      index,
      index % 2 === 0 ? null : instant(NOON),
      ended,
      instant(NOON - MINUTE),
      index % 3 === 0 ? 'timeout' : null,
      index % 3 === 0 ? toPrintableText(index) : null,
      merged ? 'merged' : null,
      merged ? index - 3 : null,
      index % 2,
    );
  }
  for (let index = 0; index < 12; index += 1) {
    const isIgnored = index % 4 === 3;
    await change(
      `INSERT INTO inbox.deliveries (${DELIVERIES}) VALUES (${'?, '.repeat(12)}?)`,
      instant(NOON + index * MINUTE),
      pickCyclic([null, 'warehouseTransaction', 'Äh'], index),
      pickCyclic([null, 'installation-1', 'installation-2'], index),
      `digest-${index % 5}`,
      (index % 5) + 1,
      index % 6 === 0 ? 'event' : null,
      isIgnored ? 'ignored' : 'accepted',
      isIgnored ? 'unreadable' : null,
      index % 2,
      isIgnored ? null : index + 1,
      index % 3,
      index % 3 === 0 ? null : instant(NOON + index * MINUTE + 30_000),
      index % 5 === 0 ? instant(NOON + index * MINUTE + 10_000) : null,
    );
  }
  for (let index = 0; index < 5; index += 1) {
    await change(
      'INSERT INTO inbox.signed_texts (sha256, last_received_at, signed_data) VALUES (?, ?, ?)',
      `digest-${index}`,
      instant(NOON),
      index === 2 ? '' : Buffer.from(formatOddDocument({ index })).toString('base64'),
    );
    await change(
      'INSERT INTO inbox.rejected_webhooks VALUES (?, ?, ?, ?, ?, ?)',
      instant(NOON + (index % 2) * MINUTE).slice(0, 16),
      pickCyclic(['signature', 'too_large'], index),
      400 + index,
      pickCyclic(['', 'registry', 'other'], index),
      index === 4 ? 9007199254740993n : index + 1,
      instant(NOON + index),
    );
    await change(
      'INSERT INTO inbox.processes (role, host, pid, started_at, seen_at) VALUES (?, ?, ?, ?, ?)',
      pickCyclic(['work', 'receive'], index),
      toPrintableText(index),
      index,
      instant(NOON),
      instant(NOON + (index - 2) * MINUTE),
    );
  }
  await fillOrders(tables);
}

const ORDERS =
  'key, actor, action, organization_id, credit_id, amount_exact, reservation_id, receiver_id, beneficiary, state, sent_at, result, created_at, finished_at';

/** Stores orders in every state. */
async function fillOrders({ change }: Tables): Promise<void> {
  for (let index = 0; index < 10; index += 1) {
    const state = pickCyclic(['waiting', 'sending', 'done', 'refused', 'unknown'], index);
    const action = pickCyclic(['reserve', 'retire', 'transfer', 'release'], index);
    const hasEnded = state !== 'waiting' && state !== 'sending';
    await change(
      `INSERT INTO inbox.orders (${ORDERS}) VALUES (${'?, '.repeat(13)}?)`,
      `key-${index}`,
      index % 3 === 0 ? null : `dana-${toPrintableText(index)}`,
      action,
      pickCyclic(OWNERS, index) ?? 'organization-1',
      `Zebra ${index}`,
      pickCyclic(['2.5', '9007199254740993', '0.000001'], index),
      action === 'reserve' ? null : `h-${index}`,
      action === 'transfer' ? 'organization-2' : null,
      action === 'retire' ? toPrintableText(index) : null,
      state,
      state === 'waiting' ? null : instant(NOON),
      hasEnded ? toPrintableText(index) : null,
      instant(NOON + index * MINUTE),
      hasEnded ? instant(NOON + index * MINUTE + 1) : null,
    );
  }
}
