import { describe, expect, test } from 'vitest';
import { MirrorError } from '../../src/mirror/mirror-error.js';
import { readOrganizationCoverageAt } from '../../src/query/history/as-of.js';
import { ENGINES, MINUTE, type TestMirror, TRAFFIC, beginRead } from '../support/mirror/open.js';
import { credit, retirement, retirements } from '../support/mirror/rows.js';
import { openSealedMirror } from '../support/sealed-mirror.js';

const DAY = 24 * 60 * MINUTE;
const RESOURCE = 'retirements';
const LIST = { organizationId: 'organization-1', resource: RESOURCE } as const;
const SPANS = `SELECT first_started_at, last_started_at, last_finished_at, reads, requests, bytes, is_open
  FROM unchanged_reads WHERE resource = 'retirements' ORDER BY first_started_at`;

const iso = (at: number) => new Date(at).toISOString();

/** Reads the three retirements by the schedule, `times` times, one each quarter of an hour. Returns when each read started. */
async function readBySchedule(stage: TestMirror, times: number, rows = retirements(3)): Promise<number[]> {
  const starts: number[] = [];
  for (let time = 0; time < times; time += 1) {
    stage.clock.at += 15 * MINUTE;
    starts.push(stage.clock.at);
    await stage.read(RESOURCE, rows, { trigger: 'schedule' });
  }
  return starts;
}

