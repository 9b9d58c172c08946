import { createServer } from 'node:http';
import { rmSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { listenOnFreePort } from '../support/listen.js';
import { runCommand } from '../support/command.js';
import { startDemoForFile } from '../support/mirror/demo.js';
import { createPrivateKey, issueCredit } from '../support/sandbox.js';
import { until } from '../support/wait.js';
import { makeFolder } from '../support/folder.js';

/** An organization that holds plenty of one credit in its warehouse. */

const demo = await startDemoForFile();
const folder = makeFolder('carbon-mirror-writing-');
const [owner = '', receiver = ''] = demo.organizationIds;
const offered = issueCredit(demo.sandbox, owner, { amount: 1000 });

afterAll(() => rmSync(folder, { recursive: true }));

async function run(...argv: string[]) {
  return await runCommand(argv, { env: demo.env });
}

// biome-ignore lint: the answers are what the tests look into
// oxlint-disable-next-line typescript/no-explicit-any
async function json(...argv: string[]): Promise<any> {
  const { exitCode, stdout, stderr } = await run(...argv, '--json');
  expect(exitCode, stderr).toBe(0);
  return JSON.parse(stdout);
}

/** Expects the same error with and without --json, and no stack trace. */
async function expectFault(exitCode: number, text: string, ...argv: string[]): Promise<void> {
  for (const words of [argv, [...argv, '--json']]) {
    const outcome = await run(...words);
    expect(outcome, outcome.stderr).toMatchObject({ exitCode, stdout: '' });
    expect(outcome.stderr).toContain(text);
    expect(outcome.stderr).not.toMatch(/\n\s+at /);
  }
}

async function reserve(amount = '2'): Promise<string> {
  const { id } = await json('reservations', 'create', ...ofOwner(offered), '--amount', amount, '--yes');
  return id;
}

function ofOwner(creditId: string): string[] {
  return ['--organization', owner, '--credit-id', creditId];
}

const RETIRE = ['--action', 'retire', '--beneficiary', 'Harbour Ferries', '--reason', 'Testing'];

describe('reservations', () => {
  test('create reserves credits, list shows the remaining minutes, and cancel releases them', async () => {
    const { exitCode, stdout, stderr } = await run(
      'reservations',
      'create',
      ...ofOwner(offered),
      '--amount',
      '1.5',
      '--yes',
    );
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/amount_exact +1\.5\n/);
    expect(stdout).toMatch(/state_now +outstanding\n/);
    const id = /^id +(.+)$/m.exec(stdout)?.[1] ?? '';
    expect(stderr).toContain(`carbon-mirror reservations cancel ${id} --organization ${owner} --yes\n`);
    const mirrored = async () => await run('reservations', 'list', '--organization', owner);
    await until(async () => (await mirrored()).stdout.includes(id), 'the hold in the mirror');
    expect((await mirrored()).stdout).toMatch(new RegExp(`outstanding +(5\\d\\d|600) .*${id}`));
    expect((await json('reservations', 'show', id)).row.seconds_left).toBeGreaterThan(480);
    const cancel = ['reservations', 'cancel', `${id.slice(0, 8)}…`, '--organization', owner];
    await expectFault(2, 'Add --yes', ...cancel);
    expect(await json(...cancel, '--yes')).toMatchObject({ id, state_now: 'cancelled', seconds_left: null });
    await expectFault(3, 'answered 409', ...cancel, '--yes');
  });

  test('create accepts the unique start of a credit id and reserves nothing if several ids match', async () => {
    const sold = (await json('available', '--organization', owner)).rows;
    expect(sold.length).toBeGreaterThan(1);
    const [{ credit_id: creditId }] = sold;
    const others = sold.map(({ credit_id: id }: { credit_id: string }) => id).slice(1);
    const length = [...creditId].findIndex(
      (_, at) => at > 0 && !others.some((id: string) => id.startsWith(creditId.slice(0, at))),
    );
    const hold = ['reservations', 'create', '--organization', owner, '--amount', '1', '--yes', '--credit-id'];
    const { credit_id: heldCreditId } = await json(...hold, `${creditId.slice(0, length)}…`);
    expect(heldCreditId).toBe(creditId);
    await expectFault(6, 'Several rows of', ...hold, 'exPost-');
    await expectFault(6, 'The registry knows no credit "exPost-none".', ...hold, 'exPost-none');
    await expectFault(6, `carbon-mirror warehouse list --organization ${owner}`, ...hold, 'exPost-none');
  });

  test('the commands stand at each credit, ready to copy', async () => {
    const { stdout } = await run('warehouse', 'show', offered, '--organization', owner);
    expect(stdout).toContain(
      `carbon-mirror reservations create --organization ${owner} --credit-id ${offered} --amount `,
    );
    expect(stdout).toContain(
      `carbon-mirror reservations finish RESERVATION --organization ${owner} --action retire`,
    );
  });

  test('a reservation appears in the mirror soon, although no webhook announces it', async () => {
    const id = await reserve();
    const known = async () => (await demo.rows(`SELECT 1 FROM reservations WHERE id = '${id}'`)).length === 1;
    await until(known, 'the reservation in the mirror');
    expect((await run('reservations', 'list', '--organization', owner)).stdout).toMatch(
      new RegExp(`outstanding +(5\\d\\d|600) .*${id}`),
    );
    expect(await json('reservations', 'show', id)).toMatchObject({ organization_id: owner });
    const { exitCode } = await run('reservations', 'cancel', id, '--yes');
    expect(exitCode).toBe(0);
  });

  test('create asks for a confirmation that names the credits, and reserves nothing without one', async () => {
    const create = ['reservations', 'create', ...ofOwner(offered), '--amount', '2.5'];
    const question = `Reserve 2.5 t of ${offered} of the organization ${owner} for ten minutes.`;
    const { reservations } = demo.sandbox.registry;
    const countReservations = () => reservations.listNewest(1000).length;
    const countBefore = countReservations();
    await expectFault(2, question, ...create);
    await expectFault(2, 'Add --yes', ...create);
    const no = await runCommand(create, { env: demo.env, terminal: true, input: 'n\n' });
    expect(no).toMatchObject({ exitCode: 130, stdout: '' });
    expect(no.stderr).toContain(`${question} Continue? [y/N] `);
    expect(countReservations()).toBe(countBefore);
    const yes = await runCommand(create, { env: demo.env, terminal: true, input: 'y\n' });
    expect(yes.exitCode).toBe(0);
    expect(yes.stderr).toMatch(
      new RegExp(`carbon-mirror reservations cancel \\S+ --organization ${owner}\\n`),
    );
    expect(countReservations()).toBe(countBefore + 1);
  });

  test('finish asks for a confirmation that describes the actual reservation', async () => {
    const id = await reserve('3');
    const finish = ['reservations', 'finish', id, '--organization', owner, ...RETIRE];
    const no = await runCommand(finish, { env: demo.env, terminal: true, input: 'n\n' });
    expect(no).toMatchObject({ exitCode: 130, stdout: '' });
    expect(no.stderr).toContain(`Retire 3 t of ${offered} (project `);
    expect(no.stderr).toContain('for Harbour Ferries. This cannot be undone. Continue? [y/N] ');
    const yes = await runCommand(finish, { env: demo.env, terminal: true, input: 'y\n' });
    expect(yes.exitCode).toBe(0);
    expect(yes.stdout).toContain('finished');
  });

  test('finish transfers and retires credits', async () => {
    const end = async (...argv: string[]) =>
      await json('reservations', 'finish', await reserve(), '--organization', owner, '--yes', ...argv);
    const to = ['--receiver-id', receiver];
    expect(await end('--action', 'transfer', ...to, '--transfer-comment', 'As sold')).toMatchObject({
      state_now: 'finished',
    });
    await end('--action', 'transfer_retire', ...to, ...RETIRE.slice(2), '--comment', 'Thanks');
    const [last] = demo.sandbox.registry.transactions.list(1);
    expect(last).toMatchObject({ type: 'transfer_retire', receiverId: receiver, amount: 2 });
  });

  test('finish exits with 3 if the transaction failed and says when it may still be pending', async () => {
    const { faults } = demo.sandbox.registry;
    const finish = async (kind: 'transactionFails' | 'transactionQueues') => {
      faults.add({ kind, count: 1 });
      return await run(
        'reservations',
        'finish',
        await reserve(),
        '--organization',
        owner,
        '--yes',
        ...RETIRE,
      );
    };
    const failed = await finish('transactionFails');
    expect(failed).toMatchObject({ exitCode: 3, stdout: expect.stringMatching(/state_now +cancelled/) });
    expect(failed.stderr).toContain('The transaction failed at the registry');
    expect(failed.stderr).not.toContain('The retirement may still be pending');
    const queued = await finish('transactionQueues');
    expect(queued).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/state_now +finished/) });
    expect(queued.stderr).toContain('The retirement may still be pending');
  });

  test('finish refuses an action with a missing or useless option before it calls the registry', async () => {
    const finish = ['reservations', 'finish', 'x', '--organization', owner, '--action'];
    await expectFault(2, '--action retire requires --beneficiary and --reason.', ...finish, 'retire');
    await expectFault(
      2,
      '--action transfer requires --receiver-id or --receiver-address.',
      ...finish,
      'transfer',
    );
    await expectFault(
      2,
      '--action transfer does not accept --beneficiary.',
      ...finish,
      'transfer',
      '--receiver-id',
      'x',
      '--beneficiary',
      'y',
    );
    await expectFault(
      2,
      '--action retire does not accept --receiver-id.',
      ...finish,
      ...RETIRE.slice(1),
      '--receiver-id',
      'x',
    );
    await expectFault(2, 'Expected one of transfer', ...finish, 'burn');
  });

  test('commands refuse amounts, ids and options that cannot work', async () => {
    const create = ['reservations', 'create', ...ofOwner(offered), '--amount'];
    await expectFault(3, 't are available, and 100000000 t were asked for.', ...create, '100000000', '--yes');
    await expectFault(2, '--amount: Expected tonnes with a decimal point', ...create, 'much');
    await expectFault(2, '“2,5” is not an amount: write 2.5.', ...create, '2,5');
    await expectFault(
      2,
      '--credit-id: expected printable text',
      'reservations',
      'create',
      ...ofOwner('a\nb'),
      '--amount',
      '1',
    );
    await expectFault(2, "'--amount <tonnes>' not specified", 'reservations', 'create', ...ofOwner(offered));
    await expectFault(
      2,
      'Name its organization with --organization',
      'reservations',
      'cancel',
      'unknown',
      '--yes',
    );
    await expectFault(
      6,
      'answered 404',
      'reservations',
      'cancel',
      'unknown',
      '--organization',
      owner,
      '--yes',
    );
    await expectFault(6, 'No row of reservations has the id "unknown"', 'reservations', 'show', 'unknown');
  });
});

