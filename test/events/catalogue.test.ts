import { describe, expect, test } from 'vitest';
import {
  createEventSchema,
  EVENT_TYPES,
  isEventType,
  parseEventTypes,
  SELECTABLE_TYPES,
} from '../../src/events/catalogue/catalogue.js';
import { type ChangeRecord, createChangeEvent } from '../../src/events/catalogue/change-event.js';
import {
  createEpochEvent,
  createOccurrenceEvent,
  formatErasedBody,
  formatEventBody,
  formatEventId,
} from '../../src/events/catalogue/event.js';
import { findSchemaFaults } from '../support/json-schema.js';

const RETIREMENT = {
  id: 'r-1',
  project_id: 'p-1',
  project_name: 'Peat bog',
  serialization: null,
  vintage: '2021',
  amount_micro: 12_500_000,
  amount_exact: '12.5',
  fault: null,
  reason: null,
  beneficiary: 'Harbour Ferries',
  comment: null,
  is_claimed: 1,
  created_at: '2025-03-01T10:00:00.000Z',
};

type ChangeOverrides = Partial<Omit<ChangeRecord, 'before' | 'after'>> & {
  readonly before?: object;
  readonly after?: object;
};

function change(overrides: ChangeOverrides): ChangeRecord {
  const { before, after, ...rest } = overrides;
  return {
    number: 7,
    observed_at: '2026-05-04T12:00:00.000Z',
    organization_id: 'o-1',
    organization_name: 'Ferries',
    resource: 'retirements',
    row_id: 'r-1',
    change: 'added',
    changed_columns: null,
    sync_id: 1,
    trigger: 'delivery',
    job_id: 1,
    newest_delivery_id: 1,
    ...rest,
    before: before === undefined ? null : JSON.stringify(before),
    after: after === undefined ? null : JSON.stringify(after),
  };
}

describe('the type of an event', () => {
  const changed = {
    change: 'changed',
    before: RETIREMENT,
    after: { ...RETIREMENT, beneficiary: 'X' },
  } as const;
  test.each([
    ['retirement.created', change({ after: RETIREMENT })],
    ['retirement.removed', change({ change: 'removed', before: RETIREMENT })],
    ['retirement.restated', change({ ...changed, changed_columns: 'beneficiary' })],
    ['retirement.changed', change({ ...changed, changed_columns: 'project_name' })],
    [
      'retirement.changed',
      change({ ...changed, changed_columns: 'beneficiary', observed_at: '2025-12-31T23:59:59.999Z' }),
    ],
    [null, change({ ...changed, changed_columns: 'document' })],
    [null, change({ ...changed, changed_columns: 'amount_micro' })],
    ['certificate.stored', change({ resource: 'certificates', after: { retirement_id: 'r-1' } })],
    [
      'certificate.replaced',
      change({
        resource: 'certificates',
        change: 'changed',
        before: {},
        after: {},
        changed_columns: 'sha256',
      }),
    ],
    ['credit.changed', change({ resource: 'warehouse', after: {} })],
    ['credit.changed', change({ resource: 'inventory', change: 'removed', before: {} })],
    ['organization.installed', change({ resource: 'installation', after: { state: 'active' } })],
    [
      'organization.suspended',
      change({
        resource: 'installation',
        change: 'changed',
        before: { state: 'active' },
        after: { state: 'suspended' },
        changed_columns: 'state',
      }),
    ],
    [
      'organization.returned',
      change({
        resource: 'installation',
        change: 'changed',
        before: { state: 'suspended' },
        after: { state: 'active' },
        changed_columns: 'state',
      }),
    ],
    [
      'organization.uninstalled',
      change({ resource: 'installation', change: 'removed', before: { state: 'active' } }),
    ],
    [
      'organization.uninstalled',
      change({
        resource: 'installation',
        change: 'changed',
        before: { state: 'suspended' },
        after: { state: 'uninstalled' },
        changed_columns: 'state',
      }),
    ],
    [
      'certificate.removed',
      change({ resource: 'certificates', change: 'removed', before: { retirement_id: 'r-1' } }),
    ],
    ['reservation.changed', change({ resource: 'reservations', after: { id: 'v-1' } })],
    ['request.changed', change({ resource: 'inventory_requests', after: { id: 'q-1' } })],
    ['organization.changed', change({ resource: 'organization', after: { id: 'o-1' } })],
    [null, change({ resource: 'members', after: { id: 'm', email: 'a@b' } })],
    [null, change({ resource: 'addresses', after: { id: 'm', address: '0x1' } })],
    [null, change({ resource: 'projects', organization_id: null, after: { id: 'p' } })],
  ])('is %s', (type, record) => {
    expect(createChangeEvent(record)?.type ?? null).toBe(type);
  });
});

