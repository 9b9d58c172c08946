import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { EXIT } from '../../src/cli/exit.js';
import { createEventsKey, readEventsKey } from '../../src/events/key-file.js';
import { createSender } from '../../src/events/send/sender.js';
import { runCommand } from '../support/command.js';
import { startEventReceiver } from '../support/event-receiver.js';
import { openEvents } from '../support/events.js';
import { temporaryFolder } from '../support/folder.js';
import { openFilledMirror } from '../support/mirror/open.js';

async function openCommands() {
  const mirror = await openFilledMirror({ organizations: 1 });
  const receiver = await startEventReceiver();
  const keyFile = join(temporaryFolder(), 'events.key');
  const env = { ...mirror.env, REGISTRY_APP_ID: 'a', EVENTS_KEY_FILE: keyFile, OUTBOUND_ALLOW: 'loopback' };
  const run = (...argv: string[]) =>
    runCommand(['subscriptions', ...argv], { env, now: () => mirror.clock.at, columns: 200 });
  const runJson = async (...argv: string[]): Promise<unknown> => {
    const { exitCode, stdout, stderr } = await run(...argv, '--json');
    expect(exitCode, stderr).toBe(EXIT.ok);
    return JSON.parse(stdout);
  };
  /** Runs a command that prints a secret. */
  const runSecret = async (...argv: string[]): Promise<Added> => {
    const { stdout } = await run(...argv, '--json');
    const added: Added = JSON.parse(stdout);
    return added;
  };
  return {
    runSecret,
    mirror,
    receiver,
    keyFile,
    env,
    run,
    runJson,
  };
}

interface Added {
  readonly id: string;
  readonly secret: string;
}

