import { colourState } from '../../src/cli/output/colour.js';
import { wordsOf } from '../../src/query/freshness/words.js';
import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { formatCsvCell } from '../../src/text/csv.js';
import { type OutputFormat, type Row, printRows } from '../../src/cli/output/formats.js';
import { describeTotal, sumRows } from '../../src/cli/output/totals.js';
import type { TableShape } from '../../src/cli/output/table.js';

interface Printed {
  readonly stdout: string;
  readonly stderr: string;
}

interface Eyes {
  readonly env?: Record<string, string>;
  readonly terminal?: boolean;
  readonly columns?: number;
  readonly shape?: TableShape;
}

async function printBoth(
  format: OutputFormat,
  columns: string[],
  rows: Row[],
  eyes: Eyes = {},
): Promise<Printed> {
  const { env = {}, terminal = false, columns: width = 80, shape = {} } = eyes;
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const printed = Promise.all([buffer(stdout), buffer(stderr)]);
  const io = {
    stdin: new PassThrough(),
    stdout,
    stderr,
    env,
    now: () => 0,
    terminal: { stdin: false, stdout: terminal, stderr: false },
    columns: width,
    createInterruptSignal: () => new AbortController().signal,
    secretFiles: [],
    hasEnvFile: false,
    sendToParent: () => undefined,
  };
  await printRows(io, format, columns, rows, shape);
  stdout.end();
  stderr.end();
  const [out, err] = await printed;
  return { stdout: out.toString('utf8'), stderr: err.toString('utf8') };
}

async function print(format: OutputFormat, columns: string[], rows: Row[], eyes: Eyes = {}): Promise<string> {
  return (await printBoth(format, columns, rows, eyes)).stdout;
}

test('a table aligns numbers to the right and says "-" for what is not there', async () => {
  const rows = [
    { name: 'Nordur', tonnes: 12.5 },
    { name: null, tonnes: 1000 },
  ];
  expect(await print('table', ['name', 'tonnes'], rows)).toBe(
    'name    tonnes\nNordur    12.5\n-         1000\n',
  );
});

test('an answer of any length keeps its columns aligned as measured from the first rows', async () => {
  const rows = Array.from({ length: 500 }, (_, n) => ({ n, name: `row ${n}` }));
  const printed = (await print('table', ['n', 'name'], rows)).split('\n');
  expect(printed).toHaveLength(502);
  expect(printed[500]).toBe('499  row 499');
});

test('what the registry says cannot move the cursor or turn the text', async () => {
  const printed = await print('table', ['name'], [{ name: '\u001b[2Jevil\u202e\nnext' }]);
  expect(printed).toBe('name\n [2Jevil  next\n');
});

test('T72 JSON lets no character through that a terminal obeys, and means the same', async () => {
  const name = 'a\u009b2J\u202eb\u007f\n';
  const printed = await print('json', ['name'], [{ name }]);
  expect(printed).toBe('[\n{"name":"a\\u009b2J\\u202eb\\u007f\\n"}\n]\n');
  expect(JSON.parse(printed)).toEqual([{ name }]);
});

const COLOURED = { terminal: true, env: {} };
const ESCAPE = '\u001b';

test('what is fresh and failing is never green', () => {
  const known = { state: 'fresh', reason: null, failing_since: '2026-11-01T00:00:00.000Z' };
  expect(colourState('freshness', wordsOf(known))).toBe(
    `${ESCAPE}[33mfresh, but the last read failed${ESCAPE}[39m`,
  );
  expect(colourState('freshness', wordsOf({ ...known, failing_since: null }))).toBe(
    `${ESCAPE}[32mfresh${ESCAPE}[39m`,
  );
});

