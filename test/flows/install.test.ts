import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { writeState } from '../../src/webhook/install-state.js';
import { runCommand } from '../support/command.js';
import { type Program, startProgram, WEBHOOK_SECRET } from '../support/program.js';
import { createOrganization, issueCredit } from '../support/sandbox.js';

/** As a person at a browser: the page, the button, and whatever address that leads to. */
async function installInBrowser(program: Program, url: string, organizationId: string) {
  const asked = new URL(url);
  const page = await fetch(url);
  expect(await page.text()).toContain(organizationId);
  const form = new URLSearchParams({
    state: asked.searchParams.get('state') ?? '',
    redirectUri: asked.searchParams.get('redirectUri') ?? '',
    organizationId,
  });
  return await fetch(`${asked.origin}${asked.pathname}`, {
    method: 'POST',
    body: form,
    headers: { origin: program.sandbox.url },
  });
}

async function installUrl(program: Program): Promise<string> {
  const { nameId } = program.registry.apps.get(program.app.id);
  const env = {
    REGISTRY_BASE_URL: program.sandbox.url,
    REGISTRY_APP_ID: program.app.id,
    WEBHOOK_SECRETS: WEBHOOK_SECRET,
  };
  const { exitCode, stdout, stderr } = await runCommand(['install-url', nameId], { env });
  expect(exitCode, stderr).toBe(0);
  expect(stderr).toContain('Good for one installation until');
  return stdout.trim();
}

test('from the address that install-url makes to the credits, without any webhook', async () => {
  const program = await startProgram();
  const landing = program.webhookUrl.replace('/webhooks', '/installed');
  program.registry.apps.change(program.app.id, {
    callbackUrls: [landing],
    webhookUrl: 'http://127.0.0.1:9/',
  });
  const { id } = createOrganization(program.sandbox);
  issueCredit(program.sandbox, id, { amount: 12.5 });

  const answer = await installInBrowser(program, await installUrl(program), id);
  expect(new URL(answer.url).pathname).toBe('/installed');
  expect(answer.status).toBe(200);
  expect(await answer.text()).toContain('your credits will be here in a moment');

  await expect
    .poll(() => program.rows('SELECT organization_id, amount FROM warehouse_credits'))
    .toEqual([{ organization_id: id, amount: 12.5 }]);
  expect(await program.rows('SELECT state FROM installations')).toEqual([{ state: 'active' }]);
  expect(await program.rows("SELECT DISTINCT trigger FROM sync_runs WHERE resource = 'warehouse'")).toEqual([
    { trigger: 'person' },
  ]);
});

test('T79 an installation that the registry does not know leaves no row, and the worker goes on', async () => {
  const program = await startProgram();
  const landing = program.webhookUrl.replace('/webhooks', '/installed');
  const land = async (installationId: string, secret = WEBHOOK_SECRET) => {
    const state = { id: randomBytes(16).toString('base64url'), expiresAt: Date.now() + 60_000 };
    const query = { state: writeState(state, secret, program.app.id), installationId, event: 'installed' };
    return (await fetch(`${landing}?${new URLSearchParams(query).toString()}`)).status;
  };
  expect(await land('nobody-knows-it', 'another secret of sixteen')).toBe(400);
  expect(await land('nobody-knows-it')).toBe(200);
  await expect.poll(() => program.ended.length).toBe(1);
  await program.rest();
  expect(await program.rows('SELECT id FROM installations')).toEqual([]);
  expect(await program.rows('SELECT id FROM organizations')).toEqual([]);
  const calls = program.registry.calls.list({ appId: program.app.id, installationId: null, limit: 50 });
  expect(JSON.stringify(calls)).toContain('/app/installations/nobody-knows-it');
});
