import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findMutants } from './mutants/mutate.js';
import { long } from './support/long.js';

const ROOT = join(import.meta.dirname, '..');

test('each mutant that is named is one of those that are tried', () => {
  const named = Object.keys(JSON.parse(readFileSync(join(ROOT, 'test/mutants/known.json'), 'utf8')));
  const files = [...new Set(named.map(key => key.split(':', 1)[0] ?? ''))];
  const found = files.flatMap(file => findMutants(join(ROOT, file)));
  const tried = new Set(found.map(({ key }) => key.slice(ROOT.length + 1)));
  expect(named.filter(key => !tried.has(key))).toEqual([]);
});

long.test(
  'mutants tell what a law notices, what none ends, notices or reaches, and what is red without one',
  () => {
    const runner = join(import.meta.dirname, 'mutants/run.js');
    const cwd = join(import.meta.dirname, 'fixtures/mutants');
    const { status, stdout, stderr } = spawnSync(process.execPath, [runner, 'door'], {
      cwd,
      encoding: 'utf8',
    });
    const [told = '', table = ''] = stdout.split('┌');
    expect(told.split('\n')).toEqual([
      'survived: line 4 of src/door/open.ts: return age >= ADULT; -> return age > ADULT;',
      "nobody asks: line 8 of src/door/open.ts: return 'nobody'; -> return '';",
      '',
    ]);
    expect([table.match(/places.*named/)?.[0], table.match(/\d+/g)?.join(' ')]).toEqual([
      'places │ killed │ timed out │ survived │ not reached │ named',
      '0 11 8 1 1 1 1',
    ]);
    expect(stderr).toContain('left out, as it is red without a mutant');
    expect(status).toBe(3);
  },
);
