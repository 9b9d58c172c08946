import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'vitest';
import { long } from './support/long.js';

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
