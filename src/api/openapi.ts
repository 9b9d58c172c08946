/** Creates the OpenAPI 3.1 document of the API from the table of lists. */
import { ALL_LISTS } from '../query/lists/list-definitions.js';
import type { List } from '../query/lists/list-type.js';
import { COMPARABLE_LISTS } from '../query/history/comparison.js';
import { MAX_WAIT_SECONDS } from './change-route.js';
import { hasRowsById } from './list-routes.js';
import {
  createPageSchema,
  createComparisonSchema,
  createFilterParameter,
  createRowSchema,
  type JsonSchema,
  SHARED_SCHEMAS,
} from './openapi-schemas.js';
import { AVAILABLE_FIELDS, CHANGE_FIELDS, STATUS_FIELDS, SUMMARY_SCHEMAS } from './openapi-summaries.js';

const PARAMETERS = {
  as_of: createParameter(
    'as_of',
    'The instant of the rows, or the end of a day, month, quarter or year such as 2025-12-31 or 2025-Q4. Left out, the present.',
  ),
  limit: createParameter('limit', 'The maximum number of rows.', {
    type: 'integer',
    minimum: 1,
    maximum: 1000,
    default: 100,
  }),
  after: createParameter('after', 'The value of `next` of the previous page, with the same filters.'),
  organization_id: createParameter(
    'organization_id',
    'The id of an organization, its name, or a part of either.',
  ),
  list: createParameter('list', 'The name of the list.', { enum: ALL_LISTS.map(({ name }) => name) }, true),
};

const ID = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };

/** Creates the OpenAPI document of the HTTP API. `version` is the version of the program. */
export function createOpenApiDocument(version: string) {
  return {
    openapi: '3.1.0',
    info: {
      title: 'carbon-mirror',
      version,
      description:
        'Read-only access to a local mirror of a carbon-credit registry. Every answer says how complete and how fresh its rows are.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }],
    paths: Object.fromEntries([...ALL_LISTS.flatMap(createListPaths), ...OTHER_PATHS]),
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'A token of `carbon-mirror tokens create`. It is accepted in this header only.',
        },
      },
      parameters: PARAMETERS,
      responses: PROBLEMS,
      schemas: {
        ...SHARED_SCHEMAS,
        ...SUMMARY_SCHEMAS,
        ...Object.fromEntries(ALL_LISTS.map(list => [toSchemaName(list), createRowSchema(list)])),
      },
    },
  };
}

const PROBLEM_CONTENT = {
  'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
};

const PROBLEMS = {
  BadRequest: { description: 'A parameter is not of the expected form.', content: PROBLEM_CONTENT },
  Unauthorized: {
    description: 'There is no valid token in the Authorization header.',
    content: PROBLEM_CONTENT,
  },
  Forbidden: { description: 'The token does not allow this.', content: PROBLEM_CONTENT },
  NotFound: { description: 'The mirror has no such row.', content: PROBLEM_CONTENT },
  TooManyRequests: {
    description: 'Too many requests. Retry-After says when to go on.',
    headers: { 'Retry-After': { schema: { type: 'integer' } } },
    content: PROBLEM_CONTENT,
  },
  ServerError: { description: 'The answer could not be created.', content: PROBLEM_CONTENT },
};

const RATE_LIMIT_HEADERS = {
  'RateLimit-Limit': { description: 'Requests a minute.', schema: { type: 'integer' } },
  'RateLimit-Remaining': { description: 'Requests that may be sent now.', schema: { type: 'integer' } },
  'RateLimit-Reset': { description: 'Seconds until the limit is whole again.', schema: { type: 'integer' } },
};

interface Operation {
  readonly id: string;
  readonly summary: string;
  readonly parameters: readonly object[];
  readonly content: object;
  readonly canBeMissing?: boolean;
}

/** Creates the OpenAPI path item of a GET operation. */
function createPathItem({ id, summary, parameters, content, canBeMissing = false }: Operation) {
  const refer = (name: keyof typeof PROBLEMS) => ({ $ref: `#/components/responses/${name}` });
  return {
    get: {
      operationId: id,
      summary,
      parameters,
      responses: {
        '200': {
          description: 'The answer.',
          headers: { ETag: { schema: { type: 'string' } }, ...RATE_LIMIT_HEADERS },
          content,
        },
        '304': { description: 'The answer has not changed since the one that If-None-Match names.' },
        '400': refer('BadRequest'),
        '401': refer('Unauthorized'),
        '403': refer('Forbidden'),
        ...(canBeMissing && { '404': refer('NotFound') }),
        '429': refer('TooManyRequests'),
        default: refer('ServerError'),
      },
    },
  };
}

