import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, expectTypeOf, test } from 'vitest';
import {
  checkUpSettings,
  createChildEnvironment,
  readCallsPerSecond,
  readSettings,
  readStoreSettings,
} from '../../../src/app/config/read-settings.js';
import { listDatabaseSecrets } from '../../../src/app/config/database-settings.js';
import { SettingsError } from '../../../src/app/config/settings-error.js';
import { createValueMasker, listSecretValues } from '../../../src/app/config/secret-values.js';
import { removeMisspeltNames } from '../../../src/app/config/unknown-settings.js';
import type { Role } from '../../../src/app/config/define-setting.js';
import { createSigningKey, formatSigningKey } from '../../../src/evidence/signing-key.js';
import { type ReceiveSettings, SETTINGS, type WorkSettings } from '../../../src/app/config/settings-table.js';

const keyOf = (modulusLength: number, type: 'pkcs1' | 'pkcs8') =>
  generateKeyPairSync('rsa', { modulusLength }).privateKey.export({ type, format: 'pem' }).toString();
const PEM = keyOf(2048, 'pkcs8');
const SEED = Buffer.alloc(32);
const SIGNING = formatSigningKey(createSigningKey('mirror.example/log', SEED), SEED);
const SECRET = 'correct horse battery';
const NO_FILES = (path: string): string => {
  throw Object.assign(new Error(`no such file: ${path}`), { code: 'ENOENT' });
};
const GOOD = {
  REGISTRY_BASE_URL: 'https://api.registry.example/v1/',
  REGISTRY_APP_ID: '2b1c9f60-app',
  REGISTRY_PRIVATE_KEY: PEM,
  WEBHOOK_SECRETS: SECRET,
};

async function refusal(env: Record<string, string>, role: Role = 'work', readFile = NO_FILES) {
  const error = await readSettings({ ...GOOD, ...env }, role, readFile).then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error === null) return null;
  if (!(error instanceof SettingsError)) throw error;
  return error;
}

const wrongNames = async (env: Record<string, string>, role: Role = 'work'): Promise<string[]> =>
  ((await refusal(env, role))?.faults ?? []).map(fault => fault.name);

test('settings that are not set have the defaults of the table', async () => {
  expect(await readSettings(GOOD, 'receive', NO_FILES)).toEqual({
    dataDir: 'data',
    database: null,
    logLevel: 'info',
    operationsHost: '127.0.0.1',
    operationsPort: 8081,
    retentionDays: 90,
    diskReserveMb: null,
    headerPrefix: 'registry',
    appId: '2b1c9f60-app',
    webhookSecrets: [SECRET],
    host: '127.0.0.1',
    port: 8080,
  });
  expect(await readSettings(GOOD, 'work', NO_FILES)).toEqual({
    dataDir: 'data',
    database: null,
    logLevel: 'info',
    operationsHost: '127.0.0.1',
    operationsPort: 8082,
    retentionDays: 90,
    diskReserveMb: null,
    evidenceKeyFile: null,
    evidenceCheckpointFile: null,
    evidenceTimestampUrl: null,
    outboundAllow: [],
    eventsKeyFile: null,
    baseUrl: 'https://api.registry.example/v1',
    headerPrefix: 'registry',
    apiVersion: '2023-06-16',
    appId: '2b1c9f60-app',
    privateKey: PEM,
    requestsPerSecond: 20,
    burst: 40,
    syncSchedule: '*/15 * * * *',
    workerConcurrency: 4,
    mirrorMembers: true,
    consoleActions: false,
  });
  expect(await readSettings({}, 'sandbox', NO_FILES)).toEqual({
    dataDir: 'data',
    database: null,
    logLevel: 'info',
    sandboxPort: 8090,
  });
  expect(await readSettings({}, 'console', NO_FILES)).toEqual({
    dataDir: 'data',
    database: null,
    logLevel: 'info',
    consolePort: 8070,
    consoleNames: [],
    consoleHost: '127.0.0.1',
    consoleProxyHeader: null,
    consoleProxyFrom: null,
    consoleProxySecret: null,
    consoleActorsFile: null,
    consoleActions: false,
  });
  expect(await readSettings({}, 'api', NO_FILES)).toEqual({
    dataDir: 'data',
    database: null,
    logLevel: 'info',
    operationsHost: '127.0.0.1',
    operationsPort: 8083,
    apiHost: '127.0.0.1',
    apiPort: 8060,
    apiRequestsPerMinute: 600,
    apiCorsOrigins: [],
  });
});