describe.each(ENGINES)('$name', engine => {
  /** A mirror whose retirements were read once, for a delivery. */
  async function openRead(): Promise<TestMirror> {
    const { stage, inbox } = await engine.library();
    await inbox.raiseClaims(1);
    await stage.read(RESOURCE, retirements(3));
    return stage;
  }

  const countSyncs = (stage: TestMirror) =>
    stage.db.value("SELECT count(*) FROM syncs WHERE resource = 'retirements'");

  test('scheduled reads that find nothing new are counted in one span and have no rows in syncs', async () => {
    const stage = await openRead();
    const starts = await readBySchedule(stage, 3);
    expect(await countSyncs(stage)).toBe(1);
    expect(await stage.db.rows(SPANS)).toEqual([
      {
        first_started_at: iso(starts[0] ?? 0),
        last_started_at: iso(starts[2] ?? 0),
        last_finished_at: iso(starts[2] ?? 0),
        reads: 3,
        requests: 3 * TRAFFIC.requests,
        bytes: 3 * TRAFFIC.bytes,
        is_open: 1,
      },
    ]);
    expect(await stage.findConsistencyFaults()).toEqual([]);
  });

  test('a span ends with the UTC day', async () => {
    const stage = await openRead();
    await readBySchedule(stage, 2);
    stage.clock.at += DAY;
    await readBySchedule(stage, 1);
    const spans = await stage.db.rows<{ reads: number; is_open: number }>(SPANS);
    expect(spans.map(({ reads, is_open: isOpen }) => [reads, isOpen])).toEqual([
      [2, 0],
      [1, 1],
    ]);
    expect(await stage.findConsistencyFaults()).toEqual([]);
  });

  test.each<[string, (stage: TestMirror) => Promise<unknown>]>([
    ['a delivery requested', stage => stage.read(RESOURCE, retirements(3))],
    ['a person requested', stage => stage.read(RESOURCE, retirements(3), { trigger: 'person' })],
    [
      'the schedule requested together with a delivery',
      stage =>
        stage.read(RESOURCE, retirements(3), {
          trigger: 'schedule',
          cause: { jobId: 1, newestDeliveryId: 1 },
        }),
    ],
    ['changed a row', stage => stage.read(RESOURCE, [retirement('new')], { trigger: 'schedule' })],
    [
      'failed',
      async stage => {
        const read = await beginRead(stage, RESOURCE, { trigger: 'schedule' });
        await read.abandon({ code: 'unavailable', message: 'answered 503' }, TRAFFIC);
      },
    ],
  ])('a read that %s keeps its row and ends the span', async (_, read) => {
    const stage = await openRead();
    await readBySchedule(stage, 2);
    stage.clock.at += 15 * MINUTE;
    await read(stage);
    expect(await countSyncs(stage)).toBe(2);
    expect(await stage.db.rows(SPANS)).toMatchObject([{ reads: 2, is_open: 0 }]);
    expect(await stage.findConsistencyFaults()).toEqual([]);
  });

  test('a scheduled read that follows a failed one keeps its row', async () => {
    const stage = await openRead();
    const read = await beginRead(stage, RESOURCE, { trigger: 'schedule' });
    await read.abandon({ code: 'unavailable', message: 'answered 503' }, TRAFFIC);
    await readBySchedule(stage, 2);
    expect(await countSyncs(stage)).toBe(3);
    expect(await stage.db.rows(SPANS)).toMatchObject([{ reads: 1, is_open: 1 }]);
  });

  test('the first read of a list keeps its row, even of an empty list', async () => {
    const { stage } = await engine.library();
    await readBySchedule(stage, 2, []);
    expect(await countSyncs(stage)).toBe(1);
    expect(await stage.db.rows(SPANS)).toMatchObject([{ reads: 1 }]);
  });

  test('a new span begins when the clock was set back', async () => {
    const stage = await openRead();
    await readBySchedule(stage, 2);
    stage.clock.at -= 40 * MINUTE;
    await stage.read(RESOURCE, retirements(3), { trigger: 'schedule', claim: 2 });
    expect(await stage.db.rows(SPANS)).toMatchObject([{ reads: 1 }, { reads: 2 }]);
  });

  test('a span does not end before its last read started when the clock was set back during that read', async () => {
    const stage = await openRead();
    const [first = 0] = await readBySchedule(stage, 1);
    stage.clock.at += 15 * MINUTE;
    const read = await beginRead(stage, RESOURCE, { trigger: 'schedule' });
    await read.writeBatch(retirements(3), stage.clock.at);
    stage.clock.at -= MINUTE;
    await read.finish({ ...TRAFFIC, total: null });
    const last = iso(first + 15 * MINUTE);
    expect(await stage.db.rows(SPANS)).toMatchObject([
      { reads: 2, last_started_at: last, last_finished_at: last },
    ]);
    stage.clock.at += DAY;
    await readBySchedule(stage, 1);
    expect(await stage.findConsistencyFaults()).toEqual([]);
  });

  test('verify finds the last read of a span although the next read was killed after its first commit', async () => {
    const stage = await openRead();
    await readBySchedule(stage, 2);
    stage.clock.at += 15 * MINUTE;
    const killed = await beginRead(stage, RESOURCE, { trigger: 'schedule' });
    for (let page = 0; page < 4; page += 1)
      await killed.writeBatch(retirements(801, `page-${page}`), stage.clock.at);
    await killed.compareRemaining();
    expect(await stage.db.rows(SPANS)).toMatchObject([{ reads: 2, is_open: 0 }]);
    expect(await stage.findConsistencyFaults()).toEqual([]);
  });

  test('a job that lost its claim adds nothing to a span', async () => {
    const stage = await openRead();
    await readBySchedule(stage, 1);
    stage.clock.at += MINUTE;
    const late = await beginRead(stage, RESOURCE, { trigger: 'schedule', claim: 1 });
    await stage.port.raiseFence({ organizationId: 'organization-1', part: 'data', claim: 2 }, stage.clock.at);
    await late.writeBatch(retirements(3), stage.clock.at);
    await expect(late.finish({ ...TRAFFIC, total: null })).rejects.toThrow(MirrorError);
    expect(await stage.db.rows(SPANS)).toMatchObject([{ reads: 1 }]);
  });

  test('an answer as of an instant names the last read before it, or the span around it', async () => {
    const { stage, reader } = await engine.library();
    const first = stage.clock.at;
    await stage.read(RESOURCE, retirements(3));
    const starts = await readBySchedule(stage, 3);
    const [start = 0, second = 0, end = 0] = starts;
    const knownAt = (at: number) => readOrganizationCoverageAt(reader, { ...LIST, at: iso(at) });
    const inside = { from: iso(start), to: iso(end), reads: 3 };
    expect(await knownAt(first + MINUTE)).toMatchObject({ lastReadAt: iso(first), unchangedReads: null });
    expect(await knownAt(second + MINUTE)).toMatchObject({ lastReadAt: iso(start), unchangedReads: inside });
    expect(await knownAt(end + MINUTE)).toMatchObject({ lastReadAt: iso(end), unchangedReads: null });
    stage.clock.at += DAY;
    await readBySchedule(stage, 2);
    expect(await knownAt(second + MINUTE)).toMatchObject({ lastReadAt: iso(start), unchangedReads: inside });
    expect(await knownAt(end + MINUTE)).toMatchObject({ lastReadAt: iso(end), unchangedReads: null });
    expect(await knownAt(stage.clock.at)).toMatchObject({
      lastReadAt: iso(stage.clock.at),
      unchangedReads: null,
    });
  });

  test('a purge removes the spans of the organization', async () => {
    const stage = await openRead();
    await readBySchedule(stage, 1);
    stage.clock.at += DAY;
    await readBySchedule(stage, 1);
    const pdfs = stage.pdfs(1000);
    await stage.mirror.purge({ organizationId: 'organization-1', acquireClaim: async () => 9, pdfs });
    expect(await stage.db.value('SELECT count(*) FROM unchanged_spans')).toBe(0);
    expect(await stage.db.rows(SPANS)).toEqual([]);
  });

  test.each([
    ['its counter', 'UPDATE unchanged_spans SET reads = 3'],
    [
      'its last read',
      "UPDATE unchanged_spans SET last_started_at = '2026-05-04T12:20:00.000Z', last_finished_at = '2026-05-04T12:20:00.000Z'",
    ],
    ['its existence', 'DELETE FROM unchanged_spans'],
  ])('a span that ended is sealed, and an edit of %s is found', async (_, edit) => {
    const { stage, round, verified } = await openSealedMirror(engine);
    await readBySchedule(stage, 2);
    stage.clock.at += DAY;
    await readBySchedule(stage, 2);
    await stage.read('warehouse', [credit('c-1')]);
    await round();
    expect((await verified()).faults).toEqual([]);
    await stage.db.change(edit);
    expect((await verified()).faults).toMatchObject([{ where: 'unchanged 1' }]);
  });
});
