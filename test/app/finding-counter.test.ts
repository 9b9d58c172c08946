import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startFindingCounter } from '../../src/app/finding-counter.js';
import type { Question } from '../../src/store/contract/asked.js';
import { createLog } from '../../src/app/log.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('stopping ends a running count of findings without logging a failure', async () => {
  const lines: string[] = [];
  const mask = { line: (text: string) => text };
  const sink = { write: (line: string) => lines.push(line) };
  const queries: Question[] = [];
  const stop = startFindingCounter({
    engine: {
      ask: async question => {
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
  expect(queries).toHaveLength(1);
  await stop();
  expect([lines, vi.getTimerCount()]).toEqual([[], 0]);
});
