import { expect, test } from 'vitest';
import { getQualifiedName, suggestNames } from '../../src/query/sql-names.js';
import { describeSchema } from '../../src/store/contract/describe-schema.js';

const SCHEMA = describeSchema('sqlite');

test.each([
  ['no such table: retirement', 'Did you mean retirements?'],
  ['no such table: job', 'Did you mean inbox.jobs?'],
  ['no such table: delivries', 'Did you mean inbox.deliveries?'],
  ['relation "mirror.retirments" does not exist', 'Did you mean retirements?'],
  ['no such column: benificiary', 'Did you mean beneficiary?'],
  ['no such table: zzzzzz', null],
  ['the statement is empty', null],
])('a similar name is suggested for "%s"', (message, suggestion) => {
  const hint = suggestNames(message, SCHEMA);
  if (suggestion === null) expect(hint).toBeNull();
  else expect(hint?.startsWith(suggestion.slice(0, -1))).toBe(true);
});

test('tables of credits are suggested for credits, and a column names the tables that have it', () => {
  expect(suggestNames('no such table: credits', SCHEMA)).toBe(
    'Did you mean available_credits, warehouse_credits, past_credits, balance_credits?',
  );
  expect(suggestNames('no such column: beneficiary', SCHEMA)).toMatch(
    /^"beneficiary" is a column of retirements, /,
  );
  const addresses = SCHEMA.filter(({ name }) => name === 'addresses');
  expect(suggestNames('no such column: is_default', addresses)).toBe(
    '"is_default" is a column of addresses.',
  );
  expect(suggestNames('no such table: c', SCHEMA)?.split(', ')).toHaveLength(4);
});

test.each([
  [
    'no such column: o.name',
    'select r.amount, o.name from retirements r join organizations o on o.id = r.organization_id',
    'Did you mean o.full_name of organizations? "name" is a column of addresses, ',
  ],
  [
    'no such column: organizations.name',
    'select organizations.name from organizations',
    'Did you mean organizations.full_name of organizations?',
  ],
  [
    'no such column: organisation_id',
    'select organisation_id from retirements',
    'Did you mean organization_id of retirements?',
  ],
  [
    'no such column: is_default',
    'select is_default from retirements',
    '"is_default" is a column of addresses, ',
  ],
  [
    'no such column: organization_name',
    'select organization_name from retirements',
    'The name is organizations.full_name: join organizations on organizations.id = retirements.organization_id. "organization_name" is a column of available_credits, ',
  ],
  [
    'column r.project_name does not exist',
    'select r.project_name from restatements r join projects p on true join organizations on true',
    '"project_name" is a column of available_credits, ',
  ],
  [
    'no such column: organization_name',
    'select organization_name from retirements r join organizations o on o.id = r.organization_id',
    'The name is organizations.full_name. "organization_name"',
  ],
])('for "%s", the columns of the tables in the query are suggested first', (message, query, hint) => {
  expect(suggestNames(message, SCHEMA, query)).toContain(hint);
});

test('tables of the inbox have the name of their database in front', () => {
  const find = (table: string) => SCHEMA.find(({ name }) => name === table);
  const [jobs, retirements] = [find('jobs'), find('retirements')];
  expect(jobs && getQualifiedName(jobs)).toBe('inbox.jobs');
  expect(retirements && getQualifiedName(retirements)).toBe('retirements');
});
