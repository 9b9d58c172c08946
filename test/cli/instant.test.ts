import { expect, test } from 'vitest';
import { readInstant } from '../../src/cli/instant.js';

const NOW = Date.parse('2026-03-01T08:30:00.000Z');
const read = (text: string) => readInstant(text, NOW);

test('a past instant is taken as a person says it, and a day is its end in UTC', () => {
  expect(read('2025-12-31')).toBe('2025-12-31T23:59:59.999Z');
  expect(read('2025-12-31T12:00:00Z')).toBe('2025-12-31T12:00:00.000Z');
  expect(read('2025-12-31T12:00+02:00')).toBe('2025-12-31T10:00:00.000Z');
  expect(read('yesterday')).toBe('2026-02-28T23:59:59.999Z');
  expect(read('24h')).toBe('2026-02-28T08:30:00.000Z');
  expect(read('90m')).toBe('2026-03-01T07:00:00.000Z');
  expect(read('now')).toBe('2026-03-01T08:30:00.000Z');
});

test('the day that goes on ends now', () => {
  expect(read('2026-03-01')).toBe('2026-03-01T08:30:00.000Z');
});

test.each(['2026-02-30', '2026-02-30T00:00:00Z', '2025-12-31T25:00:00Z', 'tomorrow', '24', '9999999d', ''])(
  'what no calendar has is refused with what is taken: "%s"',
  text => expect(() => read(text)).toThrow(/Expected a date .* "yesterday", "24h" or "now", got/),
);

test.each(['2026-03-02', '2026-03-01T08:30:01Z'])('%s is not known yet, and said to be so', text =>
  expect(() => read(text)).toThrow('lies in the future'),
);
