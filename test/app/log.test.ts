import { spawnSync } from 'node:child_process';
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createLearningMask, createMask } from '../../src/text/mask.js';
import { createLog, type LogOptions } from '../../src/app/log.js';

const SECRET = 'canary/secret+with "quotes" & ümläuts';
const PEM = generateKeyPairSync('rsa', { modulusLength: 2048 })
  .privateKey.export({ type: 'pkcs1', format: 'pem' })
  .toString();
const TOKEN = `crs_${'0123456789abcdef'.repeat(3)}`;
const JWT = `${btoa('{"alg":"RS256"}')}.${btoa('{"iss":"app"}')}.c2lnbmF0dXJl`;

async function record(use: (log: ReturnType<typeof createLog>) => void, more: Partial<LogOptions> = {}) {
  const lines: string[] = [];
  const sink = { write: (line: string) => lines.push(line) };
  const mask = createMask([SECRET, PEM]);
  use(createLog({ level: 'info', mask, now: () => 0, pretty: false, sink, ...more }));
  return lines;
}

test('an event is one line of JSON with its level as a word and its time in UTC', async () => {
  const lines = await record(
    log => log.info({ delivery: 7, installation: 'abc' }, 'delivery stored\nand more'),
    { fields: { role: 'receive' } },
  );
  expect(lines).toEqual([
    '{"level":"info","time":"1970-01-01T00:00:00.000Z","role":"receive","delivery":7,"installation":"abc","msg":"delivery stored\\nand more"}\n',
  ]);
});

test('T17 a process keeps running when its log cannot be written', () => {
  const log = fileURLToPath(new URL('../../dist/src/app/log.js', import.meta.url));
  const program = `import { createLog } from ${JSON.stringify(log)};
    const log = createLog({ level: 'info', mask: { line: text => text }, now: () => 0, pretty: false });
    for (let n = 0; n < 3; n += 1) log.info('not written');
    process.exitCode = 7;`;
  const full = openSync('/dev/full', 'w');
  onTestFinished(() => closeSync(full));
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 7, stderr: '' });
});

test('T69 the header of a JWT is not treated as a secret, but its signature is', () => {
  const [header, signature] = [btoa('{"alg":"RS256","typ":"JWT"}'), 's'.repeat(64)];
  const jwt = `${header}.${btoa('{"iss":"the id of an app, and more"}')}.${signature}`;
  const mask = createLearningMask([]);
  expect(mask.isSecretIn(jwt, Buffer.from(`{"fullName":"${header}"}`))).toBe(false);
  for (const secret of [jwt, signature])
    expect(mask.isSecretIn(jwt, Buffer.from(`{"fullName":"${secret}"}`))).toBe(true);
});

test('secrets that come into use are masked, the newest 64 of them', () => {
  const secrets = Array.from({ length: 65 }, (_, index) => `opaque secret ${index} of many`);
  const mask = createLearningMask(['an initial secret']);
  for (const secret of secrets) mask.addSecret(secret);
  for (const secret of secrets.slice(1)) mask.addSecret(secret);
  const masked = ['an initial secret', ...secrets].map(mask.text);
  expect(masked).toEqual(['[masked]', secrets[0], ...secrets.slice(1).map(() => '[masked]')]);
});

test('lines below the level are not written', async () => {
  expect(await record(log => log.debug('quiet'))).toEqual([]);
  expect(await record(log => log.debug('loud'), { level: 'debug' })).toHaveLength(1);
  expect(await record(log => log.fatal('quiet'), { level: 'silent' })).toEqual([]);
});

test('an error is written with its stack and its causes', async () => {
  const cause = new Error('the disk is full');
  const [line = ''] = await record(log => log.error({ err: new Error('not stored', { cause }) }, 'failed'));
  const { err } = JSON.parse(line);
  expect(err.message).toBe('not stored: the disk is full');
  expect(err.stack).toContain('caused by: Error: the disk is full');
});

