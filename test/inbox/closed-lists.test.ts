import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { VERDICTS } from '../../src/inbox/delivery.js';
import { JOB_STATES, OUTAGE_CODES, PARTS } from '../../src/inbox/job.js';
import { PROCESS_ROLES } from '../../src/inbox/process.js';
import { REJECTION_REASONS } from '../../src/inbox/rejection.js';
import { REGISTRY_ERROR_CODES } from '../../src/registry/errors.js';
import { STATUS_BY_REJECTION_REASON } from '../../src/webhook/receiver.js';

const TABLES = readFileSync(new URL('../../migrations/inbox/0001/tables.ts', import.meta.url), 'utf8');

test.each([
  ['verdict', VERDICTS],
  ['part', PARTS],
  ['state', JOB_STATES],
  ['role', PROCESS_ROLES],
])('the CHECK of column %s lists exactly the values of the program', (column, words) => {
  const listed = words.map(word => `'${word}'`).join(', ');
  expect(TABLES).toContain(`CHECK (${column} IN (${listed}))`);
});

test('each rejection reason has an HTTP status', () => {
  expect(REJECTION_REASONS.toSorted()).toEqual(Object.keys(STATUS_BY_REJECTION_REASON).toSorted());
  expect(STATUS_BY_REJECTION_REASON).toEqual({
    signature_not_valid: 401,
    no_signature: 401,
    no_signed_text: 400,
    too_large: 413,
    wrong_content_type: 415,
    not_stored: 503,
  });
});

test('each failure that an outage causes is an error of the registry client', () => {
  expect(REGISTRY_ERROR_CODES).toEqual(expect.arrayContaining([...OUTAGE_CODES]));
});
