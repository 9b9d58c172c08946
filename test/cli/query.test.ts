import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { INITIAL_NODE_MB } from '../../src/store/sqlite/sql-query/run-sql-query.js';
import { migrateFile } from '../../src/store/sqlite/migrate.js';
import { runCommand } from '../support/command.js';
import { temporaryFolder } from '../support/inbox.js';
import { createBrokenProgram, PROGRAM } from '../support/mutant.js';

const ENDLESS = 'with recursive n(i) as (values(1) union all select i + 1 from n) select count(*) from n';
const MANY =
  'with recursive n(i) as (values(1) union all select i + 1 from n limit 100000) select i, zeroblob(2000) from n';
/** The program that runs the SQL of a query. */
const ASKED = new URL('../../dist/src/store/sqlite/sql-query/query-process.js', import.meta.url);
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGKILL'] as const;

function emptyMirror(): string {
  const folder = temporaryFolder();
  for (const database of ['mirror', 'inbox'] as const) {
    migrateFile(join(folder, `${database}.db`), database, '2026-05-04T12:00:00.000Z');
  }
  return folder;
}

interface Asked {
  kill(signal: NodeJS.Signals): void;
  readonly ended: Promise<unknown>;
  /** Resolves to the id of the process that runs the SQL, once it has started. */
  worker(): Promise<number>;
}

/** Starts a query in processes of its own. */
function startQuery(sql: string, program: string = PROGRAM): Asked {
  const child = spawn(process.execPath, [program, 'query', sql], {
    env: { DATA_DIR: emptyMirror() },
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  let worker = 0;
  onTestFinished(() => {
    child.kill('SIGKILL');
    if (worker > 0 && isAlive(worker)) process.kill(worker, 'SIGKILL');
  });
  return {
    kill: signal => void child.kill(signal),
    ended,
    worker: async () => {
      await expect.poll(() => listChildren(child.pid ?? 0)).toHaveLength(1);
      worker = listChildren(child.pid ?? 0)[0] ?? 0;
      await expect.poll(() => readCpuSeconds(worker)).toBeGreaterThan(0.5);
      return worker;
    },
  };
}

function listChildren(pid: number): number[] {
  const file = `/proc/${pid}/task/${pid}/children`;
  return existsSync(file) ? readFileSync(file, 'utf8').split(' ').filter(Boolean).map(Number) : [];
}

/** Returns a file of /proc about a process; empty if the process has ended. */
function readProcFile(pid: number, file: 'status' | 'stat' | 'limits'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

function readMegabytes(pid: number, field: 'VmHWM' | 'VmData'): number {
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readProcFile(pid, 'status'))?.[1] ?? 0) / 1024;
}

function isAlive(pid: number): boolean {
  const [, state = 'Z'] = /\) (\S)/.exec(readProcFile(pid, 'stat')) ?? [];
  return state !== 'Z';
}

const TICKS_PER_SECOND = 100;

function readCpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

