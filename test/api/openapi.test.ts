import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import { createOpenApiDocument } from '../../src/api/openapi.js';
import { ALL_LISTS } from '../../src/query/lists/list-definitions.js';
import { openApi } from '../support/api.js';
import { openFilledMirror } from '../support/mirror/open.js';

const document = createOpenApiDocument('0.0.0-test');

test('the OpenAPI document is valid for a public validator', async () => {
  const { valid, errors } = await new Validator().validate(structuredClone(document));
  expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
});

test('the validator refuses a document with a mistake', async () => {
  const broken = {
    ...structuredClone(document),
    paths: { 'v1/retirements': { get: { responses: 'none' } } },
  };
  expect((await new Validator().validate(broken)).valid).toBe(false);
});

test('every reference of the document leads to a part of it', () => {
  const text = JSON.stringify(document);
  const references = [...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path);
  for (const path of references) {
    const part = path.split('/').reduce<unknown>((value, name) => Reflect.get(Object(value), name), document);
    expect(part, path).toBeDefined();
  }
  expect(references.length).toBeGreaterThan(50);
});

test('the document describes every list with all its filters', () => {
  for (const { name, filters, past } of ALL_LISTS) {
    const path: unknown = Reflect.get(document.paths, `/v1/${name}`);
    const text = JSON.stringify(path);
    for (const filter of Object.keys(filters)) expect(text, name).toContain(`"name":"${filter}"`);
    expect(text.includes('parameters/as_of'), name).toBe(past !== null);
  }
});

/** Returns the schema that a reference of the document leads to. */
function resolveSchema(schema: unknown): unknown {
  const reference: unknown = Reflect.get(Object(schema), '$ref');
  if (typeof reference !== 'string') return schema;
  return Reflect.get(document.components.schemas, reference.replace('#/components/schemas/', ''));
}

/** Lists where a value differs from a schema: in its type, its constant or choices, or the names of its fields. */
function listDifferences(value: unknown, reference: unknown, path: string): string[] {
  const schema = Object(resolveSchema(reference));
  const { type, items, properties = {}, required = [], allOf = [], anyOf, additionalProperties } = schema;
  const kind = Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
  const name = Number.isInteger(value) ? 'integer' : kind;
  const types: unknown[] = [type ?? []].flat();
  const isTyped = types.length === 0 || types.includes(name) || types.includes(kind);
  const choices: unknown[] = 'const' in schema ? [schema.const] : (schema.enum ?? [value]);
  const found = isTyped && choices.includes(value) ? [] : [`${path}: ${JSON.stringify(value)}`];
  const ofAll = allOf.flatMap((each: unknown) => listDifferences(value, each, path));
  if (anyOf !== undefined && value !== null) ofAll.push(...listDifferences(value, anyOf[0], path));
  if (Array.isArray(value))
    return [...found, ...ofAll, ...value.flatMap((each, n) => listDifferences(each, items, `${path}[${n}]`))];
  if (kind !== 'object') return [...found, ...ofAll];
  const missing = required.filter((each: string) => !Object.hasOwn(Object(value), each));
  const inner = Object.entries(Object(value)).flatMap(([key, each]) =>
    listDifferences(each, properties[key] ?? additionalProperties ?? {}, `${path}.${key}`),
  );
  return [...found, ...ofAll, ...missing.map((each: string) => `${path}.${each} is missing`), ...inner];
}

test('summaries, changes and comparisons have the fields and types of the document', async () => {
  const mirror = await openFilledMirror();
  await mirror.tables.change(
    `UPDATE installations SET state = 'suspended' WHERE organization_id = 'organization-2'`,
  );
  const api = await openApi(mirror);
  const { AvailableRow, ChangeRow, LeftOutWarehouse } = document.components.schemas;
  const namesOf = (schema: unknown) => Object.keys(Reflect.get(Object(schema), 'properties')).toSorted();
  const available = await api.getJson('/v1/available');
  expect(Object.keys(available.rows[0]).toSorted()).toEqual(namesOf(AvailableRow));
  expect(Object.keys(available.left_out[0]).toSorted()).toEqual(namesOf(LeftOutWarehouse));
  const changes = await api.getJson('/v1/changes?after=0');
  expect(Object.keys(changes.rows[0]).toSorted()).toEqual(namesOf(ChangeRow));
  const requests = {
    '/v1/available': '',
    '/v1/changes': '',
    '/v1/status': '',
    '/v1/totals': '?list=retirements',
    '/v1/compare': '?list=warehouse&from=2020',
  };
  for (const [path, query] of Object.entries(requests)) {
    const { get } = Object(Reflect.get(document.paths, path));
    const { schema } = get.responses['200'].content['application/json'];
    expect(listDifferences(await api.getJson(`${path}${query}`), schema, path)).toEqual([]);
  }
  expect(listDifferences({ ...available.rows[0], amount: '1' }, AvailableRow, 'row')).toEqual([
    'row.amount: "1"',
  ]);
});

test('the docs contain the document', async () => {
  const text = `${JSON.stringify(createOpenApiDocument('0.1.0'), null, 2)}\n`;
  await expect(text).toMatchFileSnapshot('../../docs/openapi.json');
});

test('anyone may read the document, and every path in it is answered', async () => {
  const api = await openApi(await openFilledMirror());
  const response = await api.get('/v1/openapi.json', { token: null });
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ openapi: '3.1.0' });
  const { paths } = document;
  for (const path of Object.keys(paths)) {
    const { status } = await api.get(path.replace('{id}', '1'));
    expect([200, 400, 404], `${path} ${status}`).toContain(status);
    expect((await api.get(path.replace('{id}', '1'), { token: null })).status, path).toBe(401);
  }
  expect(api.faults).toEqual([]);
});