test('an unknown subcommand is refused with a list of the existing ones', async () => {
  const { exitCode, stderr } = await run('reservations', 'retire', 'some-id');
  expect(exitCode).toBe(2);
  expect(stderr).toContain("unknown command 'retire'");
  expect(stderr).toContain('finish: Retire or transfer reserved credits');
});

describe('trigger', () => {
  const post = (...argv: string[]) => ['trigger', ...argv, '--organization', owner];

  test('posts a signed delivery, which is accepted and leads to a read', async () => {
    const { exitCode, stdout, stderr } = await run(...post('warehouseTransaction'));
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^202 {2}warehouseTransaction of installation /);
    expect(stderr).toContain('carbon-mirror deliveries list');
    const { rows: deliveries } = await json('deliveries', 'list', '--limit', '1');
    const [delivery] = deliveries;
    expect(delivery).toMatchObject({ event: 'warehouseTransaction', verdict: 'accepted' });
    const delivered = await json('deliveries', 'show', String(delivery.id));
    expect(delivered.content.installation).toMatchObject({ appId: demo.appId, organization: { id: owner } });
  });

  test('accepts every event', async () => {
    for (const event of [
      'installed',
      'suspended',
      'unsuspended',
      'newPermissionsAccepted',
      'organizationTransaction',
    ]) {
      expect(await json(...post(event))).toMatchObject({ event, status: 202 });
    }
  });

  test('explains a secret that the receiver does not know, without showing it', async () => {
    const env = {
      ...demo.env,
      WEBHOOK_SECRETS: `a newer secret of ours,${demo.env['WEBHOOK_SECRETS'] ?? ''}`,
    };
    const refused = await runCommand(post('suspended'), { env });
    expect(refused).toMatchObject({ exitCode: 3, stdout: expect.stringMatching(/^401 /) });
    expect(refused.stderr).toContain('Compare WEBHOOK_SECRETS');
    expect(refused.stderr + refused.stdout).not.toContain('newer secret');
  });

  test('judges the answer at another URL by its status', async () => {
    const statuses = [200, 403, 200, 500];
    const other = createServer((request, response) => {
      request.resume();
      response.writeHead(statuses.shift() ?? 500).end();
    });
    const port = await listenOnFreePort(other);
    const urlOption = ['--url', `http://127.0.0.1:${port}/hook`];
    const outcome = await run(...post('installed', ...urlOption));
    expect(outcome).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(/^Accepted\./) });
    const forged = await run(...post('installed', '--bad-signature', ...urlOption));
    expect(forged).toMatchObject({
      exitCode: 0,
      stderr: expect.stringMatching(/^Rejected, as expected\./),
    });
    const unchecked = await run(...post('installed', '--bad-signature', ...urlOption));
    expect(unchecked).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('does not check signatures'),
    });
    expect(await run(...post('installed', ...urlOption))).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('Expected status 200 to 299 for the delivery, got 500.'),
    });
  });

  test('T01 a forged delivery is rejected, counted by minute and reason, and reported by doctor', async () => {
    const counted = async () => {
      const answer: { rows: { reason: string; rejected: number }[] } = await json('deliveries', 'rejected');
      return answer.rows
        .filter(row => row.reason === 'signature_not_valid')
        .reduce((sum, row) => sum + row.rejected, 0);
    };
    const webhooks = (await counted()) + 2;
    for (const event of ['suspended', 'unsuspended']) {
      const forged = await run(...post(event, '--bad-signature'));
      expect(forged).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^401 /) });
      expect(forged.stderr).toContain('deliveries rejected');
    }
    await expect.poll(counted).toBe(webhooks);
    const { caveats } = await json('deliveries', 'list');
    expect(caveats).toMatchObject([{ code: 'newer_rejected', webhooks, reasons: ['signature_not_valid'] }]);
    expect((await run('deliveries', 'list')).stderr).toContain(
      `${webhooks} webhooks were rejected since the minute of the newest delivery: signature not valid. See "carbon-mirror deliveries rejected".`,
    );
    const { rows } = await json('deliveries', 'rejected');
    const [row] = rows;
    expect(row).toMatchObject({ status: 401, header_prefix: 'registry', minute: row.newest_at.slice(0, 16) });
    const findings: { check: string }[] = JSON.parse((await run('doctor', '--json')).stdout);
    expect(findings.filter(({ check }) => check === 'rejected_webhooks')).toEqual([
      {
        check: 'rejected_webhooks',
        state: expect.stringMatching(/warn|fail/),
        found: expect.stringMatching(
          new RegExp(
            String.raw`^${webhooks} webhooks rejected since .*\d\d:\d\d UTC: signature not valid \(401\)$`,
          ),
        ),
        todo: expect.stringContaining('Check that WEBHOOK_SECRETS matches the secret at the registry.'),
      },
    ]);
  });

  test('refuses an unknown event, an invalid URL and a URL without a receiver', async () => {
    await expectFault(2, 'Did you mean installed', ...post('instaled'));
    await expectFault(2, '--url: expected a URL', ...post('installed', '--url', 'here'));
    await expectFault(5, 'No receiver answers', ...post('installed', '--url', 'http://127.0.0.1:1/webhooks'));
    const url = demo.sandbox.url;
    expect(await run(...post('installed', '--url', `${url}/webhooks`))).toMatchObject({ exitCode: 3 });
  });
});

describe('errors of the registry', () => {
  test('a wrong key exits with 4, an unreachable registry with 5 and missing settings with 2', async () => {
    const asks = ['reservations', 'cancel', 'none', '--organization', owner, '--yes'];
    const other = { ...demo.env, REGISTRY_PRIVATE_KEY: createPrivateKey() };
    expect(await runCommand(asks, { env: other })).toMatchObject({ exitCode: 4, stdout: '' });
    const away = { ...demo.env, REGISTRY_BASE_URL: 'http://127.0.0.1:1' };
    expect(await runCommand(asks, { env: away })).toMatchObject({ exitCode: 5, stdout: '' });
    const none = await runCommand(asks, { env: { DATA_DIR: folder } });
    expect(none).toMatchObject({ exitCode: 2, stdout: '' });
    expect(none.stderr).toContain('There is no mirror in');
  });
});
