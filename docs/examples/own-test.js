// Shows how to test your own code against a sandbox registry: node --test docs/examples/own-test.js
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createClient } from 'carbon-mirror/client';
import { startSandbox } from 'carbon-mirror/sandbox';

await test('reads the warehouse of the first organization', async () => {
  const sandbox = await startSandbox({ port: 0, seed: 1 });
  // The control API acts for the users of the registry.
  const { control } = sandbox;
  const permissions = { organization_info: 'VIEW', organization_warehouse: 'VIEW' };
  const app = await control('POST', '/apps', { name: 'mine', permissions, generateKey: true });
  const { organizations } = await control('GET', '/organizations');
  const organizationId = organizations[0].id;
  const installation = await control('POST', '/installations', { appId: app.id, organizationId });
  const client = createClient({
    baseUrl: sandbox.url,
    appId: app.id,
    privateKey: readFileSync(app.privateKeyFile, 'utf8'),
  });
  const amounts = [];
  for await (const credit of client.organization(installation.id, organizationId).listWarehouse())
    amounts.push(credit.amount.value);
  assert(amounts.length > 0);
  await sandbox.close();
});
