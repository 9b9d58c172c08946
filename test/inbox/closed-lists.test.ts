import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { VERDICTS } from '../../src/inbox/delivery.js';
import { JOB_STATES, PARTS } from '../../src/inbox/job.js';
import { PROCESS_ROLES } from '../../src/inbox/process.js';
import { REJECTION_REASONS } from '../../src/inbox/rejected.js';
import { REJECTION_STATUS } from '../../src/webhook/receiver.js';

const TABLES = readFileSync(new URL('../../migrations/inbox/0001/tables.ts', import.meta.url), 'utf8');

test.each([
  ['verdict', VERDICTS],
  ['part', PARTS],
  ['state', JOB_STATES],
  ['role', PROCESS_ROLES],
])('the column %s takes the words that the program has for it, and no other', (column, words) => {
  const listed = words.map(word => `'${word}'`).join(', ');
  expect(TABLES).toContain(`CHECK (${column} IN (${listed}))`);
});

test('each reason to reject a webhook has its status', () => {
  expect(REJECTION_REASONS.toSorted()).toEqual(Object.keys(REJECTION_STATUS).toSorted());
  expect(REJECTION_STATUS).toEqual({
    signature_not_valid: 401,
    no_signature: 401,
    no_signed_text: 400,
    too_large: 413,
    wrong_content_type: 415,
    not_stored: 503,
  });
});
