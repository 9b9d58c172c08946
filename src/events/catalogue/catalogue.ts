/** The types of events: their names, meanings and the JSON schema of each body. */
import { describeWrongWord } from '../../text/spelling.js';
import { createObjectSchema, createRowSchema, type EventResource, type JsonSchema } from './row-columns.js';

interface EventDefinition {
  readonly description: string;
  readonly data: JsonSchema;
}

const text = (description: string): JsonSchema => ({ type: 'string', description });
const optionalText = (description: string): JsonSchema => ({ type: ['string', 'null'], description });
const integer = (description: string): JsonSchema => ({ type: 'integer', description });

const ORGANIZATION = text('id of the organization');

/** Creates the JSON schema for the field `data` of an event. The event is about a changed row of one of these resources. */
function createChangeSchema(...resources: readonly EventResource[]): JsonSchema {
  const schemas = resources.map(createRowSchema).filter((schema, index, all) => {
    const isSame = (other: JsonSchema) => JSON.stringify(other) === JSON.stringify(schema);
    return all.findIndex(isSame) === index;
  });
  const rowOrNull = { anyOf: [...schemas, { type: 'null' }] };
  return createObjectSchema({
    organization_id: ORGANIZATION,
    resource: { enum: resources, description: 'resource that contains the row' },
    number: integer('number of the change, as in the table changes'),
    change: { enum: ['added', 'changed', 'removed'] },
    row: { ...rowOrNull, description: 'row after the change; null if it was removed' },
    previous: { ...rowOrNull, description: 'row before the change; null if it was added' },
    changed_columns: {
      type: 'array',
      items: { type: 'string' },
      description: 'names of the columns that differ; empty if the row was added or removed',
    },
  });
}

const RETIREMENT = createChangeSchema('retirements');
const CERTIFICATE = createChangeSchema('certificates');
const INSTALLATION = createChangeSchema('installation');
const FRESHNESS = {
  organization_id: ORGANIZATION,
  resource: text('resource of the list, as in the table freshness'),
};

export const EVENT_TYPES = {
  'retirement.created': {
    description: 'A retirement appeared in the mirror.',
    data: RETIREMENT,
  },
  'retirement.changed': {
    description: 'A retirement was changed within the year of its date, or only the name of its project was.',
    data: RETIREMENT,
  },
  'retirement.restated': {
    description: 'A retirement was changed after the year of its date had ended.',
    data: RETIREMENT,
  },
  'retirement.removed': { description: 'A retirement disappeared from the registry.', data: RETIREMENT },
  'certificate.stored': {
    description: 'The certificate of a retirement was downloaded for the first time.',
    data: CERTIFICATE,
  },
  'certificate.replaced': {
    description: 'The registry replaced a certificate by another file.',
    data: CERTIFICATE,
  },
  'certificate.removed': {
    description: 'The certificate of a removed retirement is no longer current.',
    data: CERTIFICATE,
  },
  'credit.changed': {
    description:
      'The amount of a credit, or another of its columns, changed in the warehouse or the inventory; or the credit appeared or disappeared.',
    data: createChangeSchema('warehouse', 'inventory'),
  },
  'reservation.changed': {
    description: 'A reservation appeared, changed or ended.',
    data: createChangeSchema('reservations'),
  },
  'request.changed': {
    description: 'An inventory request appeared, changed or disappeared.',
    data: createChangeSchema('inventory_requests'),
  },
  'organization.installed': { description: 'An organization installed the app.', data: INSTALLATION },
  'organization.suspended': {
    description: 'An organization suspended the app: its data is no longer read.',
    data: INSTALLATION,
  },
  'organization.returned': {
    description: 'An organization that had suspended or removed the app made it active again.',
    data: INSTALLATION,
  },
  'organization.uninstalled': { description: 'An organization removed the app.', data: INSTALLATION },
  'organization.changed': {
    description: 'The name or another column of an organization changed, or became known.',
    data: createChangeSchema('organization'),
  },
  'organization.purged': {
    description: 'Everything mirrored for an organization was removed by "purge". Remove your copy too.',
    data: createObjectSchema({ organization_id: ORGANIZATION }),
  },
  'freshness.stale': {
    description: 'A list became stale: its rows may be out of date.',
    data: createObjectSchema({ ...FRESHNESS, reason: text('reason, as in the table freshness') }),
  },
  'freshness.recovered': {
    description: 'A list that was stale is fresh again.',
    data: createObjectSchema(FRESHNESS),
  },
  'job.failed': {
    description: 'A job failed for good and waits for somebody to retry it.',
    data: createObjectSchema({
      organization_id: optionalText('id of the organization; null if the job concerns no single one'),
      job_id: integer('number of the job'),
      code: text('code of the failure'),
    }),
  },
  'mirror.restored': {
    description:
      'A backup was restored or the mirror was moved, and event ids begin with a new epoch. Sent to every subscription before any other event of the epoch.',
    data: createObjectSchema({
      epoch: text('name of the new epoch'),
      reason: { enum: ['created', 'restored', 'moved', 'mirror_replaced'] },
      newest_change: integer(
        'number of the newest change that the mirror contains. Changes with higher numbers that you received before were undone',
      ),
    }),
  },
  'subscription.test': {
    description:
      'Sent by "carbon-mirror subscriptions test". Always sent, whatever the subscription selects.',
    data: createObjectSchema({ subscription_id: text('id of the subscription') }),
  },
} as const satisfies Readonly<Record<string, EventDefinition>>;

export type EventType = keyof typeof EVENT_TYPES;

/** Types that every subscription receives. */
const ALWAYS_SENT: readonly EventType[] = ['mirror.restored', 'subscription.test'];

export function isEventType(name: string): name is EventType {
  return Object.hasOwn(EVENT_TYPES, name);
}

const ALL_TYPES = Object.keys(EVENT_TYPES).filter(isEventType);
export const SELECTABLE_TYPES = ALL_TYPES.filter(type => !ALWAYS_SENT.includes(type));

/**
 * Parses comma-separated event types. `retirement.*` selects a group and `all` selects every type. For an unknown name,
 * returns a fault that suggests similar names.
 */
export function parseEventTypes(names: string): readonly EventType[] | { readonly fault: string } {
  const selected = new Set<EventType>();
  for (const name of names.split(',').map(each => each.trim())) {
    const matching = SELECTABLE_TYPES.filter(
      type => name === 'all' || type === name || (name.endsWith('.*') && type.startsWith(name.slice(0, -1))),
    );
    if (matching.length === 0) return { fault: describeWrongWord(name, [...SELECTABLE_TYPES, 'all']) };
    for (const type of matching) selected.add(type);
  }
  return SELECTABLE_TYPES.filter(type => selected.has(type));
}

/** Creates the JSON schema (2020-12) of the body of an event. */
export function createEventSchema(type: EventType): JsonSchema {
  const { description, data } = EVENT_TYPES[type];
  const instant = { type: 'string', format: 'date-time', description: 'when the mirror observed it' };
  const named = { type: { const: type } };
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: type,
    description,
    anyOf: [
      createObjectSchema({ ...named, timestamp: instant, data }),
      {
        ...createObjectSchema({ ...named, erased: { const: true } }),
        description: 'The event waited, and its content was removed from the mirror in the meantime.',
      },
    ],
  };
}
