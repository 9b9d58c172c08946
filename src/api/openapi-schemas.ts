/** Creates JSON schemas of the OpenAPI document: for rows, and for the notes on how complete and fresh an answer is. */
import { FRESHNESS_COLUMNS } from '../query/freshness/read-freshness.js';
import type { ListColumn } from '../query/lists/column.js';
import type { Filter } from '../query/lists/filter.js';
import type { List } from '../query/lists/list-type.js';
import type { FreshnessState } from '../store/contract/states.js';
import { isNullable, TABLES } from '../store/contract/tables.js';

export type JsonSchema = Readonly<Record<string, unknown>>;

const TEXT_OR_NULL = { type: ['string', 'null'] };
const COUNT = { type: 'integer', minimum: 0 };
/** Integers beyond 2^53 are sent as text, because many parsers would round them. */
const INTEGER = ['integer', 'string'];

const TYPES: Readonly<Record<string, readonly string[]>> = {
  id: INTEGER,
  counted: INTEGER,
  int: INTEGER,
  large: INTEGER,
  real: ['number'],
};

/** Creates the JSON schema of a list's rows. Columns that are sent only for a row requested by its id are optional. */
export function createRowSchema(list: List): JsonSchema {
  const listed = list.columns.map(({ name }) => name);
  const others = Object.keys(TABLES[list.from] ?? {}).filter(name => !listed.includes(name));
  const freshness = list.resource === null ? [] : FRESHNESS_COLUMNS;
  return {
    type: 'object',
    properties: Object.fromEntries([
      ...list.columns.map(column => [column.name, createColumnSchema(list.from, column)]),
      ...others.map(name => [name, createStoredSchema(list.from, name)]),
      ...freshness.map(name => [name, TEXT_OR_NULL]),
    ]),
    // As of an instant, some lists have other columns.
    ...(list.past?.columns === list.columns && { required: listed }),
  };
}

/** Creates the JSON schema of a list column, which is a stored column or a computed one. */
function createColumnSchema(table: string, { name, label }: ListColumn): JsonSchema {
  const schema = createStoredSchema(table, name);
  return 'description' in schema ? schema : { type: ['string', 'number', 'null'], description: label };
}

/** Creates the JSON schema of a stored column from its kind. Returns an empty schema if the table has no such column. */
export function createStoredSchema(table: string, name: string): JsonSchema {
  const [kind = null, description] = TABLES[table]?.[name] ?? [];
  if (kind === null) return {};
  const types = TYPES[kind] ?? ['string'];
  return {
    type: isNullable(table, name) ? [...types, 'null'] : types,
    description,
    ...(kind === 'instant' && { format: 'date-time' }),
  };
}

/**
 * Creates the JSON schema of one page of an answer. A page contains the notes, the rows, which all have the schema `row`, and the
 * cursor of the next page. `fields` are further fields of the page, or
 * replace these two.
 */
export function createPageSchema(
  row: JsonSchema,
  fields: Readonly<Record<string, JsonSchema>> = {},
): JsonSchema {
  return {
    allOf: [
      { $ref: '#/components/schemas/Notes' },
      {
        type: 'object',
        required: [...new Set(['rows', 'next', ...Object.keys(fields)])],
        properties: {
          rows: { type: 'array', items: row },
          next: {
            type: ['string', 'integer', 'null'],
            description: 'The value of `after` for the next page. Null on the last page.',
          },
          ...fields,
        },
      },
    ],
  };
}

/**
 * Creates the JSON schema of a comparison of two dates: the rows that differ, their counts, the tonnes, and for each date the
 * notes on how complete the mirror's data was.
 */
export function createComparisonSchema(): JsonSchema {
  const side = { $ref: '#/components/schemas/Notes' };
  const amounts = ['before', 'added', 'changed', 'removed', 'after', 'difference'];
  const differences = ['added', 'changed', 'removed'];
  const createObject = (names: readonly string[], schema: JsonSchema) => ({
    required: names,
    properties: Object.fromEntries(names.map(name => [name, schema])),
  });
  const sums = createObject(amounts, { type: 'string' });
  return {
    allOf: [
      createPageSchema({ $ref: '#/components/schemas/ComparedRow' }),
      {
        type: 'object',
        required: ['differences', 'amounts', 'from', 'to'],
        properties: {
          differences: { type: 'object', ...createObject(differences, COUNT) },
          amounts: {
            type: 'array',
            description:
              'Tonnes by credit type. `before`, `added`, `changed` and `removed` add up to `after`.',
            items: { type: 'object', ...sums, properties: { type: TEXT_OR_NULL, ...sums.properties } },
          },
          from: side,
          to: side,
        },
      },
    ],
  };
}

