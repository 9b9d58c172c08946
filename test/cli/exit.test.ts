import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CommandError } from '../../src/cli/command-error.js';
import { explainError } from '../../src/cli/errors/explain-error.js';
import { findRequiredPermission } from '../../src/cli/errors/registry-advice.js';
import { runCommand } from '../support/command.js';
import { temporaryFolder } from '../support/inbox.js';
import { REGISTRY_ERROR_CODES, RegistryError } from '../../src/registry/errors.js';

test('every error of the client has an exit code and no stack trace', () => {
  const codes = REGISTRY_ERROR_CODES.map(code => {
    const { exitCode, lines } = explainError(new RegistryError(code, 'GET /projects answered 500'));
    expect(lines.join('\n')).not.toMatch(/\n\s+at /);
    return [code, exitCode];
  });
  expect(Object.fromEntries(codes)).toEqual({
    bad_request: 2,
    unauthorized: 4,
    forbidden: 4,
    not_found: 6,
    installation_gone: 4,
    conflict: 3,
    invalid: 2,
    rate_limited: 5,
    unavailable: 5,
    timeout: 5,
    bad_answer: 5,
    other_form: 5,
    too_large: 5,
    outcome_unknown: 3,
    cancelled: 130,
  });
});

test('an unexpected error is shown with its stack, exit code 1', () => {
  expect(explainError(new TypeError('odd'))).toMatchObject({
    exitCode: 1,
    lines: expect.arrayContaining(['TypeError: odd', expect.stringMatching(/^\s+at /)]),
  });
  expect(explainError('odd')).toEqual({ exitCode: 1, lines: ['odd'] });
  expect(explainError(new CommandError(3, 'No.', 'Try this.'))).toEqual({
    exitCode: 3,
    lines: ['No.', 'Try this.'],
  });
});

test('an unusable folder or address is explained in a sentence, exit code 2', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'file');
  writeFileSync(file, '');
  const cases: readonly (readonly [Record<string, string>, string])[] = [
    [{ DATA_DIR: join(file, 'data') }, 'part of its path is not a folder'],
    [{ DATA_DIR: folder, HOST: '203.0.113.9' }, '"203.0.113.9" is not an address of this machine'],
    [
      { DATA_DIR: folder, OPERATIONS_HOST: '203.0.113.9', OPERATIONS_PORT: '1' },
      '"203.0.113.9" is not an address',
    ],
  ];
  for (const [settings, expectedOutput] of cases) {
    const env = {
      REGISTRY_APP_ID: 'app',
      WEBHOOK_SECRETS: 'correct horse battery',
      PORT: '0',
      OPERATIONS_PORT: '0',
      LOG_LEVEL: 'silent',
      ...settings,
    };
    const { exitCode, stderr } = await runCommand(['receive'], { env });
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining(expectedOutput) });
    expect(stderr).not.toMatch(/\n\s+at /);
  }
});

const MAIN = join(import.meta.dirname, '../../dist/main.js');
const WITHOUT_FOLDERS = '/proc/carbon-mirror/data';

