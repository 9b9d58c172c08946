import { setImmediate as turn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createMirror } from '../../src/mirror/create-mirror.js';
import type { Mirror, ReadRequest } from '../../src/mirror/mirror.js';
import { hashOfAddress, mayKeep } from '../../src/mirror/people.js';
import { credit, pageOf, retirement, retirements } from '../support/mirror/rows.js';
import { openMirror, TRAFFIC } from '../support/mirror/open.js';

const FAULT = { code: 'timeout', message: 'no answer' };

function begin(mirror: Mirror, startedAt: number, whose: Partial<ReadRequest<'retirements'>> = {}) {
  const organizationId = 'organization-1';
  const request = { organizationId, claim: 1, startedAt, trigger: 'delivery' } as const;
  return mirror.beginRead({ ...request, resource: 'retirements', ...whose });
}

test('a read that is over takes nothing more, and stays as it ended', async () => {
  const { mirror, clock, db } = await openMirror();
  const read = await begin(mirror, clock.at);
  await read.writePage(pageOf(retirements(3), clock.at));
  await read.finish({ ...TRAFFIC, total: 3 });
  const over = expect.objectContaining({ code: 'ended' });
  await expect(read.writePage(pageOf([], clock.at))).rejects.toEqual(over);
  await expect(read.writeBatch([], clock.at)).rejects.toEqual(over);
  await expect(read.finish({ ...TRAFFIC, total: 3 })).rejects.toEqual(over);
  await read.abandon(FAULT, TRAFFIC);
  const ended = "SELECT state, error FROM syncs WHERE resource = 'retirements'";
  expect(await db.rows(ended)).toEqual([{ state: 'complete', error: null }]);
});

test('a walk of projects that is over takes no answer more', async () => {
  const { mirror, clock, read } = await openMirror();
  await read('warehouse', [credit('c-1')]);
  const request = { organizationId: 'organization-1', claim: 1, startedAt: clock.at, trigger: 'delivery' };
  const walk = await mirror.beginProjects(request);
  await walk.finish(TRAFFIC);
  const refused = { id: 'project-1', error: 'not_found', askedAt: clock.at };
  await expect(walk.write([refused])).rejects.toMatchObject({ code: 'ended' });
});

test('a commit that fails while the next page is on its way is told by what is written next', async () => {
  const { port, clock } = await openMirror();
  const commit = () => Promise.reject(new Error('the disk is gone'));
  const read = await begin(
    createMirror({ ...port, commit }, () => clock.at),
    clock.at,
  );
  const unhandled: unknown[] = [];
  const note = (error: unknown) => void unhandled.push(error);
  process.on('unhandledRejection', note);
  onTestFinished(() => void process.off('unhandledRejection', note));
  await read.writePage(pageOf(retirements(800), clock.at));
  for (let turns = 0; turns < 5; turns += 1) await turn();
  expect(unhandled).toEqual([]);
  await read.writePage(pageOf([retirement('late')], clock.at));
  await expect(read.finish({ ...TRAFFIC, total: 801 })).rejects.toThrow('the disk is gone');
  await expect(read.abandon(FAULT, TRAFFIC)).rejects.toThrow('the disk is gone');
});

test('a new row beside a page that was passed adds up', async () => {
  const { mirror, clock, read } = await openMirror();
  await read('retirements', retirements(20), { limit: 10, total: 20 });
  const next = await begin(mirror, clock.at);
  await next.writePage({ ...pageOf(retirements(10), clock.at), isKnown: true, unknown: [], items: [] });
  await next.writePage(pageOf([retirement('new'), ...retirements(20).slice(10)], clock.at));
  const ended = await next.finish({ ...TRAFFIC, total: 21 });
  expect(ended).toMatchObject({ state: 'complete', added: 1, unchanged: 20 });
});

test('an answer that lacks rows and does not say whose it is, where others did, is refused by a code of its own', async () => {
  const { mirror, clock } = await openMirror();
  const told = await begin(mirror, clock.at);
  await told.writeBatch(retirements(3), clock.at);
  await told.finish({ ...TRAFFIC, total: null, ownerNamed: true });
  const untold = await begin(mirror, clock.at);
  await untold.writeBatch(retirements(2), clock.at);
  const ended = await untold.finish({ ...TRAFFIC, total: null });
  expect(ended).toMatchObject({ state: 'partial', fault: { code: 'owner_untold' } });
});

test('a text without any address is kept, whoever is forgotten', () => {
  const forgotten = new Set([hashOfAddress('ada@shop.example')]);
  expect(mayKeep(forgotten, '{"name":"Ada"}')).toBe(true);
  expect(mayKeep(forgotten, '{"name":"Ada@shop.example"}')).toBe(false);
});