test('colour is for a terminal, and says what a state means; NO_COLOR and TERM=dumb turn it off', async () => {
  const rows = [{ name: 'active', state: 'active', freshness: 'stale (read failed)' }];
  const columns = ['name', 'state', 'freshness'];
  const printed = await print('table', columns, rows, COLOURED);
  expect(printed.split('\n')[0]).toBe(`${ESCAPE}[1mname    state   freshness${ESCAPE}[22m`);
  expect(printed.split('\n')[1]).toBe(
    `active  ${ESCAPE}[32mactive${ESCAPE}[39m  ${ESCAPE}[31mstale (read failed)${ESCAPE}[39m`,
  );
  for (const eyes of [
    { env: { NO_COLOR: '1' }, terminal: true },
    { env: { TERM: 'dumb' }, terminal: true },
    {},
  ]) {
    expect(await print('table', columns, rows, eyes)).toBe(
      'name    state   freshness\nactive  active  stale (read failed)\n',
    );
  }
});

const PLAIN = { env: { NO_COLOR: '1' }, terminal: true };
const HASH = '0123456789abcdef'.repeat(4);
const RETIREMENT = {
  beneficiary: 'Sableforth Airways GmbH and all of its daughters',
  amount: '12345.5',
  created_at: '2025-06-28T05:29:02.229Z',
  project: 'Bukit Hijau Peatland Rewetting',
  id: '3290d2e0-502c-4914-90e3-43233929cfc5',
  sha256: HASH,
};
const ALL = Object.keys(RETIREMENT);

test('in a pipe a table is whole, however wide', async () => {
  const long = 'x'.repeat(5000);
  const printed = await print('table', [...ALL, 'long'], [{ ...RETIREMENT, long }]);
  for (const value of [...Object.values(RETIREMENT), long]) expect(printed).toContain(value);
  expect(printed).not.toContain('…');
});

test('in a pipe one wide cell does not push the other rows apart', async () => {
  const printed = await print(
    'table',
    ['a', 'b'],
    [
      { a: 'x'.repeat(500), b: 1 },
      { a: 'y', b: 2 },
    ],
  );
  expect(printed.split('\n')[2]).toBe(`${'y'.padEnd(60)}  2`);
});

test.each([200, 130, 100, 80, 60, 40, 20, 5])(
  'on a terminal of %s columns no line is longer',
  async columns => {
    const { stdout, stderr } = await printBoth('table', ALL, [RETIREMENT], { ...PLAIN, columns });
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(columns);
    const shown = stdout.split('\n')[0] ?? '';
    const missing = ALL.filter(name => !shown.includes(name.slice(0, 4)));
    for (const name of missing) expect(stderr).toContain(name);
    expect(stderr === '').toBe(missing.length === 0);
  },
);

test('ids and instants get short first, then texts, then the last column goes; a hash is whole or not there', async () => {
  const at = async (columns: number, keep: string[] = []) =>
    (await print('table', ALL, [RETIREMENT], { ...PLAIN, columns, shape: { importantColumns: keep } })).split(
      '\n',
    );
  expect((await at(240))[1]).toContain(RETIREMENT.id);
  const short = (await at(190))[1];
  expect(short).toContain(` 3290d2e0…  ${HASH}`);
  expect(short).toContain(' 2025-06-28T05:29Z ');
  expect(short).toContain(RETIREMENT.beneficiary);
  const cut = (await at(150))[1];
  expect(cut).toContain(HASH);
  expect(cut).toMatch(/^Sableforth Airways .*…  12345\.5/);
  expect((await at(100))[0]).not.toContain('sha256');
  expect((await at(45))[0]?.split(/ +/)).toEqual(['beneficiary', 'amount', 'created_at']);
  expect((await at(45, ['id']))[0]?.split(/ +/)).toEqual(['beneficiary', 'amount', 'id']);
});

test('every column is whole where the width has no end', async () => {
  const printed = await print('table', ALL, [RETIREMENT], { ...PLAIN, columns: Number.POSITIVE_INFINITY });
  for (const value of Object.values(RETIREMENT)) expect(printed).toContain(value);
});

