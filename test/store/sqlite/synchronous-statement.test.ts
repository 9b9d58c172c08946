import { expect, test } from 'vitest';
import { type Params, prepared } from '../../../src/store/sql/prepared.js';
import { prepareOn } from '../../../src/store/sqlite/database.js';
import { temporaryMirror } from '../../support/mirror/open.js';

type Organization = { readonly organizationId: string };

const INSERT = prepared(
  ({ db }, { organizationId, claim }: Params<Organization & { readonly claim: number }>) =>
    db.insertInto('mirror.fences').values({ organization_id: organizationId, part: 'data', claim }),
);
const FIND = prepared(({ db }, { organizationId }: Params<Organization>) =>
  db.selectFrom('mirror.fences').select('claim').where('organization_id', '=', organizationId),
);

test('a statement is prepared once, and its values are bound by name', () => {
  const db = temporaryMirror();
  const insert = prepareOn(db, INSERT);
  const find = prepareOn(db, FIND);
  expect(insert.run({ claim: 1, organizationId: "O'Hara; DROP TABLE fences" })).toBe(1);
  insert.run({ claim: 2, organizationId: 'b' });
  expect(find.get({ organizationId: "O'Hara; DROP TABLE fences" })).toEqual({ claim: 1 });
  expect(find.get({ organizationId: 'nobody' })).toBeUndefined();
  expect(find.all({ organizationId: 'b' })).toEqual([{ claim: 2 }]);
});

test('a missing value is refused with its name', () => {
  const find = prepareOn(temporaryMirror(), FIND);
  const values: Organization = Object.assign(Object.create(null), { organisationId: 'b' });
  expect(() => find.get(values)).toThrow(
    'expected a value for the parameter "organizationId", got undefined',
  );
});
