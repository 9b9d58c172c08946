import { colourState } from '../../src/cli/output/colour.js';
import { findList } from '../../src/query/lists/list-definitions.js';
import { wordsOf } from '../../src/query/freshness/describe-freshness.js';
import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { formatCsvCell } from '../../src/text/csv.js';
import { type OutputFormat, type Row, printRows, toSnakeKeys } from '../../src/cli/output/output-formats.js';
import { createProgress } from '../../src/cli/output/progress.js';
import { formatRowSheet } from '../../src/cli/output/row-sheet.js';
import type { TableShape } from '../../src/cli/output/table.js';

interface PrintedStreams {
  /** The number of printed rows. */
  readonly count: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface PrintOptions {
  readonly env?: Record<string, string>;
  readonly terminal?: boolean;
  readonly columns?: number;
  readonly shape?: TableShape;
}

async function printToStreams(
  format: OutputFormat,
  columns: string[],
  rows: Row[],
  printOptions: PrintOptions = {},
): Promise<PrintedStreams> {
  const { env = {}, terminal = false, columns: width = 80, shape = {} } = printOptions;
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
  const count = await printRows(io, format, columns, rows, shape);
  stdout.end();
  stderr.end();
  const [out, err] = await printed;
  return { count, stdout: out.toString('utf8'), stderr: err.toString('utf8') };
}

async function printToStdout(
  format: OutputFormat,
  columns: string[],
  rows: Row[],
  printOptions: PrintOptions = {},
): Promise<string> {
  return (await printToStreams(format, columns, rows, printOptions)).stdout;
}

test('restatements on 100 columns keep the values before and after and hide ids', async () => {
  const { columns } = findList('restatements');
  const hash = 'ab'.repeat(32);
  const oldValue = 'Harbour Ferries Limited and its daughters';
  const rows = [
    {
      number: 1,
      observed_at: '2026-01-05T12:00:00.000Z',
      organization_name: 'Soltera Project Developers',
      resource: 'retirements',
      year: '2025',
      change: 'changed',
      fields: 'beneficiary',
      old_values: oldValue,
      new_values: 'Bay Trams',
      id: hash,
      sync_id: 12,
      organization_id: hash,
    },
  ];
  const shape = {
    importantColumns: columns.filter(({ isImportant }) => isImportant).map(({ name }) => name),
    wrappedColumns: columns.filter(({ isWrapped }) => isWrapped).map(({ name }) => name),
  };
  const names = columns.map(({ name }) => name);
  const printed = await printToStdout('table', names, rows, { terminal: true, columns: 100, shape });
  for (const word of [...oldValue.split(' '), 'Bay Trams', 'beneficiary']) expect(printed).toContain(word);
  expect(printed).not.toContain('abab');
});

test('a missing value is printed with the word of its column in a table, and is empty in CSV', async () => {
  const shape = { placeholders: { beneficiary: 'unclaimed' } };
  const rows = [
    { beneficiary: null, size: null },
    { beneficiary: 'Ada', size: 1 },
  ];
  expect(await printToStdout('table', ['beneficiary', 'size'], rows, { shape })).toBe(
    'beneficiary  size\nunclaimed       -\nAda             1\n',
  );
  expect(await printToStdout('csv', ['beneficiary', 'size'], rows, { shape })).toContain('\n,\n');
});

test('a table aligns numbers to the right and prints "-" for missing values', async () => {
  const rows = [
    { name: 'Nordur', tonnes: 12.5 },
    { name: null, tonnes: 1000 },
  ];
  expect(await printToStdout('table', ['name', 'tonnes'], rows)).toBe(
    'name    tonnes\nNordur    12.5\n-         1000\n',
  );
});

test('a long table keeps the column widths of its first rows', async () => {
  const rows = Array.from({ length: 500 }, (_, n) => ({ n, name: `row ${n}` }));
  const printed = (await printToStdout('table', ['n', 'name'], rows)).split('\n');
  expect(printed).toHaveLength(502);
  expect(printed[1]).toBe('  0  row 0');
  expect(printed[500]).toBe('499  row 499');
});

test('text from the registry cannot move the cursor or reverse the text', async () => {
  const printed = await printToStdout('table', ['name'], [{ name: '\u001b[2Jevil\u202e\nnext' }]);
  expect(printed).toBe('name\n [2Jevil  next\n');
});

test('T72 JSON escapes every character that controls a terminal and parses to the same value', async () => {
  const name = 'a\u009b2J\u202eb\u007f\n';
  const printed = await printToStdout('json', ['name'], [{ name }]);
  expect(printed).toBe('[\n{"name":"a\\u009b2J\\u202eb\\u007f\\n"}\n]\n');
  expect(JSON.parse(printed)).toEqual([{ name }]);
});

const COLOUR_TERMINAL = { terminal: true, env: {} };
const ESCAPE = '\u001b';

test('a fresh list whose last read failed is never green', () => {
  const known = { state: 'fresh', reason: null, failing_since: '2026-11-01T00:00:00.000Z' };
  expect(colourState('freshness', wordsOf(known))).toBe(
    `${ESCAPE}[33mfresh, but the last read failed${ESCAPE}[39m`,
  );
  expect(colourState('freshness', wordsOf({ ...known, failing_since: null }))).toBe(
    `${ESCAPE}[32mfresh${ESCAPE}[39m`,
  );
});

test.each([
  ['green', 32, 'active ok stored done complete accepted completed finished'],
  ['yellow', 33, 'stale never_read paused warn warning unavailable'],
  ['red', 31, 'fail failed uninstalled suspended fault ignored'],
])('on a terminal %s, code %i, marks the states %s', (_colour, code, states) => {
  for (const state of states.split(' '))
    expect(colourState('state_now', state)).toBe(`${ESCAPE}[${code}m${state}${ESCAPE}[39m`);
});

test('states are coloured on a terminal only, and not with NO_COLOR or TERM=dumb', async () => {
  const rows = [{ name: 'active', state: 'active', freshness: 'stale (read failed)' }];
  const columns = ['name', 'state', 'freshness'];
  const printed = await printToStdout('table', columns, rows, COLOUR_TERMINAL);
  expect(printed.split('\n')[0]).toBe(`${ESCAPE}[1mname    state   freshness${ESCAPE}[22m`);
  expect(printed.split('\n')[1]).toBe(
    `active  ${ESCAPE}[32mactive${ESCAPE}[39m  ${ESCAPE}[31mstale (read failed)${ESCAPE}[39m`,
  );
  for (const printOptions of [
    { env: { NO_COLOR: '1' }, terminal: true },
    { env: { TERM: 'dumb' }, terminal: true },
    {},
  ]) {
    expect(await printToStdout('table', columns, rows, printOptions)).toBe(
      'name    state   freshness\nactive  active  stale (read failed)\n',
    );
  }
});

const PLAIN_TERMINAL = { env: { NO_COLOR: '1' }, terminal: true };
const HASH = '0123456789abcdef'.repeat(4);
const RETIREMENT = {
  beneficiary: 'Sableforth Airways GmbH and all of its daughters',
  amount: '12345.5',
  created_at: '2025-06-28T05:29:02.229Z',
  project: 'Bukit Hijau Peatland Rewetting',
  id: '3290d2e0-502c-4914-90e3-43233929cfc5',
  sha256: HASH,
};
const ALL_COLUMNS = Object.keys(RETIREMENT);

test('a progress line replaces the previous one, is cut to the width of the terminal and shown only there', () => {
  const stderr = new PassThrough();
  const terminal = { stdin: false, stdout: true, stderr: true };
  const show = createProgress({ stderr, terminal, columns: 12 });
  show('Checking');
  show(null);
  createProgress({ stderr, terminal: { ...terminal, stderr: false }, columns: 12 })('Checking');
  expect(String(stderr.read())).toBe('\r\u001B[KChecking ..\r\u001B[K');
});

test('a table in a pipe is complete, however wide', async () => {
  const long = 'x'.repeat(5000);
  const printed = await printToStdout('table', [...ALL_COLUMNS, 'long'], [{ ...RETIREMENT, long }]);
  for (const value of [...Object.values(RETIREMENT), long]) expect(printed).toContain(value);
  expect(printed).not.toContain('…');
});

test('one wide cell in a pipe does not widen the other rows', async () => {
  const printed = await printToStdout(
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
  'no line of a table is longer than a terminal of %s columns',
  async columns => {
    const { stdout, stderr } = await printToStreams('table', ALL_COLUMNS, [RETIREMENT], {
      ...PLAIN_TERMINAL,
      columns,
    });
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(columns);
    const heading = stdout.split('\n')[0] ?? '';
    const missing = ALL_COLUMNS.filter(name => !heading.includes(name.slice(0, 4)));
    for (const name of missing) expect(stderr).toContain(name);
    expect(stderr === '').toBe(missing.length === 0);
  },
);

test('a narrow terminal shortens ids and instants first, then texts, then hides columns, and never cuts a hash', async () => {
  const at = async (columns: number, keep: string[] = []) =>
    (
      await printToStdout('table', ALL_COLUMNS, [RETIREMENT], {
        ...PLAIN_TERMINAL,
        columns,
        shape: { importantColumns: keep },
      })
    ).split('\n');
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

test.each([
  ['installation_id', 'a'.repeat(16), 'a'.repeat(16)],
  ['installation_id', 'a'.repeat(17), `${'a'.repeat(15)}…`],
  ['beneficiary', 'a'.repeat(17), 'a'.repeat(17)],
  ['created_at', '2025-06-28T05:29:02.229Z', '2025-06-28T05:29Z'],
  ['comment', 'on 2025-06-28T05:29:02.229Z', 'on 2025-06-28T05:29:02.229Z'],
])('a table whose ids and instants must be shortened shows the %s %s as %s', async (column, text, shown) => {
  const rows = [{ [column]: text, id: RETIREMENT.id }];
  const columns = `${shown}  3290d2e0…`.length;
  const printed = await printToStdout('table', [column, 'id'], rows, { ...PLAIN_TERMINAL, columns });
  expect(printed.split('\n')[1]).toBe(`${shown}  3290d2e0…`);
});

test('a narrow terminal hides the only unimportant column first', async () => {
  const rows = [{ comment: 'x'.repeat(30), beneficiary: 'y'.repeat(30) }];
  const shape = { importantColumns: ['beneficiary'] };
  const printOptions = { ...PLAIN_TERMINAL, columns: 20, shape };
  const { count, stdout } = await printToStreams('table', ['comment', 'beneficiary'], rows, printOptions);
  expect([count, stdout]).toEqual([1, `beneficiary\n${'y'.repeat(19)}…\n`]);
});

test('a row sheet has one line per column, the JSON of the registry and an empty line', () => {
  expect(formatRowSheet({ id: 'r-1', beneficiary: null, document: '{\n}' })).toEqual([
    'id           r-1',
    'beneficiary  -',
    '',
    '{',
    '}',
    '',
  ]);
});

test('keys in JSON have underscores, except ids and those of the registry', () => {
  const bytes = new Uint8Array([1]);
  const fromRegistry = { fullName: 1 };
  const data = { body: fromRegistry, content: fromRegistry, document: fromRegistry };
  expect(toSnakeKeys({ rowsChecked: [{ idOfRow: 1 }], 'r-1aB': null, bytes, ...data })).toEqual({
    rows_checked: [{ id_of_row: 1 }],
    'r-1aB': null,
    bytes,
    ...data,
  });
});

test('every column is complete if the width is unlimited', async () => {
  const printed = await printToStdout('table', ALL_COLUMNS, [RETIREMENT], {
    ...PLAIN_TERMINAL,
    columns: Number.POSITIVE_INFINITY,
  });
  for (const value of Object.values(RETIREMENT)) expect(printed).toContain(value);
});

test('a row after the measured ones is cut to the measured widths', async () => {
  const rows = [
    { a: 'x', b: null },
    ...Array.from({ length: 199 }, () => ({ a: 'x', b: 'y'.repeat(90) })),
    { a: 'x', b: 'z'.repeat(900) },
  ];
  const last =
    (await printToStdout('table', ['a', 'b'], rows, PLAIN_TERMINAL)).trimEnd().split('\n').at(-1) ?? '';
  expect(last).toBe(`x  ${'z'.repeat(76)}…`);
});

test('tonnes have thousands separators on a terminal and keep every digit', async () => {
  const rows = [
    { amount: 1234567.25 },
    { amount: '1000.123456' },
    { amount: -5 },
    { amount: 'many' },
    { amount: 1e21 },
  ];
  const shape = { tonneColumns: ['amount'] };
  const printAmounts = async (printOptions: PrintOptions) =>
    (await printToStdout('table', ['amount'], rows, { ...printOptions, shape })).trim().split(/\s+/).slice(1);
  expect(await printAmounts(PLAIN_TERMINAL)).toEqual(['1,234,567.25', '1,000.123456', '-5', 'many', '1e+21']);
  expect(await printAmounts({})).toEqual(['1234567.25', '1000.123456', '-5', 'many', '1e+21']);
  expect(await printToStdout('table', ['2025'], [], PLAIN_TERMINAL)).toBe('2025\n');
});

test('JSON keeps digits that a JavaScript number cannot hold', async () => {
  const rows = [{ small: 5n, large: 9007199254740993n, bytes: new Uint8Array([1, 2]), nothing: null }];
  expect(JSON.parse(await printToStdout('json', [], rows))).toEqual([
    { small: 5, large: '9007199254740993', bytes: 'AQI=', nothing: null },
  ]);
  expect(await printToStdout('json', [], [])).toBe('[]\n');
});

test('T72 CSV on a terminal contains no control characters', async () => {
  expect(await printToStdout('csv', ['a'], [{ a: 'x\u001b[2J\ny' }], PLAIN_TERMINAL)).toBe('a\n"x [2J y"\n');
});

test('T72 a CSV cell that starts like a formula stays text in a spreadsheet', async () => {
  expect(await printToStdout('csv', ['a', 'b'], [{ a: 'x,"y"', b: new Uint8Array([1, 2]) }])).toBe(
    'a,b\n"x,""y""",AQI=\n',
  );
  expect(await printToStdout('csv', ['a'], [{ a: '=1+1' }])).toBe("a\n'=1+1\n");
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

test.each([
  [80, 3, ['id', 'event', 'state', 'job', 'end']],
  [40, 5, ['id', 'event', 'end']],
])('on %s columns a wrapped text is whole, on %s lines, beside %j', async (columns, height, shown) => {
  const end = 'read in 0.4 s: 1 changed in warehouse, 1 added in reservations, 1 added in retirements';
  const rows = [
    {
      id: 17,
      event: 'warehouseTransaction',
      state: 'done',
      job: 46,
      end,
      verdict: 'accepted',
      unknown: null,
    },
  ];
  const shape = {
    importantColumns: ['id', 'event', 'state', 'job', 'end'],
    wrappedColumns: ['end'],
  };
  const names = ['id', 'event', 'state', 'job', 'end', 'verdict', 'unknown'];
  const printed = await printToStdout('table', names, rows, { ...PLAIN_TERMINAL, columns, shape });
  const lines = printed.trimEnd().split('\n');
  const [heading = '', ...body] = lines;
  for (const name of shown) expect(heading.split(/ +/)).toContain(name);
  expect(Math.max(...lines.map(line => line.length))).toBeLessThanOrEqual(columns);
  const start = heading.indexOf('end');
  expect(body.map(line => line.slice(start)).join(' ')).toBe(end);
  expect(body).toHaveLength(height);
});

test('a wrapped text without spaces is broken, and is whole in a file', async () => {
  const rows = [{ id: 1, end: 'a'.repeat(50) }];
  const shape = { importantColumns: ['id', 'end'], wrappedColumns: ['end'] };
  const printOptions = { ...PLAIN_TERMINAL, columns: 30, shape };
  expect(await printToStdout('table', ['id', 'end'], rows, printOptions)).toBe(
    `id  end\n 1  ${'a'.repeat(26)}\n    ${'a'.repeat(24)}\n`,
  );
  const short = [{ id: 1, end: `a ${'b'.repeat(26)}` }];
  expect(await printToStdout('table', ['id', 'end'], short, printOptions)).toBe(
    `id  end\n 1  a\n    ${'b'.repeat(26)}\n`,
  );
  expect(await printToStdout('table', ['id', 'end'], rows, { shape })).toContain('a'.repeat(50));
});
