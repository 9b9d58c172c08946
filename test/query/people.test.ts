import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { readForgotten, readMemberChangeNumbers, countMentions } from '../../src/query/people.js';
import { openFilledMirror } from '../support/mirror/open.js';
import { member, retirement } from '../support/mirror/rows.js';

test('rows whose document contains an e-mail address are counted by table, past versions included', async () => {
  const { reader, read, clock } = await openFilledMirror({ organizations: 1 });
  const document = (comment: string) => JSON.stringify({ id: 'r-1-0', comment });
  clock.at += 1_000;
  await read('retirements', [
    retirement('r-1-0', { comment: 'ada', document: document('ask ada@example.org') }),
  ]);
  clock.at += 1_000;
  await read('retirements', [retirement('r-1-0', { comment: 'gone', document: document('gone') })]);
  expect(await countMentions(reader, text => text.includes('ada@example.org'))).toEqual([
    { table: 'retirements', rows: 1 },
  ]);
  expect(await countMentions(reader, () => false)).toEqual([]);
});

test('a member that came and went has two change numbers', async () => {
  const { reader, read, clock, db } = await openFilledMirror({ organizations: 1 });
  await read('members', [member('m-1', 'ada@example.org'), member('m-2', 'bob@example.org')]);
  const isTheirs = ({ email }: { email: string | null }) => email === 'ada@example.org';
  const [came] = await readMemberChangeNumbers(reader, isTheirs);
  expect(await db.value('SELECT row_id FROM changes WHERE number = ?', came ?? 0)).toBe('m-1');
  clock.at += 1_000;
  await read('members', [member('m-2', 'bob@example.org')], { findGone: async ids => ids });
  const numbers = await readMemberChangeNumbers(reader, isTheirs);
  expect(numbers).toHaveLength(2);
  expect(await db.column('SELECT change FROM changes WHERE row_id = ? ORDER BY number', 'm-1')).toEqual([
    'added',
    'removed',
  ]);
});

test('forgotten people are recognized by the hash of their address', async () => {
  const { reader, db } = await openFilledMirror({ organizations: 1 });
  expect(await readForgotten(reader)).toEqual(new Set());
  const hash = createHash('sha256').update('ada@example.org').digest('hex');
  await db.change(
    'INSERT INTO forgotten_people (email_sha256, forgotten_at) VALUES (?, ?)',
    hash,
    '2026-05-04T12:00:00.000Z',
  );
  expect(await readForgotten(reader)).toEqual(new Set([hash]));
});
