import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { listenOnFreePort } from '../support/listen.js';
import { followRows } from '../../src/cli/follow.js';
import { openDelivery } from '../../src/webhook/public.js';
import { runCommand } from '../support/command.js';
import { startDemoForFile } from '../support/mirror/demo.js';

const demo = await startDemoForFile();
const { env } = demo;
const [organization = ''] = demo.organizationIds;

/** Runs a command until `isDone` returns true for everything that it has printed. */
async function runUntil(
  argv: readonly string[],
  isDone: (stdout: string) => boolean,
  onStart = async () => {},
) {
  const interrupt = new AbortController();
  let printed = '';
  const outcome = runCommand(argv, {
    env,
    createInterruptSignal: () => interrupt.signal,
    onStdout: text => {
      printed += text;
      if (isDone(printed)) interrupt.abort();
    },
  });
  await onStart();
  return await outcome;
}

async function readNewestId(list: string, column: string): Promise<number> {
  const { stdout } = await runCommand([list, 'list', '--json', '--limit', '1'], { env });
  return JSON.parse(stdout).rows[0]?.[column] ?? 0;
}

const trigger = async (event = 'warehouseTransaction') => {
  const { exitCode } = await runCommand(['trigger', event, '--organization', organization], { env });
  expect(exitCode).toBe(0);
};

test('following stops at once when it is interrupted', async () => {
  const interrupt = new AbortController();
  const rows = followRows({ readNext: async () => [], signal: interrupt.signal, intervalMs: 2 ** 30 });
  const next = rows.next();
  interrupt.abort();
  expect(await next).toEqual({ done: true, value: undefined });
});

test('tail prints deliveries as they arrive, as text and as lines of JSON', async () => {
  const after = String(await readNewestId('deliveries', 'id'));
  const hasLine = (text: string) => text.includes('\n');
  const text = await runUntil(['deliveries', 'tail', '--after', after], hasLine, trigger);
  expect(text).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/^\S+Z {2}\d+ {2}warehouseTransaction {2}.+ {2}accepted\n$/),
    stderr: `Waiting for deliveries after number ${after}. Press Ctrl-C to stop.\n`,
  });
  const json = await runUntil(['deliveries', 'tail', '--after', after, '--json'], hasLine);
  expect(JSON.parse(json.stdout.split('\n')[0] ?? '')).toMatchObject({
    event: 'warehouseTransaction',
    organization_id: organization,
    verdict: 'accepted',
  });
  expect(json.stdout).not.toContain('signed_data');
});

test('forward posts signed deliveries to a program on this machine, and reports those it refuses', async () => {
  const received: boolean[] = [];
  const statuses = [202, 500];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { verdict } = openDelivery({
      body: Buffer.concat(await request.toArray()),
      signature: request.headers['x-registry-signature-256']?.toString(),
      secrets: [env['WEBHOOK_SECRETS'] ?? ''],
      appId: demo.appId,
    });
    received.push(verdict === 'accepted');
    response.writeHead(statuses.shift() ?? 500).end();
  };
  const program = createServer((request, response) => void answer(request, response));
  const port = await listenOnFreePort(program);
  const after = String(await readNewestId('deliveries', 'id'));
  const argv = ['deliveries', 'forward', '--to', `http://127.0.0.1:${port}/hook`, '--after', after];
  const { exitCode, stdout } = await runUntil(
    argv,
    printed => printed.split('\n').length > 2,
    async () => {
      await trigger('warehouseTransaction');
      await trigger('suspended');
      await trigger('unsuspended');
    },
  );
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^202 {2}delivery \d+: warehouseTransaction\n500 {2}delivery \d+: suspended\n/);
  expect(received.slice(0, 2)).toEqual([true, true]);
});

test.each(['https://mirror.example.org/webhooks', 'http://192.168.0.1/', 'ftp://localhost/', 'here'])(
  'forward and trigger refuse %s',
  async url => {
    for (const argv of [
      ['deliveries', 'forward', '--to', url],
      ['trigger', 'suspended', '--organization', organization, '--url', url],
    ]) {
      const { exitCode, stderr } = await runCommand(argv, { env });
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining('expected a URL of this machine')]);
    }
  },
);

test('replay reads the installation of a stored delivery again', async () => {
  const id = await readNewestId('deliveries', 'id');
  const { exitCode, stdout, stderr } = await runCommand(['deliveries', 'replay', String(id), '--json'], {
    env,
  });
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining('reads installation')]);
  const { delivery, job } = JSON.parse(stdout);
  expect(delivery).toBe(id);
  const state = async () => {
    const { stdout: shown } = await runCommand(['jobs', 'show', String(job), '--json'], { env });
    return JSON.parse(shown);
  };
  await expect.poll(async () => (await state()).state).toBe('done');
  expect(await state()).toMatchObject({ trigger: expect.stringContaining('person') });
  expect((await runCommand(['deliveries', 'replay', '999999'], { env })).exitCode).toBe(6);
});

test('replay refuses a delivery that was ignored', async () => {
  const [row] = await demo.rows("SELECT id FROM inbox.deliveries WHERE verdict = 'accepted' LIMIT 1");
  const { id } = Object(row);
  const ignore =
    "UPDATE inbox.deliveries SET verdict = 'ignored', ignored_reason = 'unknown event', job_id = NULL WHERE id = ?";
  await demo.change(ignore, id);
  const { exitCode, stderr } = await runCommand(['deliveries', 'replay', String(id)], { env });
  expect([exitCode, stderr]).toEqual([3, expect.stringContaining('was ignored: unknown event')]);
});

test('changes --follow prints changes as they are observed, as text and as lines of JSON', async () => {
  const hasLine = (text: string) => text.includes('\n');
  const json = await runUntil(['changes', '--follow', '--after', '0', '--json'], hasLine);
  expect(json.exitCode).toBe(0);
  expect(JSON.parse(json.stdout.split('\n')[0] ?? '')).toMatchObject({ number: 1, change: 'added' });
  const text = await runUntil(['changes', '--follow', '--after', '0'], hasLine);
  expect(text.stdout).toMatch(/^\d{4}-\d\d-\d\d UTC\n/);
  for (const option of [['--since', 'today'], ['--csv'], ['--after', '99999999']])
    expect((await runCommand(['changes', '--follow', ...option], { env })).exitCode).toBeGreaterThan(0);
});
