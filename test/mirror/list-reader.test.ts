import { setImmediate as turn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createMirror } from '../../src/mirror/create-mirror.js';
import type { Mirror, ListReadRequest } from '../../src/mirror/mirror.js';
import { hashEmail, isForgotten, containsNoForgottenEmail } from '../../src/mirror/forgotten-people.js';
import { credit, createUnknownPage, retirement, retirements } from '../support/mirror/rows.js';
import { openMirror, TRAFFIC } from '../support/mirror/open.js';

const FAULT = { code: 'timeout', message: 'no answer' };

function beginRead(
  mirror: Mirror,
  startedAt: number,
  overrides: Partial<ListReadRequest<'retirements'>> = {},
) {
  const organizationId = 'organization-1';
  const request = { organizationId, claim: 1, startedAt, trigger: 'delivery' } as const;
  return mirror.beginRead({ ...request, resource: 'retirements', ...overrides });
}

test('a finished read rejects further rows and keeps its result', async () => {
  const { mirror, clock, db } = await openMirror();
  const read = await beginRead(mirror, clock.at);
  await read.writePage(createUnknownPage(retirements(3), clock.at));
  await read.finish({ ...TRAFFIC, total: 3 });
  const endedError = expect.objectContaining({ code: 'ended' });
  await expect(read.writePage(createUnknownPage([], clock.at))).rejects.toEqual(endedError);
  await expect(read.writeBatch([], clock.at)).rejects.toEqual(endedError);
  await expect(read.finish({ ...TRAFFIC, total: 3 })).rejects.toEqual(endedError);
  await read.abandon(FAULT, TRAFFIC);
  const query = "SELECT state, error FROM syncs WHERE resource = 'retirements'";
  expect(await db.rows(query)).toEqual([{ state: 'complete', error: null }]);
});

test('a finished walk of projects rejects further answers', async () => {
  const { mirror, clock, read } = await openMirror();
  await read('warehouse', [credit('c-1')]);
  const request = { organizationId: 'organization-1', claim: 1, startedAt: clock.at, trigger: 'delivery' };
  const walk = await mirror.beginProjects(request);
  await walk.finish(TRAFFIC);
  const refused = { id: 'project-1', error: 'not_found', requestedAt: clock.at };
  await expect(walk.write([refused])).rejects.toMatchObject({ code: 'ended' });
});

test('the next write reports a commit that failed while a page was read', async () => {
  const { port, clock } = await openMirror();
  const commit = () => Promise.reject(new Error('the disk is gone'));
  const read = await beginRead(
    createMirror({ ...port, commit }, () => clock.at),
    clock.at,
  );
  const unhandled: unknown[] = [];
  const note = (error: unknown) => void unhandled.push(error);
  process.on('unhandledRejection', note);
  onTestFinished(() => void process.off('unhandledRejection', note));
  await read.writePage(createUnknownPage(retirements(800), clock.at));
  for (let turns = 0; turns < 5; turns += 1) await turn();
  expect(unhandled).toEqual([]);
  await read.writePage(createUnknownPage([retirement('late')], clock.at));
  await expect(read.finish({ ...TRAFFIC, total: 801 })).rejects.toThrow('the disk is gone');
  await expect(read.abandon(FAULT, TRAFFIC)).rejects.toThrow('the disk is gone');
});

test('a read with a new row and a skipped page is complete', async () => {
  const { mirror, clock, read } = await openMirror();
  await read('retirements', retirements(20), { limit: 10, total: 20 });
  const next = await beginRead(mirror, clock.at);
  await next.writePage({
    ...createUnknownPage(retirements(10), clock.at),
    isKnown: true,
    unknownGroups: [],
    items: [],
  });
  await next.writePage(createUnknownPage([retirement('new'), ...retirements(20).slice(10)], clock.at));
  const ended = await next.finish({ ...TRAFFIC, total: 21 });
  expect(ended).toMatchObject({ state: 'complete', added: 1, unchanged: 20 });
});

test('a shorter answer that no longer names its owner ends the read as partial with the code owner_untold', async () => {
  const { mirror, clock } = await openMirror();
  const named = await beginRead(mirror, clock.at);
  await named.writeBatch(retirements(3), clock.at);
  await named.finish({ ...TRAFFIC, total: null, answersNameOrganization: true });
  const unnamed = await beginRead(mirror, clock.at);
  await unnamed.writeBatch(retirements(2), clock.at);
  const ended = await unnamed.finish({ ...TRAFFIC, total: null });
  expect(ended).toMatchObject({ state: 'partial', fault: { code: 'owner_untold' } });
});

test('a text without email addresses is free of forgotten people', () => {
  const forgotten = new Set([hashEmail('ada@shop.example')]);
  expect(containsNoForgottenEmail(forgotten, '{"name":"Ada"}')).toBe(true);
  expect(containsNoForgottenEmail(forgotten, '{"name":"Ada@shop.example"}')).toBe(false);
});

test('a person whose address an earlier release normalized is still forgotten', () => {
  const forgotten = new Set([hashEmail('weiß@shop.example')]);
  expect(isForgotten(forgotten, ' Weiß@Shop.example ')).toBe(true);
  expect(isForgotten(forgotten, 'weis@shop.example')).toBe(false);
});
