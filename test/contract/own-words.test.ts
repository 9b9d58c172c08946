import { describe, expect, test } from 'vitest';
import { createInstallationJob } from '../../src/inbox/job.js';
import { describeFailure as describeError } from '../../src/sync/outcome.js';
import { ENGINES, beginRead, TRAFFIC } from '../support/mirror/open.js';
import { NOON } from '../support/inbox.js';

/** An error with text from an answer, a path and the system. */
const FAULT = describeError(new Error('half \ud800 a letter and a \0 from elsewhere'));
const KEPT = 'half \ufffd a letter and a \ufffd from elsewhere';

describe.each(ENGINES)('$name', ({ stage, store }) => {
  test('the stored error of a failed read is readable text, whatever the error contained', async () => {
    const { mirror, clock, db } = await stage();
    const read = await beginRead({ mirror, clock }, 'warehouse');
    await read.abandon(FAULT, TRAFFIC);
    expect(await db.value("SELECT error FROM syncs WHERE resource = 'warehouse'")).toBe(KEPT);
    expect(await db.value("SELECT error FROM freshness WHERE resource = 'warehouse'")).toBe(KEPT);
  });

  test('the stored error of a failed job is readable text too', async () => {
    const { open, db } = await store();
    const inbox = open(() => NOON);
    await inbox.enqueue([createInstallationJob('installation-1', null, 'person')]);
    const { jobs } = await inbox.claim({ parts: [{ part: 'data', slots: 1 }], leaseMs: 60_000 });
    const ends = jobs.map(
      ({ id, claim }) => ({ claim: { id, claim }, end: { act: 'fail', error: FAULT } }) as const,
    );
    expect(await inbox.settle(ends)).toEqual([true]);
    expect(await db.value('SELECT last_error FROM jobs')).toBe(KEPT);
  });
});
