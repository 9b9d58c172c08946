import { expect, test } from 'vitest';
import { contradictedColumns } from '../../src/sync/derived.js';

const INSTALLATION = { id: 'i1', appId: 'a1', createdAt: null, updatedAt: null };
const documentOf = (fields: object) => JSON.stringify({ ...INSTALLATION, ...fields });

test('contradictedColumns names the columns that disagree with the document of their row', () => {
  const row = {
    document: documentOf({ organizationId: 'o1' }),
    id: 'i1',
    app_id: 'a1',
    organization_id: 'o1',
  };
  expect(contradictedColumns('installations', row)).toEqual([]);
  expect(contradictedColumns('installations', { ...row, organization_id: 'o2' })).toEqual([
    'organization_id',
  ]);
  expect(contradictedColumns('installations', { ...row, document: documentOf({}) })).toEqual([]);
  expect(contradictedColumns('installations', { ...row, document: '[]' })).toEqual(['document']);
  expect(contradictedColumns('syncs', row)).toEqual([]);
});
