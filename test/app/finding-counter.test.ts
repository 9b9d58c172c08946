import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startFindingCounter } from '../../src/app/finding-counter.js';
import { FINDINGS } from '../../src/query/history/findings.js';
import type { SqlQuery } from '../../src/store/contract/sql-query.js';
import { createLog } from '../../src/app/log.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('stopping ends a running count of findings without logging a failure', async () => {
  const lines: string[] = [];
  const mask = { line: (text: string) => text };
  const sink = { write: (line: string) => lines.push(line) };
  const queries: SqlQuery[] = [];
  const stop = startFindingCounter({
    engine: {
      runSqlQuery: async question => {
        queries.push(question);
        return await new Promise((_resolve, reject) => {
          question.signal?.addEventListener('abort', () => reject(new Error('left')));
        });
      },
    },
    mirror: { report: () => Promise.reject(new Error('an aborted count must not be stored')) },
    now: () => 0,
    log: createLog({ level: 'info', mask, now: () => 0, pretty: false, sink }),
  });
  await vi.advanceTimersByTimeAsync(30_000);
  expect(queries).toHaveLength(2);
  await stop();
  expect([lines, vi.getTimerCount()]).toEqual([[], 0]);
});

test('findings of current rows are counted every five minutes, and those whose count takes long more rarely', async () => {
  const mask = { line: (text: string) => text };
  const counted: string[] = [];
  const stop = startFindingCounter({
    engine: {
      runSqlQuery: async ({ sql }) => {
        const kinds = [...sql.matchAll(/'(\w+)'/g)].map(([, kind = '']) => kind);
        if (kinds.includes('balance_credits')) await new Promise(resolve => setTimeout(resolve, 30_000));
        return { columns: ['finding', 'rows'], rows: toStream(kinds.map(finding => ({ finding, rows: 0 }))) };
      },
    },
    mirror: {
      report: async ({ findings = [] }) => void counted.push(...findings.map(({ finding }) => finding)),
    },
    now: () => 0,
    log: createLog({ level: 'info', mask, now: () => 0, pretty: false, sink: { write: () => undefined } }),
  });
  const count = (kind: string) => counted.filter(finding => finding === kind).length;
  await vi.advanceTimersByTimeAsync(5 * 60_000 - 1);
  expect(counted.toSorted()).toEqual(Object.values(FINDINGS).flat().toSorted());
  await vi.advanceTimersByTimeAsync(45 * 60_000);
  expect([count('negative_amount') > 5, count('balance_credits')]).toEqual([true, 1]);
  await vi.advanceTimersByTimeAsync(10 * 60_000);
  expect(count('balance_credits')).toBe(2);
  await stop();
});

async function* toStream<Row>(rows: readonly Row[]): AsyncIterable<Row> {
  yield* rows;
}