test('a body has the columns of the catalogue only, and no name that may change later', () => {
  const event = createChangeEvent(
    change({ resource: 'inventory_requests', after: { id: 'q', to_address: '0xabc', document: 'secret' } }),
  );
  const body = event === null ? '' : formatEventBody(event);
  expect(body).toContain('"id":"q"');
  expect(body).not.toMatch(/0xabc|secret|Ferries/);
});

test('T104 no schema has a column of members, addresses or documents', () => {
  const text = JSON.stringify(Object.keys(EVENT_TYPES).filter(isEventType).map(createEventSchema));
  expect(text).not.toMatch(/"(email|address|to_address|token_address|document|zip|physical_address)"/);
});

test('each type has a schema, and bodies of all sources fit theirs', () => {
  const contents = [
    createChangeEvent(change({ after: RETIREMENT })),
    createChangeEvent(change({ change: 'removed', before: RETIREMENT })),
    createChangeEvent(change({ resource: 'warehouse', after: { credit_id: 'c', inventory_id: '' } })),
    createOccurrenceEvent(occurrence('freshness.stale', 'retirements', 'overdue')),
    createOccurrenceEvent(occurrence('freshness.recovered', 'retirements', '')),
    createOccurrenceEvent(occurrence('job.failed', '46', 'server_error')),
    createOccurrenceEvent(occurrence('organization.purged', '', '')),
    createEpochEvent({
      epoch: 'e1',
      began_at: '2026-05-04T12:00:00.000Z',
      reason: 'restored',
      newest_change: 5,
      newest_occurrence: 0,
      evaluated_at: null,
    }),
  ].filter(each => each !== null);
  expect(contents).toHaveLength(8);
  for (const content of contents) {
    const schema = createEventSchema(content.type);
    expect(findSchemaFaults(schema, JSON.parse(formatEventBody(content)))).toEqual([]);
    expect(findSchemaFaults(schema, JSON.parse(formatErasedBody(content.type)))).toEqual([]);
    expect(findSchemaFaults(schema, { ...content, type: 'other' })).not.toEqual([]);
  }
});

const occurrence = (type: string, subject: string, detail: string) => ({
  number: 1,
  type,
  organization_id: 'o-1',
  subject,
  detail,
  occurred_at: '2026-05-04T12:00:00.000Z',
});

test('ids of the three sources differ and contain no full stop', () => {
  const ids = (['change', 'occurrence', 'epoch'] as const).map(stream =>
    formatEventId('0a1b2c', { stream, number: 1 }),
  );
  expect(ids).toEqual(['0a1b2c_1', '0a1b2c_n1', '0a1b2c_e1']);
});

test('names of events are types, groups or all; an unknown name is refused with similar ones', () => {
  expect(parseEventTypes('retirement.created, credit.changed')).toEqual([
    'retirement.created',
    'credit.changed',
  ]);
  expect(parseEventTypes('freshness.*')).toEqual(['freshness.stale', 'freshness.recovered']);
  expect(parseEventTypes('all')).toEqual(SELECTABLE_TYPES);
  expect(parseEventTypes('retirement.create')).toMatchObject({
    fault: expect.stringMatching(/got "retirement.create"\. Did you mean retirement\.created/),
  });
  for (const names of ['', 'mirror.restored', 'nothing.*', '*', '.*', 'retirement'])
    expect(parseEventTypes(names)).toHaveProperty('fault');
});
