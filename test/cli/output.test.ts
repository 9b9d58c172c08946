import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { csvCell, type Format, type Row, writeRows } from '../../src/cli/output.js';

async function print(
  format: Format,
  columns: string[],
  rows: Row[],
  env = {},
  terminal = false,
): Promise<string> {
  const stdout = new PassThrough();
  const printed = text(stdout);
  await writeRows(
    {
      stdin: new PassThrough(),
      stdout,
      stderr: new PassThrough(),
      env,
      now: () => 0,
      terminal: { stdin: false, stdout: terminal, stderr: false },
      columns: 80,
      interruption: () => new AbortController().signal,
      secretFiles: [],
      tellParent: () => undefined,
    },
    format,
    columns,
    rows,
  );
  stdout.end();
  return await printed;
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

test('colour is for a terminal, and NO_COLOR turns it off', async () => {
  const rows = [{ name: 'a' }];
  expect(await print('table', ['name'], rows, {}, true)).toContain('\u001b[1m');
  expect(await print('table', ['name'], rows, { NO_COLOR: '1' }, true)).not.toContain('\u001b');
  expect(await print('table', ['name'], rows)).not.toContain('\u001b');
});

test('JSON keeps digits that a JavaScript number cannot hold', async () => {
  const rows = [{ small: 5n, large: 9007199254740993n, bytes: new Uint8Array([1, 2]), nothing: null }];
  expect(JSON.parse(await print('json', [], rows))).toEqual([
    { small: 5, large: '9007199254740993', bytes: 'AQI=', nothing: null },
  ]);
  expect(await print('json', [], [])).toBe('[]\n');
});

test('CSV is quoted, and a text that begins like a formula stays text', async () => {
  expect(await print('csv', ['a', 'b'], [{ a: 'x,"y"', b: 1 }])).toBe('a,b\r\n"x,""y""",1\r\n');
  for (const evil of ['=1+1', '+1', '-1+cmd', '@SUM(A1)', '\t=1', '\r=1']) {
    expect(csvCell(evil).replace(/^"/, '')).toMatch(/^'/);
  }
  for (const evil of ['  =1+1', '\u0001=1', '\uff1dcmd', '\u00a0@x']) {
    expect(csvCell(evil), evil).toBe(`'${evil}`);
  }
  expect(csvCell('tea; =1+1')).toBe(`"tea;' =1+1"`);
  expect(csvCell('tea; milk')).toBe('"tea; milk"');
  for (const evil of ['  =1+1', '\u0001=1', '\uff1dcmd', '\u00a0@x']) {
    expect(csvCell(evil), evil).toBe(`'${evil}`);
  }
  expect(csvCell('tea; =1+1')).toBe(`"tea;' =1+1"`);
  expect(csvCell('tea; milk')).toBe('"tea; milk"');
  expect(csvCell(-5)).toBe('-5');
  expect(csvCell(null)).toBe('');
});