describe('T69', () => {
  const bytes = Buffer.from(SECRET);
  const pemLine = PEM.split('\n')[5] ?? '';
  const forms: Record<string, string> = {
    plain: SECRET,
    base64: bytes.toString('base64'),
    'base64 behind one byte': Buffer.from(`:${SECRET}`).toString('base64'),
    'base64 behind two bytes': Buffer.from(`a:${SECRET}!`).toString('base64'),
    base64url: bytes.toString('base64url'),
    hex: bytes.toString('hex'),
    'part of a URL': `https://registry.example/?q=${encodeURIComponent(SECRET)}`,
    'part of a form': new URLSearchParams({ q: SECRET }).toString(),
    JSON: JSON.stringify({ deep: SECRET }),
    'a key': PEM,
    'a key with written-out line ends': PEM.replaceAll('\n', '\\n'),
    'a line of a key': `found ${pemLine} in it`,
    'a key cut short': PEM.slice(0, 200),
    'a token': `used ${TOKEN} twice`,
    'a user token': TOKEN.replace('crs_', 'cru_'),
    'a token as base64': Buffer.from(TOKEN).toString('base64'),
    'a token as base64 behind one byte': Buffer.from(`:${TOKEN}`).toString('base64'),
    'a token as base64 behind two bytes': Buffer.from(`a:${TOKEN}`).toString('base64url'),
    'a token as hex': Buffer.from(TOKEN).toString('hex'),
    'a JWT as base64': Buffer.from(`Bearer: ${JWT}`).toString('base64'),
    'a JWT as hex': Buffer.from(JWT).toString('hex').toUpperCase(),
    'a key as base64': Buffer.from(PEM).toString('base64'),
    'a line of a key as base64': Buffer.from(`: ${pemLine}`).toString('base64'),
    'a line of a key as hex': Buffer.from(pemLine).toString('hex'),
    'a JWT': `Authorization: Bearer ${JWT}`,
    'a bearer of any kind': 'authorization: bearer opaque-0123456789',
    'a signature': `sha256=${createHmac('sha256', SECRET).update('x').digest('hex')}`,
  };
  /** Forbidden texts: a large part of each form. */
  const leaks = [
    'canary',
    'ümläuts',
    bytes.toString('base64').slice(3, 15),
    Buffer.from(`:${SECRET}`).toString('base64').slice(4, 16),
    Buffer.from(`a:${SECRET}`).toString('base64').slice(4, 16),
    bytes.toString('hex').slice(0, 16),
    'BEGIN',
    pemLine,
    TOKEN.slice(4),
    Buffer.from(TOKEN).toString('base64').slice(0, 16),
    Buffer.from(TOKEN).toString('base64').slice(20, 36),
    Buffer.from(`:${TOKEN}`).toString('base64').slice(20, 36),
    Buffer.from(`a:${TOKEN}`).toString('base64url').slice(20, 36),
    Buffer.from(TOKEN).toString('hex').slice(20, 40),
    Buffer.from(`Bearer: ${JWT}`).toString('base64').slice(40, 56),
    Buffer.from(JWT).toString('hex').toUpperCase().slice(20, 40),
    Buffer.from(PEM).toString('base64').slice(400, 440),
    Buffer.from(`: ${pemLine}`).toString('base64').slice(20, 36),
    Buffer.from(pemLine).toString('hex').slice(20, 40),
    JWT.split('.')[1] ?? '',
    'c2lnbmF0dXJl',
    'opaque-0123456789',
    createHmac('sha256', SECRET).update('x').digest('hex'),
  ];
  const expectNone = (lines: readonly string[]): void => {
    expect(lines.length).toBeGreaterThan(0);
    for (const leak of leaks) expect(lines.join('')).not.toContain(leak);
    expect(lines.join('')).toContain('[masked]');
  };

  test.each(Object.entries(forms))(
    '%s is masked in messages, fields, names and errors',
    async (_name, form) => {
      const cause = new TypeError(`inner ${form}`);
      const extra = Object.assign(new Error(`outer ${form}`, { cause }), { detail: { form } });
      const lines = await record(log => {
        log.info(form);
        log.info({ field: form }, 'a field');
        log.info({ deep: { er: [{ and: [form] }] } }, 'a deep field');
        log.info({ [form]: 1 }, 'a name');
        log.error({ err: extra }, 'an error');
        log.error(extra);
        log.error({ error: new AggregateError([extra], 'several') }, 'an error of errors');
        log.child({ form }).info('a child');
        log.info({ headers: new Headers({ a: 'b' }), form }, `text ${form} and more`);
      });
      expect(lines).toHaveLength(9);
      for (const line of lines) {
        expectNone([line]);
        expect(line.endsWith('}\n')).toBe(true);
        expect(JSON.parse(line)).toBeTypeOf('object');
      }
      const plain = await record(log => log.info({ form }, form), { pretty: true });
      expectNone(plain);
    },
  );

  test.each([
    'authorization',
    'Authorization',
    'cookie',
    'token',
    'accessToken',
    'access_token',
    'secret',
    'webhookSecrets',
    'WEBHOOK_SECRETS',
    'privateKey',
    'private_key',
    'REGISTRY_PRIVATE_KEY',
    'signature',
    'x-registry-signature-256',
    'signedData',
    'password',
  ])('the value of a field named %s is masked', async name => {
    const lines = await record(log => {
      log.info({ [name]: 'canary' }, 'text');
      log.info({ request: { headers: { [name]: ['canary', 'canary'] } } }, 'a list');
      log.info({ [name]: { value: 'canary' } }, 'an object');
    });
    expect(lines).toHaveLength(3);
    expectNone(lines);
  });

  test('fields whose names only resemble those of secrets are written', async () => {
    const fields = {
      tokenId: '17',
      tokenAddress: '0xabc',
      secretIndex: 1,
      token: true,
      sha256: 'ab'.repeat(32),
      creditId: 'exPost-2-0xabc',
      dedupe_key: 'tick:1',
    };
    const [line = ''] = await record(log => log.info(fields, 'the token was renewed, its key kept'));
    expect(JSON.parse(line)).toMatchObject({ ...fields, msg: 'the token was renewed, its key kept' });
  });

  test('a secret is masked in each of several lines', async () => {
    const lines = await record(log => {
      for (let i = 0; i < 10; i += 1) log.info({ i, text: SECRET }, 'again');
    });
    for (const line of lines) expectNone([line]);
  });

  test('a text outside the log can be masked', () => {
    const mask = createMask([SECRET]);
    expect(mask.text(`bad ${SECRET} and ${TOKEN}`)).toBe('bad [masked] and [masked]');
    expect(createMask([]).text(`only ${TOKEN}`)).toBe('only [masked]');
    expect(createMask(['', 'is7long']).text('this is7long')).toBe('this is7long');
    expect(mask.text(JSON.stringify([SECRET]))).toBe('["[masked]"]');
    expect(createMask(['is8 long']).text('this is8 long')).toBe('this [masked]');
  });
});

