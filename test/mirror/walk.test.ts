import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { retirementOf } from '../../src/mirror/certificates/file-name.js';
import { createCertificateStore } from '../../src/mirror/certificates/walk.js';
import type { MirrorPort } from '../../src/mirror/port.js';
import { retirements } from '../support/mirror/rows.js';
import { openMirror, TRAFFIC } from '../support/mirror/open.js';

const FORTY = retirements(40);

async function beginWalk(writing: (port: MirrorPort) => MirrorPort['writeCertificates']) {
  const { port, pdfs, clock, db, read } = await openMirror();
  await read('retirements', FORTY);
  const files = pdfs(1_000);
  const store = createCertificateStore({ ...port, writeCertificates: writing(port) }, files, () => clock.at);
  await store.enter();
  const organizationId = 'organization-1';
  const walk = await store.begin({ organizationId, claim: 1, startedAt: clock.at, trigger: 'schedule' });
  await walk.due(FORTY.length);
  return { walk, clock, db };
}

test('rows of answers are written one commit after the other, however long each takes, by one sync', async () => {
  const held: (() => void)[] = [];
  const { walk, clock, db } = await beginWalk(port => async (...given) => {
    await new Promise<void>(go => held.push(go));
    return port.writeCertificates(...given);
  });
  const noted: Promise<void>[] = [];
  for (const half of [FORTY.slice(0, 20), FORTY.slice(20)]) {
    noted.push(...half.map(({ id }) => walk.unavailable(id, clock.at)));
    await turn();
    expect(held).toHaveLength(1);
  }
  held.shift()?.();
  await turn();
  held.shift()?.();
  await Promise.all(noted);
  expect(await walk.finish(TRAFFIC)).toBe('complete');
  expect(await db.value("SELECT count(*) FROM syncs WHERE resource = 'certificates'")).toBe(1);
});

test('a walk that is given up tells that its last rows could not be written', async () => {
  const { walk, clock } = await beginWalk(() => () => Promise.reject(new Error('the disk is gone')));
  await walk.unavailable(FORTY[0]?.id ?? '', clock.at);
  await expect(walk.abandon({ code: 'timeout', message: 'no answer' }, TRAFFIC)).rejects.toThrow('the disk');
});

test('what is no file of a retirement has none', () => {
  expect(['notes.txt', `-${'0'.repeat(64)}.pdf`].map(retirementOf)).toEqual([null, null]);
  const file = `r-1-${'0'.repeat(64)}.pdf`;
  expect([file, `${file}.${'0'.repeat(36)}.damaged`].map(retirementOf)).toEqual(['r-1', 'r-1']);
});
