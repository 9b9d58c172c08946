import { expect, test } from 'vitest';
import { createAnswerLog } from '../../src/app/webhook-answer-log.js';
import { REJECTION_REASONS } from '../../src/inbox/rejection.js';
import { createLog } from '../../src/app/log.js';
import { createMetrics } from '../../src/app/operations/metrics.js';
import { createMask } from '../../src/text/mask.js';
import type { ReceiverAnswer } from '../../src/webhook/receiver.js';

async function record(tellEveryMs: number) {
  const lines: Record<string, unknown>[] = [];
  const log = createLog({
    level: 'info',
    mask: createMask([]),
    now: () => 0,
    pretty: false,
    sink: { write: line => lines.push(JSON.parse(line)) },
  });
  const counted: string[] = [];
  const metrics = createMetrics([]);
  const answers = createAnswerLog({
    log,
    metrics,
    counter: { count: ({ reason }) => counted.push(reason) },
    reportIntervalMs: tellEveryMs,
  });
  return { answers, lines, counted, metrics };
}

const untried: ReceiverAnswer = {
  status: 503,
  delivery: null,
  stored: null,
  rejection: { reason: 'not_stored', headerPrefix: '' },
  sender: '192.0.2.7',
  failure: { code: 'too_many_waiting', message: 'too many posts are under way' },
  durationMs: 0,
};

const forged: ReceiverAnswer = {
  ...untried,
  status: 401,
  rejection: { reason: 'signature_not_valid', headerPrefix: 'registry' },
  sender: '192.0.2.8',
  failure: null,
};

const genuine: ReceiverAnswer = {
  ...untried,
  delivery: {
    event: 'installed',
    installationId: 'i-1',
    verdict: 'accepted',
    reason: null,
    secretIndex: 0,
  },
  failure: { code: 'SQLITE_FULL', message: 'database or disk is full' },
};

test('T19 a flood of unverified webhooks is logged once at once and once later with their count', async () => {
  const { answers, lines, counted } = await record(60_000);
  for (let post = 0; post < 5000; post += 1) answers.recordAnswer(untried);
  answers.recordAnswer(forged);
  expect(lines).toMatchObject([
    {
      level: 'warn',
      msg: 'webhooks rejected',
      rejected: 1,
      status: 503,
      reason: 'not_stored',
      sender: '192.0.2.7',
      code: 'too_many_waiting',
    },
    { rejected: 1, status: 401, reason: 'signature_not_valid', sender: '192.0.2.8' },
  ]);
  answers.close();
  expect(lines.slice(2)).toMatchObject([{ rejected: 4999, status: 503, reason: 'not_stored' }]);
  expect(JSON.stringify(lines)).not.toMatch(/stack|\bat \w/);
  expect(counted).toHaveLength(5001);
});

test('T19 rejected webhooks are logged after the interval even if no further webhook arrives', async () => {
  const { answers, lines } = await record(20);
  answers.recordAnswer(forged);
  answers.recordAnswer(forged);
  answers.recordAnswer(forged);
  await expect.poll(() => lines.map(line => line['rejected'])).toEqual([1, 2]);
  answers.close();
  expect(lines).toHaveLength(2);
});

test('T01 T19 the metrics count each rejected post by its reason', async () => {
  const { answers, metrics } = await record(60_000);
  const before = await metrics.renderText();
  for (const [status, reason] of [
    [401, 'signature_not_valid'],
    [401, 'no_signature'],
    [400, 'no_signed_text'],
    [413, 'too_large'],
    [415, 'wrong_content_type'],
    [503, 'not_stored'],
  ]) {
    expect(before).toContain(
      `carbon_mirror_rejected_webhooks_total{status="${status}",reason="${reason}"} 0\n`,
    );
  }
  for (const reason of REJECTION_REASONS) {
    const answer = { ...forged, rejection: { reason, headerPrefix: 'registry' } };
    answers.recordAnswer(answer);
    answers.recordAnswer(answer);
  }
  answers.close();
  const text = await metrics.renderText();
  for (const reason of REJECTION_REASONS) {
    expect(text).toContain(`carbon_mirror_rejected_webhooks_total{status="401",reason="${reason}"} 2\n`);
  }
});

test('T17 T19 verified deliveries that cannot be stored are logged as errors of their own, at most once per interval', async () => {
  const { answers, lines } = await record(60_000);
  answers.recordAnswer(forged);
  for (let post = 0; post < 100; post += 1) answers.recordAnswer(genuine);
  answers.close();
  expect(lines.map(line => line['level'])).toEqual(['warn', 'error', 'error']);
  expect(lines.slice(1)).toMatchObject([
    { msg: 'deliveries not stored', notStored: 1, code: 'SQLITE_FULL', installation: 'i-1' },
    { msg: 'deliveries not stored', notStored: 99, why: 'database or disk is full' },
  ]);
});
