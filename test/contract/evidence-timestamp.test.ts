import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createTimestampPost } from '../../src/app/timestamp-authority.js';
import { findSealingRefusal, findOverduePublication } from '../../src/evidence/sealing-checks.js';
import { createCheckpointWriter } from '../../src/evidence/key-file.js';
import { publishCheckpoint } from '../../src/evidence/publish-checkpoint.js';
import { EXIT } from '../../src/cli/exit.js';
import { runCommand } from '../support/command.js';
import { temporaryFolder } from '../support/inbox.js';
import { ENGINES, MINUTE } from '../support/mirror/open.js';
import { retirements } from '../support/mirror/rows.js';
import { ALL, openSealedMirror } from '../support/sealed-mirror.js';
import { startTimestampAuthority } from '../support/timestamp-authority.js';

const DAY = 24 * 60 * MINUTE;

/** In the hex of an answer, the tags of the content after its type, each with a tag that does not belong there. */
const OTHER_TAGS = [
  [/(?<type>060b2a864886f70d0109100104)a0/, '$<type>a1'],
  [/(?<start>060b2a864886f70d0109100104a0(?:81..|82....|..))04/, '$<start>05'],
] as const;

describe.each(ENGINES)('$name', engine => {
  async function openPublished() {
    const log = await openSealedMirror(engine);
    const authority = await startTimestampAuthority();
    const { port, stage, round } = log;
    const post = createTimestampPost(authority.url, ['loopback']);
    const publish = () =>
      publishCheckpoint({ port, now: () => stage.clock.at, randomBytes, writeFile: null, post });
    await round();
    return { ...log, authority, publish };
  }

  test('the first checkpoint of a day gets a timestamp that OpenSSL verifies, and later ones of the day get none', async () => {
    const { authority, port, publish, stage, round, verified, forge } = await openPublished();
    await publish();
    await stage.read('retirements', retirements(4));
    await round();
    await publish();
    expect(authority.requests).toBe(1);
    const [first] = await port.listTimestamps();
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'checkpoint.txt'), (await port.findCheckpoint(first?.size ?? 0))?.note ?? '');
    writeFileSync(join(folder, 'token.tst'), first?.token ?? '');
    const argv = ['ts', '-verify', '-data', 'checkpoint.txt', '-in', 'token.tst', '-token_in'];
    const options = { cwd: folder, stdio: 'pipe', encoding: 'utf8' } as const;
    expect(execFileSync('openssl', [...argv, '-CAfile', authority.certificate], options)).toContain('OK');
    stage.clock.at += DAY;
    await publish();
    expect(await port.listTimestamps()).toHaveLength(2);
    expect((await verified()).faults).toEqual([]);
    await forge(
      'UPDATE CHECKPOINTS SET note = replace(note, ?, ?) WHERE size = ?',
      '\n2026',
      '\n2027',
      first?.size ?? 0,
    );
    expect((await verified()).faults).toContainEqual(
      expect.objectContaining({ fault: 'its timestamp is about another text' }),
    );
  });

  test('answers that are refused, late, too large, redirected or about another request are not stored', async () => {
    const { authority, port, publish } = await openPublished();
    const { answer } = authority;
    let older: Buffer = Buffer.of();
    authority.answer = (response, request) => {
      older = authority.reply(request);
      response.statusCode = 503;
      response.end(older);
    };
    await expect(publish()).rejects.toThrow('HTTP status 503');
    authority.answer = response => void response.end(older);
    await expect(publish()).rejects.toThrow('answers another request');
    authority.answer = response => void response.end(older.subarray(0, 100));
    await expect(publish()).rejects.toThrow('ends too early');
    authority.answer = response =>
      void response.end(Buffer.from('3005300302010 2'.replaceAll(' ', ''), 'hex'));
    await expect(publish()).rejects.toThrow('refused the request (status 2)');
    authority.answer = response => void response.end(Buffer.alloc(70_000));
    await expect(publish()).rejects.toThrow('longer than 65536 bytes');
    authority.answer = response => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
    await expect(publish()).rejects.toThrow('HTTP status 302');
    for (const [tag, otherTag] of OTHER_TAGS) {
      authority.answer = (response, request) => {
        const reply = authority.reply(request).toString('hex').replace(tag, otherTag);
        response.end(Buffer.from(reply, 'hex'));
      };
      await expect(publish()).rejects.toThrow('its token is not a timestamp');
    }
    const other = authority.reply(
      Buffer.from(`30390201013031300d060960864801650304020105000420${'ab'.repeat(32)}0101ff`, 'hex'),
    );
    authority.answer = response => void response.end(other);
    await expect(publish()).rejects.toThrow('about another text');
    expect(await port.listTimestamps()).toEqual([]);
    authority.answer = answer;
    await publish();
    expect(await port.listTimestamps()).toHaveLength(1);
  });

  test('random changes of an answer never end in anything but a refusal or a timestamp of the request', async () => {
    const { authority, port, publish } = await openPublished();
    for (let turn = 0; turn < 60; turn += 1) {
      authority.answer = (response, request) => {
        const reply = Buffer.from(authority.reply(request));
        reply[turn * 7] = turn * 31;
        response.end(reply);
      };
      await publish().catch((error: unknown) => expect(error).toMatchObject({ name: 'EvidenceError' }));
      if ((await port.listTimestamps()).length > 0) break;
    }
    authority.answer = (response, request) => void response.end(authority.reply(request));
    await publish();
    expect(await port.listTimestamps()).toHaveLength(1);
  });

  test('an exported folder contains the timestamp of its checkpoint', async () => {
    const { authority, env, keyFile, stage, port } = await openPublished();
    const folder = join(temporaryFolder(), 'folder');
    const settings = {
      ...env,
      REGISTRY_APP_ID: 'a',
      EVIDENCE_KEY_FILE: keyFile,
      EVIDENCE_TIMESTAMP_URL: authority.url,
      OUTBOUND_ALLOW: 'loopback',
    };
    const options = { env: settings, now: () => stage.clock.at };
    const exported = await runCommand(['evidence', 'export', 'organization-1', folder], options);
    expect(exported).toMatchObject({ exitCode: EXIT.ok });
    const size = (await port.findCheckpoint(ALL))?.size;
    expect(readdirSync(join(folder, 'timestamps'))).toEqual([`${size}.tst`]);
    const checked = await runCommand(['verify', '--evidence', folder], options);
    expect(checked.stdout + checked.stderr).toContain('timestamps/');
  });

  test('T96 doctor is told of checkpoints that nobody has for 40 days, and of an authority that does not answer', async () => {
    const { port, publish, stage } = await openPublished();
    const none = { isPublished: false, hasTimestampAuthority: false };
    const find = (overrides: Partial<typeof none> = {}) =>
      findOverduePublication(port, stage.clock.at, { ...none, ...overrides });
    stage.clock.at += 39 * DAY;
    expect(await find()).toBeNull();
    stage.clock.at += 2 * DAY;
    expect(await find()).toMatch(/^no checkpoint was printed, published or timestamped since 2026-/);
    expect(await find({ isPublished: true })).toBeNull();
    expect(await find({ hasTimestampAuthority: true })).toMatch(/is missing: the authority/);
    await publish();
    expect(await find({ hasTimestampAuthority: true })).toBeNull();
    stage.clock.at += 3 * DAY;
    expect(await find({ hasTimestampAuthority: true })).toMatch(/is of 2026-.*did not answer/);
    expect(await find()).toBeNull();
  });

  test('printing a checkpoint counts as handing it over', async () => {
    const { env, port, stage } = await openPublished();
    const options = { env: { ...env, REGISTRY_APP_ID: 'a' }, now: () => stage.clock.at };
    expect(await runCommand(['evidence', 'checkpoint'], options)).toMatchObject({ exitCode: EXIT.ok });
    expect(await port.findNewestAttestation('printed')).toMatchObject({
      size: (await port.readProgress()).size,
    });
  });

  test('T96 doctor is told of deleted checkpoints, foreign leaves and another key', async () => {
    const { port, lastSigned, sealer, stage, round, forge } = await openPublished();
    const sealing = { port, lastSigned, key: sealer.key };
    expect(await findSealingRefusal(sealing)).toBeNull();
    const { size } = await port.readProgress();
    await stage.read('retirements', retirements(4));
    await round();
    await forge('DELETE FROM CHECKPOINTS WHERE size = ?', size);
    expect(await findSealingRefusal(sealing)).toBe(`the checkpoint of ${size} leaves was deleted`);
    await forge("UPDATE LEAVES SET subject = 'x' WHERE place = ?", (await port.readProgress()).size - 1);
    expect(await findSealingRefusal(sealing)).toMatch(/is not as this program wrote it/);
  });

  test('the published file always has the newest checkpoint, and no other file stays', async () => {
    const { port, stage, round } = await openPublished();
    const folder = temporaryFolder();
    const file = join(folder, 'checkpoint');
    const writeFile = createCheckpointWriter(file);
    const publish = () =>
      publishCheckpoint({ port, now: () => stage.clock.at, randomBytes, writeFile, post: null });
    await publish();
    await stage.read('retirements', retirements(4));
    await round();
    await publish();
    expect(readFileSync(file, 'utf8')).toBe((await port.findCheckpoint(ALL))?.note);
    rmSync(file);
    await publish();
    expect(readdirSync(folder)).toEqual(['checkpoint']);
  });
});
