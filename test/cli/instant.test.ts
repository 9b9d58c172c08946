import { expect, test } from 'vitest';
import { parsePastRange } from '../../src/cli/options.js';
import { runCommand } from '../support/command.js';
import { listHelpTexts } from '../support/commands.js';

const NOW = Date.parse('2026-03-01T08:30:00.000Z');
const read = (text: string) => {
  const { since: from, until: to } = parsePastRange(text, NOW);
  return `${from} to ${to}`;
};

test('a day, a month, a quarter and a year are spans from their first instant to their last, in UTC', () => {
  expect(read('2025-12-31')).toBe('2025-12-31T00:00:00.000Z to 2025-12-31T23:59:59.999Z');
  expect(read('yesterday')).toBe('2026-02-28T00:00:00.000Z to 2026-02-28T23:59:59.999Z');
  expect(read('2024-02')).toBe('2024-02-01T00:00:00.000Z to 2024-02-29T23:59:59.999Z');
  expect(read('2025-12')).toBe('2025-12-01T00:00:00.000Z to 2025-12-31T23:59:59.999Z');
  expect(read('2025-Q1')).toBe('2025-01-01T00:00:00.000Z to 2025-03-31T23:59:59.999Z');
  expect(read('2025-q4')).toBe('2025-10-01T00:00:00.000Z to 2025-12-31T23:59:59.999Z');
  expect(read('2025')).toBe('2025-01-01T00:00:00.000Z to 2025-12-31T23:59:59.999Z');
  expect(read('0001')).toBe('0001-01-01T00:00:00.000Z to 0001-12-31T23:59:59.999Z');
});

test.each([
  ['2025-12-31T12:00:00Z', '2025-12-31T12:00:00.000Z'],
  ['2025-12-31T12:00+02:00', '2025-12-31T10:00:00.000Z'],
  ['24h', '2026-02-28T08:30:00.000Z'],
  ['90m', '2026-03-01T07:00:00.000Z'],
  ['now', '2026-03-01T08:30:00.000Z'],
])('%s is an instant, and begins where it ends', (text, at) => expect(read(text)).toBe(`${at} to ${at}`));

test.each(['2026-03-01', '2026-03', '2026-Q1', '2026'])('%s holds now, and ends now', text =>
  expect(read(text)).toMatch(/^2026-0[13]-01T00:00:00.000Z to 2026-03-01T08:30:00.000Z$/),
);

test.each([
  '2026-02-30',
  '2026-02-30T00:00:00Z',
  '2025-12-31T25:00:00Z',
  '2025-13',
  '2025-00',
  '2025-Q0',
  '2025-Q5',
  'Q1',
  '25',
  '2025-1',
  '2025-12-',
  'tomorrow',
  '24',
  '9999999d',
  '',
])('what no calendar has is refused with what is taken: "%s"', text =>
  expect(() => read(text)).toThrow(/Expected a date like .* "yesterday", "24h" or "now", got/),
);

test.each(['2026-03-02', '2026-04', '2026-Q2', '2027', '2026-03-01T08:30:01Z', '9999-12-31'])(
  '%s lies wholly ahead: it is not known yet, and said to be so',
  text => expect(() => read(text)).toThrow('is in the future'),
);

test('what help shows as an instant of the mirror holds the moment at which it is shown: a mirror that knows anything knows that one', async () => {
  const shown: string[] = [];
  for (const name of listHelpTexts()) {
    const words = name.split(' ').filter(word => word !== '');
    const { stdout } = await runCommand([...words, '--help'], { now: () => NOW, columns: 1000 });
    shown.push(
      ...Array.from(stdout.matchAll(/(?:as-of|instant such as) (\d{4}[\w:.-]*)/g), ([, said = '']) => said),
    );
  }
  expect(shown.length).toBeGreaterThan(1);
  const minute = new Date(NOW).toISOString();
  for (const said of shown) expect(parsePastRange(said, NOW).until, said).toBe(minute);
});