test('on a terminal a line is readable text whose control characters are replaced', async () => {
  const lines = await record(log => log.warn({ organization: '\u001b[2Jevil\u009b1m' }, 'a \u001b]0;title'), {
    pretty: true,
    inColour: true,
  });
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d\.000 /);
  expect(lines[0]?.slice(13)).toBe(
    '\u001b[33mWARN\u001b[0m a ?]0;title {"organization":"\\u001b[2Jevil?1m"}\n',
  );
  for (const control of ['\u001b[2J', '\u001b]', '\u009b']) expect(lines[0]).not.toContain(control);
});

test('on a terminal a message stays on one line, and an error keeps its stack', async () => {
  const lines = await record(
    log => {
      log.info('one\nINFO two\u2028three');
      log.error({ err: new Error('not stored') }, 'failed');
    },
    { pretty: true },
  );
  expect(lines.map(line => line.split('\n').length)).toEqual([2, 2]);
  expect(lines[0]).toContain('one?INFO two?three');
  expect(lines[1]).toMatch(/ERROR.* failed .*not stored.*log\.test/);
});

test('on a terminal a line without a time is written', async () => {
  const mask = { line: () => '{"level":"error","msg":"not masked"}\n' };
  expect(await record(log => log.info('x'), { pretty: true, mask })).toEqual([' ERROR not masked\n']);
});

test('values that JSON cannot represent do not stop the log', async () => {
  const ring: Record<string, unknown> = { name: 'ring' };
  ring['self'] = ring;
  const lines = await record(log => {
    log.info({ ring }, 'a ring');
    log.info({ big: 10n }, 'a bigint');
    log.info({ bad: '\ud800' }, `a lone surrogate \udc00 ${TOKEN}`);
  });
  expect(lines.map(line => JSON.parse(line).msg)).toEqual([
    'a ring',
    'a bigint',
    expect.stringContaining('a lone surrogate'),
  ]);
});
