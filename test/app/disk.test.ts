import { expect } from 'vitest';
import { type ProcfileProcesses, startSandboxProcess } from '../support/procfile.js';
import { runProcess } from '../support/processes.js';
import { long } from '../support/long.js';

/** A reserve larger than any disk. */
const HUGE_RESERVE = { DISK_RESERVE_MB: '999999999' };

async function fetchOperations({ operationsPorts }: ProcfileProcesses, name: 'web' | 'worker', path: string) {
  const answer = await fetch(`http://127.0.0.1:${operationsPorts[name]}/${path}`);
  return { status: answer.status, text: await answer.text() };
}

long.test(
  'T21 below the disk reserve deliveries are stored and reads pause visibly, and reads resume once space is free',
  async () => {
    const processes = await startSandboxProcess([
      '--seed',
      '9',
      '--organizations',
      '1',
      '--retirements',
      '5',
    ]);
    const web = processes.start('web', HUGE_RESERVE);
    const paused = processes.start('worker', HUGE_RESERVE);
    await web.waitForLine(line => line['msg'] === 'receiver started');
    await paused.waitForLine(line => String(line['msg']).startsWith('reads and certificates pause'));
    await processes.installEverywhere();
    const stored = async () =>
      (await processes.rows("SELECT 1 FROM deliveries WHERE verdict = 'accepted'")).length;
    await expect.poll(stored).toBeGreaterThan(0);
    const answered = async () => JSON.stringify(await processes.callControl('GET /deliveries'));
    await expect.poll(answered).toContain('"status":202');

    const env = { ...processes.env, ...HUGE_RESERVE };
    const sync = await runProcess(['sync'], env);
    expect(sync).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('Reads and certificates are paused: '),
    });
    const status = await runProcess(['status'], env);
    expect(status.stdout).toMatch(
      /\nREADS AND CERTIFICATES ARE PAUSED: \d+ MiB are free, 999999999 MiB are kept/,
    );
    const doctor = await runProcess(['doctor', '--json'], env);
    expect(JSON.parse(doctor.stdout)).toContainEqual(
      expect.objectContaining({ check: 'disk', state: 'fail', found: expect.stringContaining('pause') }),
    );
    for (const name of ['web', 'worker'] as const) {
      const readyz = await fetchOperations(processes, name, 'readyz');
      expect(readyz).toEqual({ status: 503, text: expect.stringContaining('disk: ') });
      expect(readyz.text).toContain('999999999 MiB are kept for deliveries');
      const { text } = await fetchOperations(processes, name, 'metrics');
      expect(text).toMatch(/^carbon_mirror_reads_paused 1$/m);
      expect(text).toMatch(/^carbon_mirror_disk_free_bytes [1-9]/m);
      expect(text).toMatch(/^carbon_mirror_disk_reserve_bytes [1-9]/m);
    }
    const touched = "SELECT id FROM jobs WHERE state <> 'waiting' OR attempts > 0 OR claim IS NOT NULL";
    expect(await processes.rows(touched)).toEqual([]);
    paused.child.kill('SIGTERM');
    expect(await paused.ended).toBe(0);

    const reading = processes.start('worker', { DISK_RESERVE_MB: '0' });
    await processes.waitUntilFilled();
    expect(await processes.rows('SELECT count(*) AS n FROM retirements')).toEqual([{ n: 5 }]);
    expect((await fetchOperations(processes, 'worker', 'readyz')).status).toBe(200);
    expect((await fetchOperations(processes, 'worker', 'metrics')).text).toMatch(
      /^carbon_mirror_reads_paused 0$/m,
    );
    reading.child.kill('SIGTERM');
    expect(await reading.ended).toBe(0);
  },
);
