import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import type { Sandbox } from '../../src/sandbox/start.js';
import { installApp, issueCredit, type TestApp, temporarySandbox } from '../support/sandbox.js';

const run = promisify(execFile);

/** A registry that takes its own version header only. */
const OTHER_WORDS = { headerPrefix: 'icr', strict: true };

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'carbon-example-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs an example as README says, with the app's key in a file. */
async function runExample(name: string, sandbox: Sandbox, app: TestApp, args: readonly string[]) {
  const keyFile = join(await temporaryFolder(), 'key.pem');
  await writeFile(keyFile, app.privateKey, { mode: 0o600 });
  const { stdout } = await run(
    process.execPath,
    [join(import.meta.dirname, '../../docs/examples', name), ...args],
    {
      env: {
        PATH: process.env['PATH'],
        REGISTRY_BASE_URL: sandbox.url,
        REGISTRY_HEADER_PREFIX: 'icr',
        REGISTRY_APP_ID: app.id,
        REGISTRY_PRIVATE_KEY_FILE: keyFile,
      },
    },
  );
  return stdout;
}

/** Who owns what, by the sandbox's own book. */
function owners(sandbox: Sandbox): readonly unknown[] {
  const { holdings, organizations } = sandbox.registry.store.tables;
  const held = holdings.rows().filter(({ amountMicro }) => amountMicro > 0);
  return held.map(({ organizationId, amountMicro }) => ({
    fullName: organizations.get(organizationId)?.fullName,
    amountMicro,
  }));
}

test('docs/examples/retire.js retires a tonne and saves its certificate', async () => {
  const sandbox = await temporarySandbox(OTHER_WORDS);
  const { app, organization } = installApp(sandbox);
  issueCredit(sandbox, organization.id, { amount: 2.5 });
  const file = join(await temporaryFolder(), 'certificate.pdf');

  const output = await runExample('retire.js', sandbox, app, [file]);

  expect(output).toContain('retired 1 t for Harbour Bakery ehf.');
  const certificate = await readFile(file);
  expect(certificate.subarray(0, 5).toString()).toBe('%PDF-');
  expect(certificate.toString('latin1').trimEnd()).toMatch(/%%EOF$/);
});

test('docs/examples/sell.js sells a tonne to an organization that it makes', async () => {
  const sandbox = await temporarySandbox(OTHER_WORDS);
  const { app, organization } = installApp(sandbox);
  const creditId = issueCredit(sandbox, organization.id, { amount: 1 });

  const output = await runExample('sell.js', sandbox, app, [
    organization.id,
    creditId,
    'customer@people.example',
    'Customer and Daughters',
  ]);

  expect(output).toBe(`1 t of ${creditId} now belongs to Customer and Daughters\n`);
  expect(owners(sandbox)).toEqual([{ fullName: 'Customer and Daughters', amountMicro: 1_000_000 }]);
});

test('docs/examples/sell.js gives the hold back when the customer cannot be made', async () => {
  const sandbox = await temporarySandbox(OTHER_WORDS);
  const { app, organization } = installApp(sandbox);
  const creditId = issueCredit(sandbox, organization.id, { amount: 1 });
  const args = [organization.id, creditId, 'no e-mail', 'Customer and Daughters'];
  await expect(runExample('sell.js', sandbox, app, args)).rejects.toThrow(/invalid/);
  expect(owners(sandbox)).toEqual([{ fullName: organization.fullName, amountMicro: 1_000_000 }]);
});