describe('subscriptions', () => {
  test('add creates the key and prints the secret once; test sends an event that verifies', async () => {
    const { run, runJson, receiver, keyFile } = await openCommands();
    expect((await run('list')).stderr).toContain('No subscriptions.');
    const added = await run('add', receiver.url, '--events', 'retirement.created');
    expect(added).toMatchObject({ exitCode: EXIT.ok });
    const secret = added.stdout.trim();
    expect(secret).toMatch(/^whsec_/);
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
    const [id = ''] = /sub_[0-9a-f]{10}/.exec(added.stderr) ?? [];
    expect(await run('test', id)).toMatchObject({ exitCode: EXIT.ok });
    const [event] = receiver.accepted;
    expect(event).toMatchObject({ type: 'subscription.test', data: { subscription_id: id } });
    expect(new Webhook(secret).verify(event?.body ?? '', event?.headers ?? {})).toBeTruthy();
    receiver.answer = () => 500;
    expect(await run('test', id)).toMatchObject({
      exitCode: EXIT.checkFailed,
      stderr: expect.stringContaining('HTTP status 500'),
    });
    expect(await runJson('list')).toMatchObject([
      { id, url: receiver.url, events: 'retirement.created', state: 'active', delivered: 0, problem: null },
    ]);
  });

  test('pause, resume, rotate, replay and remove work by the beginning of an id or the URL', async () => {
    const { run, runJson, receiver, runSecret } = await openCommands();
    const { id, secret } = await runSecret('add', receiver.url, '--events', 'all', '--from', 'beginning');
    await run('pause', id.slice(0, 8));
    expect(await runJson('show', id)).toMatchObject({ state: 'paused', problem: 'paused: by command' });
    await run('resume', receiver.url);
    expect(await runJson('show', id)).toMatchObject({ state: 'active', problem: null, held: [] });
    const rotated = await runSecret('rotate', id, '--overlap', '1h');
    expect(rotated.secret).not.toBe(secret);
    expect(await run('replay', id, '--since', '2026')).toMatchObject({ exitCode: EXIT.ok });
    expect(await run('attempts', id)).toMatchObject({
      exitCode: EXIT.ok,
      stderr: expect.stringContaining('No attempts.'),
    });
    expect(await run('remove', id)).toMatchObject({ exitCode: EXIT.ok });
    expect(await run('show', id)).toMatchObject({ exitCode: EXIT.notFound });
  });

  test('unknown events, unusable addresses and missing keys are refused with what was expected', async () => {
    const { run, receiver, env } = await openCommands();
    const cases: readonly (readonly [string[], RegExp])[] = [
      [['add', receiver.url, '--events', 'retirement.create'], /Did you mean retirement\.created/],
      [['add', 'http://shop.example/', '--events', 'all'], /expected https/],
      [['add', 'https://10.0.0.1/', '--events', 'all'], /OUTBOUND_ALLOW=private/],
      [['add', 'https://169.254.169.254/', '--events', 'all'], /is not public/],
      [['add', 'https://u:p@shop.example/', '--events', 'all'], /without user and password/],
      [['add', receiver.url, '--events', 'all', '--from', '999999'], /the newest change has the number/],
      [['add', receiver.url, '--events', 'all', '--from', 'yesterday'], /expected a whole number/],
      [['show', 'sub_none'], /There is no subscription/],
    ];
    for (const [argv, message] of cases) {
      const { exitCode, stderr } = await run(...argv);
      expect([exitCode === EXIT.ok, stderr.replaceAll('\n', ' ')]).toEqual([
        false,
        expect.stringMatching(message),
      ]);
    }
    const bare = await runCommand(['subscriptions', 'add', receiver.url, '--events', 'all'], {
      env: { ...env, EVENTS_KEY_FILE: '' },
    });
    expect(bare).toMatchObject({
      exitCode: EXIT.usage,
      stderr: expect.stringContaining('EVENTS_KEY_FILE is not set'),
    });
  });

  test('a missing key is noticed by doctor and not created again while there is a subscription', async () => {
    const { mirror, receiver, env, runSecret } = await openCommands();
    await runSecret('add', receiver.url, '--events', 'all');
    const missing = join(temporaryFolder(), 'missing.key');
    const runWithoutKey = (...argv: string[]) =>
      runCommand(argv, { env: { ...env, EVENTS_KEY_FILE: missing }, now: () => mirror.clock.at });
    const added = await runWithoutKey('subscriptions', 'add', receiver.url, '--events', 'all');
    expect(added).toMatchObject({ exitCode: EXIT.usage, stderr: expect.stringContaining(missing) });
    expect(existsSync(missing)).toBe(false);
    const { stdout } = await runWithoutKey('doctor', '--json');
    expect(stdout).toContain(`the file ${missing} of EVENTS_KEY_FILE does not exist`);
  });

  test('another key is refused by commands, noticed by doctor and never used to sign', async () => {
    const { mirror, run, receiver, keyFile, env, runSecret } = await openCommands();
    const { id } = await runSecret('add', receiver.url, '--events', 'all', '--from', 'beginning');
    const other = join(temporaryFolder(), 'other.key');
    createEventsKey(other, () => Buffer.alloc(32, 9));
    writeFileSync(keyFile, readFileSync(other));
    expect(await run('test', id)).toMatchObject({
      exitCode: EXIT.usage,
      stderr: expect.stringContaining('is not the key of the subscription'),
    });
    const doctor = await runCommand(['doctor', '--json'], { env, now: () => mirror.clock.at });
    expect(doctor.stdout).toContain(`EVENTS_KEY_FILE is not the key of the subscription ${id}`);
    const { context, errors } = await openEvents(mirror);
    const sender = createSender({ ...context, key: readEventsKey(keyFile) });
    await sender.poll();
    await sender.drain();
    expect(receiver.received).toEqual([]);
    expect(errors).toEqual([{ subscription: id }]);
  });

  test('doctor reports a subscription that is paused', async () => {
    const { mirror, receiver, env, runSecret } = await openCommands();
    const { id } = await runSecret('add', receiver.url, '--events', 'all');
    const doctor = () => runCommand(['doctor', '--json'], { env, now: () => mirror.clock.at });
    expect((await doctor()).stdout).toContain('1 subscription, all delivered or on time');
    const { port } = await openEvents(mirror);
    await port.pause(id, 'no event was delivered since yesterday');
    expect((await doctor()).stdout).toContain('paused: no event was delivered since yesterday');
  });

  test('doctor reports changes that no worker sends, until one has sent them', async () => {
    const { mirror, receiver, keyFile, env, runSecret } = await openCommands();
    await runSecret('add', receiver.url, '--events', 'all', '--from', 'beginning');
    mirror.clock.at += 6 * 60_000;
    const doctor = () => runCommand(['doctor', '--json'], { env, now: () => mirror.clock.at });
    expect((await doctor()).stdout).toContain('changes have waited for more than 5 minutes');
    const { context } = await openEvents(mirror);
    const sender = createSender({ ...context, key: readEventsKey(keyFile) });
    await sender.poll();
    await sender.drain();
    expect((await doctor()).stdout).toContain('1 subscription, all delivered or on time');
  });

  test('T105 no command, file or backup contains the secret or the key', async () => {
    const { mirror, run, receiver, keyFile, env, runSecret } = await openCommands();
    const { id, secret } = await runSecret('add', receiver.url, '--events', 'all', '--from', 'beginning');
    const key = readEventsKey(keyFile);
    const bytes = Buffer.from(secret.slice('whsec_'.length), 'base64');
    const forms = [key, bytes].flatMap(each => [
      each.toString('base64').slice(0, 40),
      each.toString('base64url').slice(0, 40),
      each.toString('hex'),
      each.toString('latin1'),
    ]);
    const outputs = [
      await run('list', '--json'),
      await run('show', id, '--json'),
      await run('attempts', id, '--json'),
      await run('test', id, '--json'),
      await runCommand(['doctor', '--json'], { env }),
    ].map(({ stdout, stderr }) => stdout + stderr);
    const backup = join(temporaryFolder(), 'backup');
    if ('MIRROR_DATABASE_URL' in mirror.env) expect(existsSync(backup)).toBe(false);
    else {
      expect(await runCommand(['backup', backup], { env })).toMatchObject({ exitCode: EXIT.ok });
      expect(readdirSync(backup)).toContain('events.db');
      for (const folder of [backup, mirror.folder])
        for (const name of readdirSync(folder).filter(each => each.includes('.db')))
          outputs.push(readFileSync(join(folder, name), 'latin1'));
    }
    for (const output of outputs) for (const form of forms) expect(output.includes(form)).toBe(false);
  });
});
