import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { ClaimedJob } from '../../src/inbox/job.js';
import type { MirrorPort, SaidTransaction } from '../../src/mirror/port.js';
import { noteTransactions } from '../../src/sync/look/transactions.js';
import { type Arrived, boxIn, only } from '../support/box.js';
import { ENGINES } from '../support/engines.js';
import { acceptedDelivery, NOON } from '../support/inbox.js';

const TASK = { organizationId: 'organization-1', lane: 'data', claim: 9 };

function signed(payload: unknown): Pick<Arrived, 'signedData' | 'digest'> {
  const signedData = Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload)).toString(
    'base64',
  );
  return { signedData, digest: createHash('sha256').update(signedData).digest('hex') };
}

function told(id: string, more: object = {}): Pick<Arrived, 'signedData' | 'digest'> {
  const transaction = {
    id,
    creditId: 'credit-1',
    type: 'transfer',
    status: 'processed',
    amount: 1.25,
    ...more,
  };
  return signed({ event: 'warehouseTransaction', transaction, installation: { id: 'installation-1' } });
}

const by = (job: Pick<ClaimedJob, 'id' | 'trigger'>) => ({
  job: { ...JOB, ...job },
  signal: new AbortController().signal,
  turn: async () => undefined,
});

const JOB: ClaimedJob = {
  id: 1,
  kind: 'installation',
  installationId: 'installation-1',
  organizationId: 'organization-1',
  lane: 'data',
  trigger: 'delivery',
  attempts: 1,
  claim: 9,
  repeatsOnly: false,
  payload: {},
  dedupeKey: 'installation installation-1',
  runAt: '2026-05-04T12:00:00.000Z',
  createdAt: '2026-05-04T12:00:00.000Z',
};

