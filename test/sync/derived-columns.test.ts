import { expect, test } from 'vitest';
import { findContradictedColumns } from '../../src/sync/derived-columns.js';

const INSTALLATION = { id: 'i1', appId: 'a1', createdAt: null, updatedAt: null };
const documentOf = (fields: object) => JSON.stringify({ ...INSTALLATION, ...fields });

test('findContradictedColumns names the columns that disagree with the document of their row', () => {
  const row = {
    document: documentOf({ organizationId: 'o1' }),
    id: 'i1',
    app_id: 'a1',
    organization_id: 'o1',
  };
  expect(findContradictedColumns('installations', row)).toEqual([]);
  expect(findContradictedColumns('installations', { ...row, organization_id: 'o2' })).toEqual([
    'organization_id',
  ]);
  expect(findContradictedColumns('installations', { ...row, document: documentOf({}) })).toEqual([]);
  expect(findContradictedColumns('installations', { ...row, document: '[]' })).toEqual(['document']);
  expect(findContradictedColumns('syncs', row)).toEqual([]);
});
