import { expect, test } from 'vitest';
import { createMemory, REMEMBERED } from '../../src/inbox/memory.js';

function learn(memory: ReturnType<typeof createMemory<number>>, keys: readonly number[]): void {
  for (const key of keys) memory.set(String(key), key);
  memory.committed();
}

test('a memory keeps the latest keys, and one that came again is among them', () => {
  const memory = createMemory<number>();
  learn(
    memory,
    Array.from({ length: REMEMBERED }, (_, key) => key),
  );
  expect(memory.get('0')).toBe(0);
  learn(memory, [0]);
  learn(memory, [REMEMBERED]);
  expect([0, 1, 2, REMEMBERED].map(key => memory.get(String(key)))).toEqual([0, undefined, 2, REMEMBERED]);
});

test('what is learned within a transaction is known at once, and goes with it', () => {
  const memory = createMemory<number>();
  memory.set('a', 1);
  expect(memory.get('a')).toBe(1);
  memory.rolledBack();
  memory.committed();
  expect(memory.get('a')).toBe(undefined);
});