describe.each(ENGINES)('$name', ({ stage, store }) => {
  async function start() {
    const [{ db, port, mirror }, kept] = [await stage(), await store()];
    const box = boxIn(kept);
    const note = async (jobId: number, trigger = 'delivery', over: Partial<MirrorPort> = {}) =>
      await noteTransactions(
        { inbox: box.at(NOON), mirror: { ...port, ...over } },
        by({ id: jobId, trigger }),
        'installation-1',
        TASK,
      );
    const accept = async (text: Pick<Arrived, 'signedData' | 'digest'>, more: Partial<Arrived> = {}) =>
      only(await box.accept([acceptedDelivery({ ...text, ...more })], NOON)).jobId ?? 0;
    const rows = async () => await db.rows('SELECT * FROM transactions ORDER BY delivery_id');
    return { box, db, port, mirror, note, accept, rows };
  }

  test('what a webhook says of a transaction is noted as the worker takes up its job, with its own digits', async () => {
    const { note, accept, rows } = await start();
    const text = told('tx-1', { amount: 12.0625 });
    await note(await accept(text));
    expect(await rows()).toEqual([
      {
        digest: text.digest,
        delivery_id: 1,
        received_at: '2026-05-04T12:00:00.000Z',
        installation_id: 'installation-1',
        organization_id: 'organization-1',
        event: 'warehouseTransaction',
        id: 'tx-1',
        type: 'transfer',
        status: 'processed',
        credit_id: 'credit-1',
        amount: 12.0625,
        amount_micro: 12_062_500,
        amount_exact: '12.0625',
        fault: null,
      },
    ]);
  });

  test('the same text makes one row, however often it comes and its job is taken up', async () => {
    const { note, accept, rows } = await start();
    const job = await accept(told('tx-1'));
    await note(job);
    await note(job);
    await accept(told('tx-1'), { receivedAt: NOON + 3_600_000 });
    await note(await accept(told('tx-1', { status: 'failed' })));
    expect((await rows()).map(({ id, status }) => [id, status])).toEqual([
      ['tx-1', 'processed'],
      ['tx-1', 'failed'],
    ]);
  });

  test('who dies between two of them goes on where it stood', async () => {
    const { note, accept, rows, port } = await start();
    let job = 0;
    for (let each = 0; each < 250; each += 1) job = await accept(told(`tx-${each}`));
    let writes = 0;
    const dies: MirrorPort['noteTransactions'] = async (...given) => {
      await port.noteTransactions(...given);
      writes += 1;
      if (writes === 2) throw new Error('killed');
    };
    await expect(note(job, 'delivery', { noteTransactions: dies })).rejects.toThrow('killed');
    expect(await rows()).toHaveLength(200);
    await note(job);
    expect((await rows()).map(({ id }) => id)).toEqual(
      Array.from({ length: 250 }, (_, each) => `tx-${each}`),
    );
  });

  test('nothing of a payload is trusted: what is no word, id or number of the registry is left out and said', async () => {
    const { note, accept, rows } = await start();
    const texts = [
      told('../../etc', {}),
      told('tx-2', {
        status: '\u001b[2J ada@people.example',
        type: "x'; DROP TABLE transactions",
        amount: 'many',
      }),
      told('tx-3', { amount: 0.12345678 }),
      signed({ event: 'warehouseTransaction', installation: { id: 'installation-1' } }),
      signed('no JSON at all'),
    ];
    let job = 0;
    for (const text of texts) job = await accept(text);
    await note(job);
    const shown = (await rows()).map(
      ({ id, type, status, credit_id: credit, amount_exact: amount, fault }) => ({
        id,
        type,
        status,
        credit,
        amount,
        fault,
      }),
    );
    const none = { id: null, type: null, status: null, credit: null, amount: null };
    expect(shown).toEqual([
      { id: null, type: 'transfer', status: 'processed', credit: 'credit-1', amount: '1.25', fault: null },
      { ...none, id: 'tx-2', credit: 'credit-1', fault: expect.stringContaining('expected a number') },
      {
        id: 'tx-3',
        type: 'transfer',
        status: 'processed',
        credit: 'credit-1',
        amount: '0.12345678',
        fault: null,
      },
      { ...none, fault: 'it tells of no transaction' },
      { ...none, fault: 'what it tells cannot be read' },
    ]);
  });

  test('other events, other installations, what is set aside and what comes after the job are not its own', async () => {
    const { note, accept, rows, box } = await start();
    await accept(told('other'), { event: 'installed' });
    await accept(told('other'), { installationId: 'installation-2' });
    await accept(told('aside'), { verdict: 'set_aside', reason: 'other_app' });
    const job = await accept(told('own'));
    await box.claim({ now: NOON, leaseMs: 60_000, slots: 4 });
    await accept(told('later'));
    await note(job, 'schedule');
    expect(await rows()).toEqual([]);
    await note(job);
    expect((await rows()).map(({ id }) => id)).toEqual(['own']);
  });

  test('a text that was emptied is gone, and a new inbox with lower numbers is read from its start', async () => {
    const { note, accept, rows, box, port } = await start();
    const before: SaidTransaction = {
      digest: 'd'.repeat(64),
      deliveryId: 500,
      receivedAt: '2026-05-04T11:00:00.000Z',
      event: 'warehouseTransaction',
      id: 'tx-before',
      type: null,
      status: null,
      creditId: null,
      amount: null,
      amountMicro: null,
      amountExact: null,
      fault: null,
    };
    await port.noteTransactions(TASK, 'installation-1', [before]);
    expect(await port.lastTransaction('installation-1')).toBe(500);
    const forgotten = await accept(told('forgotten'));
    const [text] = await box.at(NOON).signedTexts(0, 1);
    await box.at(NOON).emptyTexts([text?.id ?? 0]);
    await note(forgotten);
    await note(await accept(told('new')));
    expect((await rows()).map(({ id }) => id)).toEqual(['new', 'tx-before']);
  });

  test('an older claim notes nothing, and a purge takes them all', async () => {
    const { note, accept, rows, port, mirror } = await start();
    await note(await accept(told('tx-1')));
    await port.raiseFence({ ...TASK, claim: 10 }, NOON);
    await expect(note(await accept(told('tx-2')))).rejects.toMatchObject({ code: 'fenced' });
    expect(await rows()).toHaveLength(1);
    const pdfs = { list: async function* () {}, flush: async () => undefined };
    await mirror.purge({ organizationId: 'organization-1', takeClaim: async () => 20, pdfs });
    expect(await rows()).toEqual([]);
  });
});