test('a row that comes after the widths are known is cut to them', async () => {
  const rows = [
    ...Array.from({ length: 200 }, () => ({ a: 'x', b: 'y'.repeat(90) })),
    { a: 'x', b: 'z'.repeat(900) },
  ];
  const last = (await print('table', ['a', 'b'], rows, PLAIN)).trimEnd().split('\n').at(-1) ?? '';
  expect(last).toBe(`x  ${'z'.repeat(76)}…`);
});

test('a person at a terminal reads tonnes with their thousands set apart; every digit stays', async () => {
  const rows = [
    { amount: 1234567.25 },
    { amount: '1000.123456' },
    { amount: -5 },
    { amount: 'many' },
    { amount: 1e21 },
  ];
  const shape = { tonneColumns: ['amount'] };
  const shown = async (eyes: Eyes) =>
    (await print('table', ['amount'], rows, { ...eyes, shape })).trim().split(/\s+/).slice(1);
  expect(await shown(PLAIN)).toEqual(['1,234,567.25', '1,000.123456', '-5', 'many', '1e+21']);
  expect(await shown({})).toEqual(['1234567.25', '1000.123456', '-5', 'many', '1e+21']);
});

test('a total is exact, has its unit, and says what it leaves out', () => {
  const rows = [{ amount_micro: 1n }, { amount_micro: 9_007_199_254_740_993n }, { amount_micro: null }];
  expect(describeTotal(sumRows(rows))).toBe(
    '9,007,199,254.740994 t in 3 rows, excluding 1 without a usable amount',
  );
  const sums = [{ amount_micro: -2_500_000, rows: 3, rows_without_amount: 2 }];
  expect(describeTotal(sumRows(sums))).toBe('-2.5 t in 3 rows, excluding 2 without a usable amount');
  expect(describeTotal(sumRows([{ amount_micro: 1_000_000 }]))).toBe('1 t in 1 row');
});

test('JSON keeps digits that a JavaScript number cannot hold', async () => {
  const rows = [{ small: 5n, large: 9007199254740993n, bytes: new Uint8Array([1, 2]), nothing: null }];
  expect(JSON.parse(await print('json', [], rows))).toEqual([
    { small: 5, large: '9007199254740993', bytes: 'AQI=', nothing: null },
  ]);
  expect(await print('json', [], [])).toBe('[]\n');
});

test('T72 CSV on a terminal is cleaned of what would draw', async () => {
  expect(await print('csv', ['a'], [{ a: 'x\u001b[2J\ny' }], PLAIN)).toBe('a\n"x [2J y"\n');
});

test('T72 CSV is safe in a spreadsheet,: a text that begins like a formula stays text', async () => {
  expect(await print('csv', ['a', 'b'], [{ a: 'x,"y"', b: new Uint8Array([1, 2]) }])).toBe(
    'a,b\n"x,""y""",AQI=\n',
  );
  expect(await print('csv', ['a'], [{ a: '=1+1' }])).toBe("a\n'=1+1\n");
  for (const number of ['-5.25', '+1', '0.000001']) expect(formatCsvCell(number)).toBe(number);
  for (const evil of ['=1+1', '+1e', '-', '-1+cmd', '@SUM(A1)', '\t=1', '\r=1']) {
    expect(formatCsvCell(evil).replace(/^"/, '')).toMatch(/^'/);
  }
  for (const evil of ['  =1+1', '\u0001=1', '\uff1dcmd', '\u00a0@x']) {
    expect(formatCsvCell(evil), evil).toBe(`'${evil}`);
  }
  expect(formatCsvCell('tea; =1+1')).toBe(`"tea;' =1+1"`);
  expect(formatCsvCell('tea; milk')).toBe('"tea; milk"');
  expect(formatCsvCell(-5)).toBe('-5');
  expect(formatCsvCell(null)).toBe('');
});
