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
