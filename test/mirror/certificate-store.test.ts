import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { parseRetirementId } from '../../src/mirror/certificates/certificate-file-name.js';
import { createCertificateStore } from '../../src/mirror/certificates/certificate-store.js';
import type { MirrorPort } from '../../src/mirror/port/mirror-port.js';
import { retirements } from '../support/mirror/rows.js';
import { openMirror, TRAFFIC } from '../support/mirror/open.js';

const FORTY = retirements(40);

async function beginWalk(wrapWrite: (port: MirrorPort) => MirrorPort['writeCertificates']) {
  const { port, pdfs, clock, db, read } = await openMirror();
  await read('retirements', FORTY);
  const files = pdfs(1_000);
  const store = createCertificateStore(
    { ...port, writeCertificates: wrapWrite(port) },
    files,
    () => clock.at,
  );
  await store.makeNewDue();
  const organizationId = 'organization-1';
  const walk = await store.beginSession({
    organizationId,
    claim: 1,
    startedAt: clock.at,
    trigger: 'schedule',
  });
  await walk.listDue(FORTY.length);
  return { walk, clock, db };
}

test('the commits of a certificate walk never overlap and belong to one sync', async () => {
  const releases: (() => void)[] = [];
  const { walk, clock, db } = await beginWalk(port => async (...parameters) => {
    await new Promise<void>(resolve => releases.push(resolve));
    return port.writeCertificates(...parameters);
  });
  const answers: Promise<void>[] = [];
  for (const half of [FORTY.slice(0, 20), FORTY.slice(20)]) {
    answers.push(...half.map(({ id }) => walk.markUnavailable(id, clock.at)));
    await turn();
    expect(releases).toHaveLength(1);
  }
  releases.shift()?.();
  await turn();
  releases.shift()?.();
  await Promise.all(answers);
  expect(await walk.finish(TRAFFIC)).toBe('complete');
  expect(await db.value("SELECT count(*) FROM syncs WHERE resource = 'certificates'")).toBe(1);
});

test('abandoning a certificate walk reports that its last rows could not be written', async () => {
  const { walk, clock } = await beginWalk(() => () => Promise.reject(new Error('the disk is gone')));
  await walk.markUnavailable(FORTY[0]?.id ?? '', clock.at);
  await expect(walk.abandon({ code: 'timeout', message: 'no answer' }, TRAFFIC)).rejects.toThrow('the disk');
});

test('only the name of a certificate file, intact or damaged, contains a retirement id', () => {
  expect(['notes.txt', `-${'0'.repeat(64)}.pdf`].map(parseRetirementId)).toEqual([null, null]);
  const file = `r-1-${'0'.repeat(64)}.pdf`;
  expect([file, `${file}.${'0'.repeat(36)}.damaged`].map(parseRetirementId)).toEqual(['r-1', 'r-1']);
});