/** Creates the OpenAPI paths of a list: `/v1/<name>`, and `/v1/<name>/{id}` if rows can be read by id. */
function createListPaths(list: List): (readonly [string, object])[] {
  const filters = Object.entries(list.filters).map(([name, filter]) => createFilterParameter(name, filter));
  const asOf = list.past === null ? [] : [referToParameter('as_of')];
  const answer = createJsonContent(createPageSchema(referToSchema(toSchemaName(list))));
  const owner = 'organization_id' in list.filters ? [referToParameter('organization_id')] : [];
  const page = createPathItem({
    id: `list_${list.name.replaceAll('-', '_')}`,
    summary: `List ${list.plural}`,
    parameters: [...filters, ...asOf, referToParameter('limit'), referToParameter('after')],
    content: answer,
  });
  const rows = createPathItem({
    id: `get_${list.name.replaceAll('-', '_')}`,
    summary: `Get the ${list.singular} with an id, with all columns`,
    parameters: [ID, ...owner, ...asOf],
    content: answer,
    canBeMissing: true,
  });
  return [
    [`/v1/${list.name}`, page],
    ...(hasRowsById(list) ? [[`/v1/${list.name}/{id}`, rows] as const] : []),
  ];
}

const OTHER_PATHS: (readonly [string, object])[] = [
  [
    '/v1/certificates/{id}/pdf',
    createPathItem({
      id: 'get_certificate_pdf',
      summary: "Get the PDF of a retirement's certificate",
      parameters: [ID, referToParameter('organization_id'), referToParameter('as_of')],
      content: { 'application/pdf': { schema: { type: 'string', contentMediaType: 'application/pdf' } } },
      canBeMissing: true,
    }),
  ],
  [
    '/v1/available',
    createPathItem({
      id: 'list_available',
      summary: 'List credits that are available to sell now, and the warehouses that are left out',
      parameters: createListFilterParameters('warehouse'),
      content: createJsonContent(createPageSchema(referToSchema('AvailableRow'), AVAILABLE_FIELDS)),
    }),
  ],
  [
    '/v1/totals',
    createPathItem({
      id: 'get_totals',
      summary:
        'Add up all rows of a list. The filters of the list are parameters too. The answer has no rows, only notes with the totals',
      parameters: [referToParameter('list')],
      content: createJsonContent(referToSchema('Notes')),
    }),
  ],
  [
    '/v1/compare',
    createPathItem({
      id: 'compare',
      summary: 'Compare a list at two dates: the rows that differ, and the totals at both',
      parameters: [
        createParameter(
          'list',
          'The name of the list.',
          { enum: COMPARABLE_LISTS.map(({ name }) => name) },
          true,
        ),
        createParameter(
          'from',
          'The earlier instant, or the end of a day, month, quarter or year such as 2024-12-31 or 2024.',
          { type: 'string' },
          true,
        ),
        createParameter('to', 'The later instant, or the end of a period. Left out, now.'),
        referToParameter('organization_id'),
        referToParameter('limit'),
        referToParameter('after'),
      ],
      content: createJsonContent(createComparisonSchema()),
    }),
  ],
  [
    '/v1/status',
    createPathItem({
      id: 'get_status',
      summary: 'Get the state of all organizations and of the worker',
      parameters: [],
      content: createJsonContent({
        allOf: [
          referToSchema('Notes'),
          {
            type: 'object',
            required: Object.keys(STATUS_FIELDS),
            properties: STATUS_FIELDS,
          },
        ],
      }),
    }),
  ],
  [
    '/v1/changes',
    createPathItem({
      id: 'list_changes',
      summary: 'List numbered changes, or wait for the next one',
      parameters: [
        createParameter(
          'after',
          'The value of `next` of the previous answer; 0 starts with the first change.',
          {
            type: 'integer',
            minimum: 0,
            default: 0,
          },
        ),
        createParameter('wait', 'How many seconds to wait for a change if there is none yet.', {
          type: 'integer',
          minimum: 0,
          maximum: MAX_WAIT_SECONDS,
          default: 0,
        }),
        referToParameter('limit'),
        referToParameter('organization_id'),
      ],
      content: createJsonContent(createPageSchema(referToSchema('ChangeRow'), CHANGE_FIELDS)),
    }),
  ],
];

/** Creates the OpenAPI parameters for the filters of the list with this name. */
function createListFilterParameters(name: string): object[] {
  const list = ALL_LISTS.find(each => each.name === name);
  return Object.entries(list?.filters ?? {}).map(([filter, each]) => createFilterParameter(filter, each));
}

function createParameter(
  name: string,
  description: string,
  schema: JsonSchema = { type: 'string' },
  required = false,
) {
  return { name, in: 'query', description, required, schema };
}

function referToParameter(name: keyof typeof PARAMETERS) {
  return { $ref: `#/components/parameters/${name}` };
}

function referToSchema(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

function createJsonContent(schema: JsonSchema) {
  return { 'application/json': { schema } };
}

/** Returns the name of the schema for the rows of a list, such as `InventoryRequestsRow`. */
function toSchemaName({ name }: List): string {
  const words = name.split('-').map(word => word.charAt(0).toUpperCase() + word.slice(1));
  return `${words.join('')}Row`;
}