const FORMS: Readonly<Record<Filter['kind'], JsonSchema & { readonly form?: string }>> = {
  id: { type: 'string', form: 'A whole id, or the start of ids.' },
  substring: { type: 'string', form: 'A part of the text, in any case.' },
  project: { type: 'string', form: 'The id of a project, or a part of its name.' },
  number: { type: 'integer', minimum: 0 },
  year: { type: 'string', pattern: '^\\d{4}$', form: 'A year in UTC.' },
  years: { type: 'string', form: 'A year, or a range of years.' },
  from: { type: 'string', form: 'The first day, or an earlier form of date such as 2025-Q4.' },
  until: { type: 'string', form: 'The last day, or another form of date such as 2025-Q4.' },
  organization: { type: 'string', form: 'The id of an organization, its name, or a part of either.' },
  installation: { type: 'string', form: 'The id of an installation or of its organization.' },
  choice: { type: 'string' },
  word: { type: 'string', form: 'A word that occurs, in any spelling.' },
  flag: { type: 'string', enum: ['yes'] },
};

/** Creates the OpenAPI parameter of a list filter. */
export function createFilterParameter(name: string, filter: Filter) {
  const { form = '', ...schema } = FORMS[filter.kind];
  const choices = filter.kind === 'choice' ? { enum: filter.choices } : {};
  const selects = filter.description === '' ? '' : `Selects ${filter.description}. `;
  const description = `${selects}${form}`.trim();
  return {
    name,
    in: 'query',
    ...(description !== '' && { description }),
    schema: { ...schema, ...choices },
  };
}

export const FRESHNESS_STATES: readonly FreshnessState[] = [
  'fresh',
  'stale',
  'never_read',
  'no_access',
  'not_offered',
];

export const SHARED_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  Problem: {
    type: 'object',
    description: 'Why a request was refused (RFC 9457).',
    required: ['type', 'title', 'status', 'detail'],
    properties: {
      type: { type: 'string' },
      title: { type: 'string' },
      status: { type: 'integer' },
      detail: { type: 'string' },
    },
  },
  Notes: {
    type: 'object',
    description: 'How complete and how fresh the rows are.',
    required: ['as_of', 'totals', 'coverage', 'freshness', 'gaps', 'caveats'],
    properties: {
      as_of: { ...TEXT_OR_NULL, description: 'The instant of the rows; null for the present.' },
      totals: { anyOf: [{ $ref: '#/components/schemas/Totals' }, { type: 'null' }] },
      coverage: { anyOf: [{ $ref: '#/components/schemas/Coverage' }, { type: 'null' }] },
      freshness: { type: 'array', items: { $ref: '#/components/schemas/Freshness' } },
      gaps: { type: 'array', items: { $ref: '#/components/schemas/Gap' } },
      caveats: { type: 'array', items: { $ref: '#/components/schemas/Caveat' } },
    },
  },
  Totals: {
    type: 'object',
    required: ['rows', 'has_more', 'amounts', 'rows_without_amount'],
    properties: {
      rows: COUNT,
      has_more: { type: 'boolean', description: 'Whether counting stopped at `rows`.' },
      amounts: {
        type: ['array', 'null'],
        description: 'Tonnes by credit type. Amounts of different types must not be added.',
        items: {
          type: 'object',
          required: ['type', 'amount_exact'],
          properties: { type: TEXT_OR_NULL, amount_exact: { type: 'string' } },
        },
      },
      rows_without_amount: COUNT,
    },
  },
  Coverage: {
    type: 'object',
    description: 'How many of the known organizations the answer includes.',
    required: ['counted', 'known', 'missing'],
    properties: { counted: COUNT, known: COUNT, missing: COUNT },
  },
  Freshness: {
    type: 'object',
    description: 'Lists in the same state, counted over organizations.',
    required: ['state', 'reason', 'resources', 'rows', 'as_of'],
    properties: {
      state: { type: 'string', enum: FRESHNESS_STATES },
      reason: TEXT_OR_NULL,
      failing_since: TEXT_OR_NULL,
      resources: COUNT,
      rows: { type: ['integer', 'null'] },
      oldest_at: TEXT_OR_NULL,
      as_of: TEXT_OR_NULL,
    },
  },
};