/** Runs in a process of its own, which can be killed if it hangs: creating a folder is synchronous. */
test.skipIf(process.platform !== 'linux')(
  'a data folder that cannot be created ends each command at once with a sentence, exit code 2',
  () => {
    const commandLines = [
      ['migrate'],
      ['up', '--demo'],
      ['sandbox', 'start', '--port', '0', '--folder', WITHOUT_FOLDERS],
    ];
    for (const argv of commandLines) {
      const { status, stderr } = spawnSync(process.execPath, [MAIN, ...argv], {
        env: { DATA_DIR: WITHOUT_FOLDERS },
        encoding: 'utf8',
        timeout: 60_000,
        killSignal: 'SIGKILL',
      });
      expect({ status, stderr }).toEqual({
        status: 2,
        stderr: expect.stringMatching(/^"\/proc\/carbon-mirror.*its folder cannot be created/),
      });
      expect(stderr).not.toMatch(/\n\s+at /);
    }
  },
);

test('T69 errors and findings never show a secret, even if it is in the wrong setting', async () => {
  const pasted = 'q7ZrK2w9Lx1Vd5Tb';
  const good = {
    REGISTRY_BASE_URL: 'http://127.0.0.1:9',
    REGISTRY_APP_ID: 'app',
    WEBHOOK_SECRETS: 'correct horse battery,another-one-of-them',
    DATA_DIR: temporaryFolder(),
    PORT: '0',
    OPERATIONS_PORT: '0',
    LOG_LEVEL: 'silent',
  };
  const cases: readonly (readonly [readonly string[], Record<string, string>, string])[] = [
    [['receive'], { HOST: pasted }, '"[HOST]" is not an address of this machine'],
    [['receive'], { OPERATIONS_HOST: pasted, OPERATIONS_PORT: '1' }, '"[OPERATIONS_HOST]" is not an address'],
    [['status'], { DATA_DIR: pasted }, 'There is no mirror in [DATA_DIR]: '],
    [
      ['status'],
      { DATA_DIR: 'mirrors/of-the-marketplace' },
      'There is no mirror in mirrors/of-the-marketplace: ',
    ],
    [['receive'], { HOST: 'receiver.internal.example' }, '"receiver.internal.example" is not an address of'],
    [
      ['sandbox', 'call', 'GET', '/status'],
      { REGISTRY_BASE_URL: '', SANDBOX_PORT: pasted },
      '[SANDBOX_PORT]',
    ],
    [['doctor'], { PORT: pasted }, 'nothing answers at http://127.0.0.1:[PORT]/webhooks'],
    [['doctor'], { HOST: pasted, PORT: '9' }, 'nothing answers at http://[HOST]:9/webhooks'],
    [['doctor'], { REGISTRY_APP_ID: `${pasted}!` }, 'REGISTRY_APP_ID: got a hidden text of 17 characters'],
    [['schema', 'correct horse battery'], {}, '[masked]'],
    [['schema', 'another-one-of-them'], {}, '[masked]'],
  ];
  for (const [argv, settings, expectedOutput] of cases) {
    const { exitCode, stdout, stderr } = await runCommand(argv, { env: { ...good, ...settings } });
    expect(stdout + stderr, argv.join(' ')).toContain(expectedOutput);
    expect(stdout + stderr).not.toContain(pasted);
    expect(stdout + stderr).not.toMatch(/horse|another-one/);
    expect(exitCode).not.toBe(0);
  }
});

test('an error still names folders and addresses that are not secret', async () => {
  const folder = join(temporaryFolder(), 'a-folder-of-a-long-name');
  const env = { DATA_DIR: folder, REGISTRY_BASE_URL: 'https://registry.example/some/longer/path' };
  expect((await runCommand(['status'], { env })).stderr).toContain(`There is no mirror in ${folder}`);
});

test('a forbidden call names the permission that it requires, as the registry spells it', () => {
  const route = '/organizations/:organizationId';
  const known: readonly (readonly [string, string | null])[] = [
    [`GET ${route}`, 'organization_info:read'],
    [`GET ${route}/addresses`, 'organization_info:read'],
    [`GET ${route}/retirements`, 'organization_info:read'],
    [`GET ${route}/retirements/:retirementId/pdf`, 'organization_info:read'],
    [`GET ${route}/members`, 'organization_members:read'],
    [`GET ${route}/warehouse/inventory`, 'organization_warehouse:read'],
    [`GET ${route}/warehouse/inventory/reservations/x`, 'organization_warehouse:read'],
    [`POST ${route}/warehouse/inventory/reservations`, 'organization_warehouse:write'],
    [`POST ${route}/warehouse/inventory/reservations/x/retire`, 'organization_warehouse:write'],
    [`DELETE ${route}/warehouse/inventory/reservations/x`, 'organization_warehouse:write'],
    [`GET ${route}/inventory`, 'organization_inventory:read'],
    [`GET ${route}/inventory/requests/x`, 'organization_inventory:read'],
    [`POST ${route}/inventory/requests/transfer`, 'organization_inventory:read_request'],
    ['GET /projects', null],
    [`GET ${route}/friendbot`, null],
  ];
  for (const [call, permission] of known) expect(findRequiredPermission(call), call).toBe(permission);
  const call = `GET ${route}/members`;
  expect(explainError(new RegistryError('forbidden', `${call} answered 403: No`, { call })).lines).toEqual([
    `The registry: GET ${route}/members answered 403: No`,
    'It requires the permission organization_members:read. "carbon-mirror doctor" shows what was not granted.',
  ]);
});

test('advice depends on the error code and the call, never on text from the registry', () => {
  const message = 'GET /organizations/1/members answered 403: GET /organizations/1/inventory';
  for (const call of [undefined, 'GET /projects']) {
    const error = new RegistryError('forbidden', message, call === undefined ? {} : { call });
    expect(explainError(error).lines).toEqual([`The registry: ${message}`]);
  }
});

test('T45 an unknown outcome shows the objects that the write may have created', () => {
  const candidates = [{ document: '{"id":"r-1"}' }, { installation: { document: '{"id":"i-1"}' } }, null];
  const error = new RegistryError('outcome_unknown', 'its answer was lost', { candidates });
  expect(explainError(error).lines).toEqual([
    'The registry: its answer was lost',
    'It may have succeeded. Check before you repeat it; this may be the result:',
    '{"id":"r-1"}',
    '{"id":"i-1"}',
  ]);
});