test('P15 all faults in the settings are reported at once, by name, in the order of the table', async () => {
  const env = {
    REGISTRY_BASE_URL: 'ftp://registry.example',
    REGISTRY_APP_ID: '../app',
    REGISTRY_PRIVATE_KEY: '',
    REGISTRY_BURST: '20x',
    WORKER_CONCURRENCY: '0',
    LOG_LEVEL: 'loud',
    WEBHOOK_SECRET: SECRET,
  };
  const error = await refusal(env);
  expect(error?.message).toBe(
    [
      '7 settings are wrong:',
      '  REGISTRY_BASE_URL: expected an https address, or http on a loopback one, without user, query or fragment; got "ftp://registry.example"',
      `  REGISTRY_APP_ID: expected the app's id: 1 to 128 letters, digits, - and _; got "../app"`,
      `  REGISTRY_PRIVATE_KEY: expected the app's private key as PEM text; it is not set`,
      '  REGISTRY_BURST: expected a whole number from 1 to 100000; got "20x"',
      '  WORKER_CONCURRENCY: expected a whole number from 1 to 64; got "0"',
      '  LOG_LEVEL: expected one of trace, debug, info, warn, error, fatal, silent; got "loud"',
      '  WEBHOOK_SECRET: expected a known name, perhaps WEBHOOK_SECRETS; there is no such setting',
    ].join('\n'),
  );
});

describe('T03 a webhook secret', () => {
  test.each([
    ['unset', undefined],
    ['empty', ''],
    ['blank', '                    '],
    ['short', 'fifteen letters'],
    ['short behind a good one', `${SECRET},short`],
    ['empty behind a good one', `${SECRET},`],
    ['empty between good ones', `${SECRET},,${SECRET}`],
    ['long only by its blanks', `${SECRET},   short         `],
  ])('that is %s is refused', async (_case, secrets) => {
    const { WEBHOOK_SECRETS: _, ...withoutSecrets } = GOOD;
    const env = secrets === undefined ? withoutSecrets : { ...withoutSecrets, WEBHOOK_SECRETS: secrets };
    const error: unknown = await readSettings(env, 'receive', NO_FILES).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(SettingsError);
    expect(String(error)).toContain('WEBHOOK_SECRETS: expected');
    expect(String(error)).not.toContain('short  ');
    expect(String(error)).not.toContain(SECRET);
  });

  test.each([
    ['in quotes', '"9f8b1c2d3e4a5b6c7d8e"'],
    ['a placeholder', 'change-me-change-me-1'],
    ['a placeholder of a document', '<your webhook secret>'],
    ['made of a few characters', '1212121212121212121212'],
  ])('that is %s is refused with the reason and without its text', async (_case, secret) => {
    const env = { ...GOOD, WEBHOOK_SECRETS: `${SECRET},${secret}` };
    const error: unknown = await readSettings(env, 'receive', NO_FILES).catch((reason: unknown) => reason);
    expect(String(error)).toMatch(/secret number 2 of 2 is weak: it (has|is) /);
    expect(String(error)).not.toContain(secret);
  });

  test('with a comma counts as two, and the error says so', async () => {
    const env = { ...GOOD, WEBHOOK_SECRETS: `${SECRET.slice(0, 9)},${SECRET.slice(9)}` };
    const error: unknown = await readSettings(env, 'receive', NO_FILES).catch((reason: unknown) => reason);
    expect(String(error)).toMatch(
      /secret number \d of 2 has \d+; a comma separates secrets and cannot be part of one/,
    );
    expect(String(error)).not.toContain(SECRET.slice(0, 9));
  });

  test('of 16 characters is accepted, and several keep their order', async () => {
    const env = { ...GOOD, WEBHOOK_SECRETS: 'sixteen-letters!, older-and-longer-one' };
    const { webhookSecrets } = await readSettings(env, 'receive', NO_FILES);
    expect(webhookSecrets).toEqual(['sixteen-letters!', 'older-and-longer-one']);
  });
});