describe.skipIf(process.platform !== 'linux')('T76 a query that is killed', () => {
  for (const signal of SIGNALS) {
    test(`by ${signal} also ends the process that runs its SQL`, async () => {
      const query = startQuery(ENDLESS);
      const worker = await query.worker();
      query.kill(signal);
      await query.ended;
      await expect.poll(() => isAlive(worker)).toBe(false);
    });
  }

  test('ends the process that answers it, without a log line', async () => {
    const folder = emptyMirror();
    const child = fork(ASKED, [], {
      serialization: 'advanced',
      env: {},
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const outputs = Promise.all([
      text(child.stdout ?? Readable.from([])),
      text(child.stderr ?? Readable.from([])),
    ]);
    const ended = once(child, 'exit');
    const files = { mirrorFile: join(folder, 'mirror.db'), inboxFile: join(folder, 'inbox.db') };
    child.send({ ...files, sql: MANY, askerPid: process.pid, timeLimitMs: 60_000, memoryMb: 300 });
    expect(await once(child, 'message')).toMatchObject([{ columns: expect.any(Array) }, undefined]);
    child.disconnect();
    expect(await ended).toEqual([0, null]);
    expect(await outputs).toEqual(['', '']);
  });

  test('would leave its SQL running if the process did not watch its parent', async () => {
    const query = startQuery(ENDLESS, createBrokenProgram('query-process.js', 'startWatchdog(request);', ''));
    const worker = await query.worker();
    query.kill('SIGKILL');
    await query.ended;
    await pause(2000);
    expect(isAlive(worker)).toBe(true);
  });
});

describe('T77 a query that asks for too much', () => {
  const run = (sql: string, ...options: string[]) =>
    runCommand(['query', sql, ...options], { env: { DATA_DIR: emptyMirror() } });

  test.each([
    ['a value', 'select zeroblob(300000000)'],
    ['a text', "select printf('%.*c', 20000000, 'x')"],
    ['a number that is padded', "select printf('%500000000d', 1)"],
    ['two of them', "select printf('%300000000d', 1) || printf('%300000000d', 2)"],
    [
      'a row of many values',
      `select ${Array.from({ length: 30 }, () => "printf('%.*c', 500000, 'x')").join()}`,
    ],
    [
      'a sum of texts',
      `with recursive n(i) as (values(1) union all select i + 1 from n limit 100000)
      select group_concat(printf('%.*c', 10000, 'x')) from n`,
    ],
  ])('%s above the size limit ends with a message and exit code 1', async (_what, sql) => {
    const { exitCode, stderr } = await run(sql, '--json');
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^The query was stopped: .* MB/);
    expect(stderr).not.toContain('    at ');
  });

  test.skipIf(process.platform !== 'linux')(
    'a sort above the limit of temporary files ends with a message and exit code 1',
    async () => {
      const sql = `with recursive n(i) as (values(1) union all select i + 1 from n limit 100)
        select count(*) from (select distinct printf('%.*c', 3000000, 'x') || i from n)`;
      /** A limit below the requested one stays as it is. */
      const less = ['-c', 'ulimit -f 20000; exec "$@"', 'sh', process.execPath, PROGRAM, 'query', sql];
      const child = spawn('sh', less, {
        env: { DATA_DIR: emptyMirror() },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      const [stderr, [exitCode]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
      expect(exitCode).toBe(1);
      expect(stderr).toMatch(/^The query was stopped: it needs more room for temporary files/);
    },
  );

  const wideRows = (rows: number) =>
    `with recursive n(i) as (values(1) union all select i + 1 from n limit ${rows})
     select printf('%.*c', 1000000, 'x') as big from n`;

  test.skipIf(process.platform !== 'linux')(
    'the process never uses more than 400 MB of memory or a file above 1 GB',
    async () => {
      const child = spawn(
        process.execPath,
        [PROGRAM, 'query', "select printf('%500000000d', 1) || printf('%400000000d', 1)"],
        {
          env: { DATA_DIR: emptyMirror() },
          stdio: 'ignore',
        },
      );
      let peak = 0;
      let largest = '';
      while (child.exitCode === null) {
        for (const pid of listChildren(child.pid ?? 0)) {
          peak = Math.max(peak, readMegabytes(pid, 'VmHWM'));
          largest = /Max file size +(\w+)/.exec(readProcFile(pid, 'limits'))?.[1] ?? largest;
        }
        await pause(1);
      }
      expect(largest).toBe(String(2 ** 30));
      expect(peak).toBeGreaterThan(30);
      expect(peak).toBeLessThan(400);
    },
  );

  test.skipIf(process.platform !== 'linux')(
    'an idle Node process stays within the assumed base memory',
    async () => {
      const child = fork(ASKED, [], { env: {}, execArgv: [] });
      onTestFinished(() => void child.kill('SIGKILL'));
      await expect.poll(() => readMegabytes(child.pid ?? 0, 'VmData')).toBeGreaterThan(20);
      expect(readMegabytes(child.pid ?? 0, 'VmData')).toBeLessThan(INITIAL_NODE_MB);
    },
  );

  test('a table streams rows of a megabyte and cuts them to the width of a terminal', async () => {
    const env = { DATA_DIR: emptyMirror() };
    const { exitCode, stdout } = await runCommand(['query', wideRows(300), '--time-limit', '600'], {
      env,
      terminal: true,
    });
    expect(exitCode).toBe(0);
    expect(stdout.split('\n')).toHaveLength(302);
    expect(stdout.length).toBeLessThan(40_000);
  });

  test('a table in a pipe prints rows of a megabyte in full', async () => {
    const { exitCode, stdout } = await run(wideRows(20), '--time-limit', '600');
    expect(exitCode).toBe(0);
    expect(stdout.split('\n').map(({ length }) => length)).toEqual([
      3,
      ...Array.from({ length: 20 }, () => 1_000_000),
      0,
    ]);
  });

  test('bytes are printed as base64 in JSON', async () => {
    const { stdout } = await run("select x'00ff10' as bytes", '--json');
    expect(JSON.parse(stdout)).toEqual([{ bytes: 'AP8Q' }]);
  });

  test.each(['0', '-1', '604801', '2147484'])('a time limit of %s seconds is refused', async seconds => {
    const { exitCode, stderr } = await run('select 1', `--time-limit=${seconds}`);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('at most 604800');
  });
});
