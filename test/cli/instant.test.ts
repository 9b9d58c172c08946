import { expect, test } from 'vitest';
import { parsePastRange } from '../../src/cli/options.js';
import { runCommand } from '../support/command.js';
import { listNamesWithHelp } from '../support/commands.js';

const NOW = Date.parse('2026-03-01T08:30:00.000Z');
const formatRange = (text: string) => {
  const { since: from, until: to } = parsePastRange(text, NOW);
  return `${from} to ${to}`;
};

test('a day, month, quarter or year covers its first to its last millisecond in UTC', () => {
  expect(formatRange('2025-12-31')).toBe('2025-12-31T00:00:00.000Z to 2025-12-31T23:59:59.999Z');
  expect(formatRange('yesterday')).toBe('2026-02-28T00:00:00.000Z to 2026-02-28T23:59:59.999Z');
  expect(formatRange('2024-02')).toBe('2024-02-01T00:00:00.000Z to 2024-02-29T23:59:59.999Z');
  expect(formatRange('2025-12')).toBe('2025-12-01T00:00:00.000Z to 2025-12-31T23:59:59.999Z');
  expect(formatRange('2025-Q1')).toBe('2025-01-01T00:00:00.000Z to 2025-03-31T23:59:59.999Z');
  expect(formatRange('2025-q4')).toBe('2025-10-01T00:00:00.000Z to 2025-12-31T23:59:59.999Z');
  expect(formatRange('2025')).toBe('2025-01-01T00:00:00.000Z to 2025-12-31T23:59:59.999Z');
  expect(formatRange('0001')).toBe('0001-01-01T00:00:00.000Z to 0001-12-31T23:59:59.999Z');
});

test.each([
  ['2025-12-31T12:00:00Z', '2025-12-31T12:00:00.000Z'],
  ['2025-12-31T12:00+02:00', '2025-12-31T10:00:00.000Z'],
  ['2025-12-31T12:00', '2025-12-31T12:00:00.000Z'],
  ['2025-12-31T12:00:30', '2025-12-31T12:00:30.000Z'],
  ['7d', '2026-02-22T08:30:00.000Z'],
  ['24h', '2026-02-28T08:30:00.000Z'],
  ['90m', '2026-03-01T07:00:00.000Z'],
  ['now', '2026-03-01T08:30:00.000Z'],
  [' now ', '2026-03-01T08:30:00.000Z'],
])('%s is a single instant', (text, at) => expect(formatRange(text)).toBe(`${at} to ${at}`));

test.each([
  ['31 Dec 2025', '2025-12-31'],
  ['1 jan 2026', '2026-01-01'],
  ['Dec 2025', '2025-12'],
  ['31 Dec 2025, 12:00:00.000 UTC', '2025-12-31T12:00:00.000Z'],
])('a date as pages write it is accepted: %s', (written, date) =>
  expect(formatRange(written)).toBe(formatRange(date)),
);

test('every month is accepted as pages write it', () => {
  const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');
  for (const [index, month] of months.entries())
    expect(formatRange(`${month} 2025`)).toBe(formatRange(`2025-${String(index + 1).padStart(2, '0')}`));
});

test.each(['2026-03-01', '2026-03', '2026-Q1', '2026'])('%s has not ended yet and is cut at now', text =>
  expect(formatRange(text)).toMatch(/^2026-0[13]-01T00:00:00.000Z to 2026-03-01T08:30:00.000Z$/),
);

test.each([
  '2026-02-30',
  '2026-02-30T00:00:00Z',
  '30 Feb 2026',
  '31 Foo 2025',
  'Foo 2025',
  'Dec 2025, 12:00:00.000 UTC',
  '31 December 2025',
  '2025-12-31T25:00:00Z',
  '2025-13',
  '2025-00',
  '2025-Q0',
  '2025-Q5',
  '2025-Q10',
  '12025-Q1',
  'Q1',
  '25',
  '2025-1',
  '2025-12-',
  'tomorrow',
  '24',
  '9999999d',
  '',
])('an invalid date is refused with the accepted forms: "%s"', text =>
  expect(() => formatRange(text)).toThrow(/Expected a date like .* "yesterday", "24h" or "now", got/),
);

test.each(['2026-03-02', '2026-04', '2026-Q2', '2027', '2026-03-01T08:30:01Z', '9999-12-31'])(
  '%s is refused because it is in the future',
  text => expect(() => formatRange(text)).toThrow('is in the future'),
);

test('every example instant in the help is the current time, which any mirror can answer', async () => {
  const examples: string[] = [];
  for (const name of listNamesWithHelp()) {
    const argv = name.split(' ').filter(word => word !== '');
    const { stdout } = await runCommand([...argv, '--help'], { now: () => NOW, columns: 1000 });
    examples.push(
      ...Array.from(
        stdout.matchAll(/(?:as-of|instant such as) (\d{4}[\w:.-]*)/g),
        ([, instant = '']) => instant,
      ),
    );
  }
  expect(examples.length).toBeGreaterThan(1);
  const minute = new Date(NOW).toISOString();
  for (const instant of examples) expect(parsePastRange(instant, NOW).until, instant).toBe(minute);
});