describe('a secret', () => {
  test('is read from the file that NAME_FILE names', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'carbon-mirror-'));
    try {
      const key = join(folder, 'key.pem');
      const secrets = join(folder, 'secrets');
      writeFileSync(key, `\uFEFF${PEM}\n`);
      writeFileSync(secrets, `${SECRET}\nanother long secret\r\n`);
      const env = {
        REGISTRY_BASE_URL: GOOD.REGISTRY_BASE_URL,
        REGISTRY_APP_ID: GOOD.REGISTRY_APP_ID,
        REGISTRY_PRIVATE_KEY_FILE: key,
        WEBHOOK_SECRETS_FILE: secrets,
      };
      await checkUpSettings(env);
      const work = await readSettings(env, 'work');
      const receive = await readSettings(env, 'receive');
      expect(work.privateKey).toBe(PEM.trimEnd());
      expect(receive.webhookSecrets).toEqual([SECRET, 'another long secret']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('in an unreadable file causes one fault, not two', async () => {
    const error = await refusal({ REGISTRY_PRIVATE_KEY: '', REGISTRY_PRIVATE_KEY_FILE: '/nowhere/key.pem' });
    expect(error?.message).toBe(
      'One setting is wrong:\n  REGISTRY_PRIVATE_KEY_FILE: expected a file that can be read; "/nowhere/key.pem" cannot be read (ENOENT)',
    );
  });

  test('that signs checkpoints is checked at the start of the worker, and by no other role', async () => {
    const env = { EVIDENCE_KEY_FILE: 'key' };
    expect(await refusal(env, 'work', () => SIGNING)).toBeNull();
    expect(await refusal(env, 'work', () => PEM)).not.toBeNull();
    expect((await refusal({ EVIDENCE_KEY_FILE: '/nowhere' }))?.message).toBe(
      'One setting is wrong:\n  EVIDENCE_KEY_FILE: expected a file that "carbon-mirror evidence init" made; "/nowhere" cannot be read (ENOENT)',
    );
    expect(await wrongNames({ EVIDENCE_KEY_FILE: '/nowhere' }, 'receive')).toEqual([]);
  });

  test('must not be given both as text and as a file', async () => {
    expect(await wrongNames({ REGISTRY_PRIVATE_KEY_FILE: 'key.pem' })).toEqual(['REGISTRY_PRIVATE_KEY']);
    expect(await wrongNames({ WEBHOOK_SECRETS_FILE: 'secrets' }, 'receive')).toEqual(['WEBHOOK_SECRETS']);
  });

  test('T69 is not shown in an error, whatever setting it was put into', async () => {
    const misplaced = {
      REGISTRY_PRIVATE_KEY_FILE: PEM,
      REGISTRY_BASE_URL: `https://user:${SECRET}@registry.example`,
      REGISTRY_APP_ID: 'crs_0123456789abcdef',
      LOG_LEVEL: `secret=${SECRET}`,
    };
    const message = String(await refusal({ ...misplaced, REGISTRY_PRIVATE_KEY: '' }));
    for (const text of ['BEGIN', SECRET, 'crs_']) expect(message).not.toContain(text);
    expect(message).toContain('REGISTRY_PRIVATE_KEY_FILE');
    expect(String(await refusal({ REGISTRY_PRIVATE_KEY: 'no pem but secret' }))).not.toContain('secret');
  });

  test.each(SETTINGS.map(({ name }) => name).filter(name => !name.endsWith('_FILE')))(
    'T69 of 16 characters or more is not shown in an error about %s',
    async name => {
      const pasted = 'q7Zr/K2w+9Lx1=Vd5@Tb';
      const faults = await Promise.all(
        (['receive', 'work', 'sandbox'] as const).map(role => refusal({ [name]: pasted }, role)),
      );
      for (const fault of faults) expect(String(fault)).not.toContain(pasted);
    },
  );

  test.each([
    [
      'a URL without its user, password and query',
      'REGISTRY_BASE_URL',
      'https://ann:p/w@r.example/v1?key=k',
      '"https://***@r.example/v1?***"',
    ],
    [
      'a URL with a fragment',
      'REGISTRY_BASE_URL',
      'https://r.example/v1#fragment',
      '"https://r.example/v1?***"',
    ],
    ['a URL with an empty query', 'REGISTRY_BASE_URL', 'https://r.example/v1?', '"https://r.example/v1?***"'],
    ['a URL without a host', 'REGISTRY_BASE_URL', 'https://ann@?key=k', '"https://***@?***"'],
    ['a host', 'HOST', 'receiver_of webhooks.internal.example', '"receiver_of webhooks.internal.example"'],
    ['an id', 'REGISTRY_APP_ID', 'marketplace/mirror-app-2', '"marketplace/mirror-app-2"'],
  ])('T69 is hidden in an error, but %s is shown', async (_case, name, value, visibleText) => {
    const faults = await Promise.all(
      (['receive', 'work'] as const).map(role => refusal({ [name]: value }, role)),
    );
    expect(faults.join('\n')).toContain(`got ${visibleText}`);
  });

  test.each([
    ['secrets/registry-key.pem', '"secrets/registry-key.pem"'],
    [
      '/run/credentials/carbon-mirror@work.service/secret',
      '"/run/credentials/carbon-mirror@work.service/secret"',
    ],
    [
      '/srv/3f2504e0-4f89-11d3-9a0c-0305e82c3301/key.pem',
      '"/srv/3f2504e0-4f89-11d3-9a0c-0305e82c3301/key.pem"',
    ],
    ['9f8b1c2d3e4a5b6c7d8e9f8b1c2d3e4a', 'a hidden text of 32 characters'],
    ['/9j4AAQSkZJRgABAQ7d8e9f8b1c2d3e4a', 'a hidden text of 33 characters'],
    ['q7Zr/K2w9/Lx1V/d5Tb', 'a hidden text of 19 characters'],
    ['crs_token', 'a hidden text of 9 characters'],
    ['https://ann:p@r.example?a@b', 'a hidden text of 27 characters'],
    ['https://r.example:password', 'a hidden text of 26 characters'],
  ])('T69 is hidden if given as a path, and paths are shown: %s', async (value, visibleText) => {
    const error = await refusal({ REGISTRY_PRIVATE_KEY: '', REGISTRY_PRIVATE_KEY_FILE: value });
    expect(error?.message).toContain(
      `expected a file that can be read; ${visibleText} cannot be read (ENOENT)`,
    );
  });

  test('T69 is not shown if it stands in the name of a setting', async () => {
    for (const name of [`REGISTRY_${SECRET}`, 'WEBHOOK_SECRETS: q7ZrK2w9Lx', 'REGISTRY_Q7ZRK2W9LX1VD5TB']) {
      const error = String(await refusal({ [name]: 'x' }));
      expect(error).toContain('characters: expected a known name, perhaps');
      expect(error).not.toContain(name.slice(9));
    }
  });

  test('T69 that is a key too short to sign is refused without its text', async () => {
    const error = await refusal({ REGISTRY_PRIVATE_KEY: keyOf(1024, 'pkcs8') });
    expect(error?.message).toMatch(
      /REGISTRY_PRIVATE_KEY: expected an RSA .* 1024 bits.*; its text is not shown$/,
    );
  });

  test.each(['pkcs1', 'pkcs8'] as const)(
    'that is a %s key may have line breaks written as \\n',
    async type => {
      const text = keyOf(2048, type).replaceAll('\n', '\\n');
      expect(await refusal({ REGISTRY_PRIVATE_KEY: text })).toBeNull();
    },
  );

  test('from a file is reported under the name of the _FILE setting', async () => {
    const env = { REGISTRY_PRIVATE_KEY: '', REGISTRY_PRIVATE_KEY_FILE: 'key.pem' };
    const error = await refusal(env, 'work', () => 'no key');
    expect(error?.faults).toMatchObject([
      { name: 'REGISTRY_PRIVATE_KEY_FILE', problem: 'its text is not shown' },
    ]);
  });

  test('of another role is neither read nor kept', async () => {
    const other = { REGISTRY_PRIVATE_KEY: 'nonsense', REGISTRY_PRIVATE_KEY_FILE: '/nowhere/key.pem' };
    const receive = await readSettings({ ...GOOD, ...other }, 'receive', NO_FILES);
    const work = await readSettings({ ...GOOD, WEBHOOK_SECRETS: 'short' }, 'work', NO_FILES);
    expect(JSON.stringify(receive)).not.toContain('nonsense');
    expect(JSON.stringify(work)).not.toContain('short');
    expectTypeOf<ReceiveSettings>().not.toHaveProperty('privateKey');
    expectTypeOf<WorkSettings>().not.toHaveProperty('webhookSecrets');
  });
});

describe('MIRROR_DATABASE_URL', () => {
  const URL_TEXT = 'postgres://mirror:a-long-password@db.example.org:5433/mirror?sslmode=verify-full';
  const ASKED_BY = 'postgres://questions:another-password@db.example.org:5433/mirror';
  const DATABASE = { url: URL_TEXT, queryUrl: null, pool: null };

  test('is read for every role, from the setting or from a file, and does not change DATA_DIR', async () => {
    const env = { ...GOOD, MIRROR_DATABASE_URL: URL_TEXT, MIRROR_DATABASE_POOL: '8' };
    for (const role of ['receive', 'work', 'live'] as const) {
      const { database, dataDir } = await readSettings(env, role, NO_FILES);
      expect({ database, dataDir }).toEqual({ database: { ...DATABASE, pool: 8 }, dataDir: 'data' });
    }
    const files = () => `${URL_TEXT}\n`;
    const settings = { ...GOOD, MIRROR_DATABASE_URL_FILE: '/run/secrets/url' };
    expect((await readSettings(settings, 'work', files)).database).toEqual(DATABASE);
  });

  test('T88 may be accompanied by QUERY_DATABASE_URL, from the setting or from a file', async () => {
    const expected = { ...DATABASE, queryUrl: ASKED_BY };
    const settings = { ...GOOD, MIRROR_DATABASE_URL: URL_TEXT, QUERY_DATABASE_URL: ASKED_BY };
    expect((await readSettings(settings, 'console', NO_FILES)).database).toEqual(expected);
    expect((await readSettings(settings, 'work', NO_FILES)).database).toEqual(DATABASE);
    const fileSettings = {
      ...GOOD,
      MIRROR_DATABASE_URL: URL_TEXT,
      QUERY_DATABASE_URL_FILE: '/run/secrets/url',
    };
    const files = () => `${ASKED_BY}\n`;
    expect((await readSettings(fileSettings, 'console', files)).database).toEqual(expected);
    const alone = String(await refusal({ QUERY_DATABASE_URL: ASKED_BY }));
    expect(alone).toContain('QUERY_DATABASE_URL: expected MIRROR_DATABASE_URL to be set too; it is not set');
    expect(alone).not.toContain('another-password');
    expect(String(await refusal({ QUERY_DATABASE_ULR: 'x' }))).toContain('perhaps QUERY_DATABASE_URL;');
  });

  test.each([
    ['no URL', 'db.example.org'],
    ['a URL of another protocol', 'mysql://u:a-long-password@h/d'],
    ['a URL with an sslmode that libpq does not know', 'postgres://u:a-long-password@h/d?sslmode=sometimes'],
  ])('T69 that is %s is reported by name, without any part of its text', async (_what, url) => {
    for (const name of ['MIRROR_DATABASE_URL', 'QUERY_DATABASE_URL']) {
      const fault = await refusal({ MIRROR_DATABASE_URL: URL_TEXT, [name]: url });
      expect(fault?.faults.map(each => each.name)).toEqual([name]);
      expect(String(fault)).not.toContain('a-long-password');
      if (url.startsWith('mysql:')) expect(String(fault)).toContain('got "mysql://***@h/d"');
    }
  });

  test.each(['disable', 'prefer', 'require', 'verify-ca', 'verify-full'])(
    'may have the sslmode %s',
    async mode => {
      expect(
        await refusal({ MIRROR_DATABASE_URL: `postgres://u:a-long-password@h/d?sslmode=${mode}` }),
      ).toBeNull();
    },
  );

  test('must not be given twice, and needs a readable file and a pool size from 2 to 100', async () => {
    const settings = { MIRROR_DATABASE_URL: URL_TEXT, MIRROR_DATABASE_URL_FILE: '/url' };
    expect(await wrongNames(settings)).toEqual(['MIRROR_DATABASE_URL']);
    expect(await wrongNames({ MIRROR_DATABASE_URL_FILE: '/url' })).toEqual(['MIRROR_DATABASE_URL_FILE']);
    for (const pool of ['1', '101', 'many', '1e1']) {
      const env = { MIRROR_DATABASE_URL: URL_TEXT, MIRROR_DATABASE_POOL: pool };
      expect(await wrongNames(env)).toEqual(['MIRROR_DATABASE_POOL']);
    }
    expect(String(await refusal({ MIRROR_DATABASE_ULR: 'x' }))).toContain('perhaps MIRROR_DATABASE_URL;');
  });

  test('is never taken from DATABASE_URL, which belongs to other programs', async () => {
    const { database } = await readSettings({ ...GOOD, DATABASE_URL: URL_TEXT }, 'work', NO_FILES);
    expect(database).toBeNull();
  });

  test('allows the receiver on a dyno, because deliveries are not stored on its disk', async () => {
    expect(await wrongNames({ DYNO: 'web.1' }, 'receive')).toEqual(['DYNO']);
    expect(await wrongNames({ DYNO: 'web.1', MIRROR_DATABASE_URL: URL_TEXT }, 'receive')).toEqual([]);
  });

  test('and its password are listed as secrets', () => {
    expect(listDatabaseSecrets({ ...DATABASE, queryUrl: ASKED_BY })).toEqual(
      expect.arrayContaining([URL_TEXT, 'a-long-password', ASKED_BY, 'another-password']),
    );
    expect(listDatabaseSecrets(null)).toEqual([]);
  });
});

describe('a base URL', () => {
  test.each([
    ['https://registry.example', 'https://registry.example'],
    ['HTTPS://Registry.Example/API/', 'https://registry.example/API'],
    ['http://127.0.0.1:8090', 'http://127.0.0.1:8090'],
    ['http://localhost:8090/', 'http://localhost:8090'],
    ['http://[::1]:8090', 'http://[::1]:8090'],
  ])('T32 %s is accepted', async (url, normal) => {
    expect((await readSettings({ ...GOOD, REGISTRY_BASE_URL: url }, 'live', NO_FILES)).baseUrl).toBe(normal);
  });

  test.each([
    'http://registry.example',
    'http://127.0.0.1.evil.example',
    'http://localhost.evil.example',
    'http://10.0.0.1',
    'https://user:word@registry.example',
    'https://registry.example/?a=b',
    'https://registry.example/#a',
    'https://registry.example?',
    'registry.example',
    'file:///etc/passwd',
    'https://',
  ])('T32 %s is refused', async url => {
    expect(await wrongNames({ REGISTRY_BASE_URL: url })).toEqual(['REGISTRY_BASE_URL']);
  });
});

test.each([
  ['PORT', '65536'],
  ['PORT', '-1'],
  ['PORT', '80.5'],
  ['PORT', '0x50'],
  ['PORT', ' 80'],
  ['PORT', '1e3'],
  ['HOST', 'a b'],
  ['RETENTION_DAYS', 'ninety'],
  ['OPERATIONS_PORT', '8081;'],
  ['REGISTRY_HEADER_PREFIX', 'x y'],
])('the receiver refuses %s=%s', async (name, value) => {
  expect(await wrongNames({ [name]: value }, 'receive')).toEqual([name]);
});

test.each([
  ['REGISTRY_REQUESTS_PER_SECOND', '0'],
  ['REGISTRY_REQUESTS_PER_SECOND', 'Infinity'],
  ['REGISTRY_REQUESTS_PER_SECOND', '20x'],
  ['REGISTRY_API_VERSION', '2023 06 16'],
  ['REGISTRY_APP_ID', '..'],
  ['MIRROR_MEMBERS', 'yes'],
  ['SYNC_SCHEDULE', 'often'],
  ['SYNC_SCHEDULE', '61 * * * *'],
  ['SYNC_SCHEDULE', '* * * *'],
  ['SYNC_SCHEDULE', '0 0 30 2 *'],
  ['SYNC_SCHEDULE', '2030-01-01T00:00:00'],
])('the worker refuses %s=%s', async (name, value) => {
  expect(await wrongNames({ [name]: value })).toEqual([name]);
});

test.each(['*/15 * * * *', '0 3 * * 1-5', '*/10 * * * * *', '0 0 29 2 *', '@hourly'])(
  'the schedule %s is taken',
  async SYNC_SCHEDULE => {
    expect(await refusal({ SYNC_SCHEDULE })).toBeNull();
  },
);

test('port 0 means any free port, or no operations listener', async () => {
  const { port, operationsPort } = await readSettings(
    { ...GOOD, PORT: '0', OPERATIONS_PORT: '0' },
    'receive',
    NO_FILES,
  );
  expect([port, operationsPort]).toEqual([0, 0]);
});

test('unknown REGISTRY_ and WEBHOOK_ names and misspelt names are faults, but names of other programs are not', async () => {
  const env = { REGISTRY_OTHER: 'x', REGISTRY_BASEURL: 'x', PATH: '/bin', DATADIR: 'x', DATADOG_URL: 'x' };
  expect(await wrongNames(env)).toEqual(['REGISTRY_OTHER', 'REGISTRY_BASEURL', 'DATADIR']);
  expect(String(await refusal({ REGISTRY_BASEURL: 'x' }))).toContain('perhaps REGISTRY_BASE_URL;');
  expect(String(await refusal({ WEBHOOK_SECRET_FILE: 'x' }))).toContain('perhaps WEBHOOK_SECRETS_FILE;');
});

test('T111 the children of up get different operations ports and only their own secrets', async () => {
  const env = {
    ...GOOD,
    OPERATIONS_PORT: '9000',
    HOME: '/home',
    EVIDENCE_KEY_FILE: 'key',
    EVENTS_KEY_FILE: 'events',
  };
  expect(createChildEnvironment(env, 'receive')).toEqual({
    REGISTRY_BASE_URL: GOOD.REGISTRY_BASE_URL,
    REGISTRY_APP_ID: GOOD.REGISTRY_APP_ID,
    WEBHOOK_SECRETS: SECRET,
    OPERATIONS_PORT: '9000',
    HOME: '/home',
  });
  const work = await readSettings(createChildEnvironment(env, 'work'), 'work', () => SIGNING);
  expect(work.operationsPort).toBe(9001);
  expect(createChildEnvironment(env, 'work')).not.toHaveProperty('WEBHOOK_SECRETS');
  expect(work.evidenceKeyFile).toBe('key');
  expect(work.eventsKeyFile).toBe('events');
  expect(Object.keys(createChildEnvironment(env, 'console')).toSorted()).toEqual([
    'HOME',
    'OPERATIONS_PORT',
    'REGISTRY_APP_ID',
    'REGISTRY_BASE_URL',
  ]);
});

test('T111 the console gets neither the private key nor a webhook secret nor the signing key', () => {
  const secrets = {
    REGISTRY_PRIVATE_KEY: PEM,
    REGISTRY_PRIVATE_KEY_FILE: '/etc/key',
    WEBHOOK_SECRETS: SECRET,
    WEBHOOK_SECRETS_FILE: '/etc/secrets',
    EVIDENCE_KEY_FILE: '/etc/evidence',
  };
  const env = createChildEnvironment({ ...secrets, CONSOLE_ACTIONS: 'on', HOME: '/home' }, 'console');
  expect(env).toEqual({ CONSOLE_ACTIONS: 'on', HOME: '/home' });
});

test('T111 orders are off unless CONSOLE_ACTIONS is on, for the console and for the worker', async () => {
  expect((await readSettings(GOOD, 'work', NO_FILES)).consoleActions).toBe(false);
  expect((await readSettings({}, 'console', NO_FILES)).consoleActions).toBe(false);
  const on = { ...GOOD, CONSOLE_ACTIONS: 'on' };
  expect((await readSettings(on, 'work', NO_FILES)).consoleActions).toBe(true);
  expect((await readSettings({ CONSOLE_ACTIONS: 'on' }, 'console', NO_FILES)).consoleActions).toBe(true);
  await expect(readSettings({ CONSOLE_ACTIONS: 'yes' }, 'console', NO_FILES)).rejects.toThrow(SettingsError);
});

describe('the sign-in proxy of the console', () => {
  const PROXY = {
    CONSOLE_PROXY_HEADER: 'x-user',
    CONSOLE_PROXY_FROM: '10.1.0.7',
    CONSOLE_PROXY_SECRET: SECRET,
  };
  const NAMES = Object.keys(PROXY);
  const { CONSOLE_PROXY_SECRET: _, ...withoutSecret } = PROXY;

  test('is configured with three settings, and lets the console listen on any address', async () => {
    const env = { ...PROXY, CONSOLE_HOST: '10.1.0.8', CONSOLE_ACTORS_FILE: 'actors' };
    expect(await wrongNames(env, 'console')).toEqual([]);
  });

  test('may connect through a Unix socket', async () => {
    const env = { ...PROXY, CONSOLE_PROXY_FROM: '/run/proxy.sock' };
    const { consoleProxyFrom } = await readSettings(env, 'console', NO_FILES);
    expect(consoleProxyFrom).toEqual({ socket: '/run/proxy.sock' });
  });

  test.each([
    ['one of the three is missing', withoutSecret, ['CONSOLE_PROXY_SECRET']],
    ['only the actors are set', { CONSOLE_ACTORS_FILE: 'actors' }, NAMES],
    ['other machines can reach the console without it', { CONSOLE_HOST: '10.1.0.8' }, ['CONSOLE_HOST']],
  ])('is refused if %s', async (_case, env, names) => {
    expect(await wrongNames(env, 'console')).toEqual(names);
    expect(await wrongNames(env, 'work')).toEqual([]);
  });
});

test.each([
  ['receive', 'DISK_RESERVE_MB', '0', 'diskReserveMb', 0],
  [
    'work',
    'EVIDENCE_TIMESTAMP_URL',
    'http://tsa.example/tsr',
    'evidenceTimestampUrl',
    'http://tsa.example/tsr',
  ],
  [
    'api',
    'API_CORS_ORIGINS',
    'https://a.example,http://b.example:81',
    'apiCorsOrigins',
    ['https://a.example', 'http://b.example:81'],
  ],
] as const)('the role %s takes %s=%s', async (role, name, value, property, parsed) => {
  expect(await readSettings({ ...GOOD, [name]: value }, role, NO_FILES)).toHaveProperty(property, parsed);
});

test.each([
  ['api', 'API_CORS_ORIGINS', '*'],
  ['api', 'API_CORS_ORIGINS', 'https://a.example/shop'],
  ['api', 'API_CORS_ORIGINS', 'ftp://a.example'],
  ['work', 'EVIDENCE_TIMESTAMP_URL', 'ftp://tsa.example'],
  ['work', 'EVIDENCE_TIMESTAMP_URL', 'xhttp://tsa.example'],
  ['work', 'EVIDENCE_TIMESTAMP_URL', 'https://ann@tsa.example'],
  ['work', 'EVIDENCE_TIMESTAMP_URL', 'https://:word@tsa.example'],
] as const)('the role %s refuses %s=%s', async (role, name, value) => {
  expect(await wrongNames({ [name]: value }, role)).toEqual([name]);
});

test('commands that need only the databases read the folder, the disk reserve and the database', () => {
  expect(readStoreSettings({})).toEqual({ dataDir: 'data', diskReserveMb: null, database: null });
  const env = { DATA_DIR: '/mirror', DISK_RESERVE_MB: '500' };
  expect(readStoreSettings(env)).toEqual({ dataDir: '/mirror', diskReserveMb: 500, database: null });
  expect(readStoreSettings({ DISK_RESERVE_MB: '5x0' }).diskReserveMb).toBeNull();
  expect(readStoreSettings({ DISK_RESERVE_MB: 'x500' }).diskReserveMb).toBeNull();
  expect(() => readStoreSettings({ DATADIR: '/mirror' })).toThrow('perhaps DATA_DIR;');
});

test('the calls per second have a default if the setting is missing or wrong', async () => {
  const rateOf = async (text: string) => readCallsPerSecond({ REGISTRY_REQUESTS_PER_SECOND: text });
  expect([await rateOf('5'), await rateOf(''), await rateOf('many')]).toEqual([5, 20, 20]);
});

test('T69 every secret is listed and masked, the longest text first', () => {
  const url = 'postgres://mirror:a-long-password@db.example.org/mirror';
  const env = {
    WEBHOOK_SECRETS: `${SECRET},another-long-secret`,
    REGISTRY_PRIVATE_KEY: `another-long-secret-and-more`,
    MIRROR_DATABASE_URL: url,
    QUERY_DATABASE_URL: `${url}?role=read`,
    CONSOLE_PROXY_SECRET: 'what-the-proxy-sends',
  };
  expect(listSecretValues(env)).toEqual(
    expect.arrayContaining([...Object.values(env), SECRET, 'another-long-secret']),
  );
  const mask = createValueMasker({ ...env, WEBHOOK_SECRETS: 'another-long-secret', HOST: 'localhost' });
  expect(mask(`localhost ${env.REGISTRY_PRIVATE_KEY} ${env.QUERY_DATABASE_URL}`)).toBe(
    'localhost [REGISTRY_PRIVATE_KEY] postgres://***@db.example.org/mirror?***',
  );
});

test('misspelt names are removed with a warning, unless they begin like our own', () => {
  const env = { DATADIR: 'x', REGISTRY_BASEURL: 'x', PATH: '/bin', LOGLEVEL: '' };
  expect(removeMisspeltNames(env)).toEqual({
    env: { REGISTRY_BASEURL: 'x', PATH: '/bin', LOGLEVEL: '' },
    warnings: ['DATADIR is not a setting. Did you mean DATA_DIR?'],
  });
});

test('lists of names and of address ranges are separated by commas', async () => {
  const names = await readSettings({ CONSOLE_NAMES: 'Mirror.Example,,b' }, 'console', NO_FILES);
  expect(names.consoleNames).toEqual(['mirror.example', 'b']);
  const ranges = await readSettings({ ...GOOD, OUTBOUND_ALLOW: 'loopback,private' }, 'work', NO_FILES);
  expect(ranges.outboundAllow).toEqual(['loopback', 'private']);
  expect(await wrongNames({ OUTBOUND_ALLOW: 'lan' })).toEqual(['OUTBOUND_ALLOW']);
});

test('up reports the faults of all children, each once', async () => {
  const error: unknown = await checkUpSettings({ LOG_LEVEL: 'loud' }, NO_FILES).catch(
    (reason: unknown) => reason,
  );
  const names = error instanceof SettingsError ? error.faults.map(fault => fault.name) : error;
  expect(names).toEqual([
    'REGISTRY_BASE_URL',
    'REGISTRY_APP_ID',
    'REGISTRY_PRIVATE_KEY',
    'WEBHOOK_SECRETS',
    'LOG_LEVEL',
  ]);
});

describe('.env.example', () => {
  const lines = readFileSync(join(import.meta.dirname, '../../../.env.example'), 'utf8').split('\n');
  const examples = lines.flatMap(line => {
    const [, name, value] = /^#?([A-Z_]+)=(.*)$/.exec(line) ?? [];
    return name === undefined ? [] : [{ name, value }];
  });

  test('lists every setting once, in the order of the table', () => {
    expect(examples.map(({ name }) => name)).toEqual(SETTINGS.map(({ name }) => name));
  });

  test('shows each default, and no value for settings without one except the base URL', () => {
    for (const { name, value } of examples) {
      const standard =
        SETTINGS.find(setting => setting.name === name)?.default?.split(/ receive|, or /)[0] ?? '';
      expect(`${name}=${value}`).toBe(
        name === 'REGISTRY_BASE_URL' ? `${name}=https://api.registry.example` : `${name}=${standard}`,
      );
    }
  });

  test('sets nothing if it is used unchanged', () => {
    expect(lines.filter(line => line !== '' && !line.startsWith('#'))).toEqual([]);
  });
});
