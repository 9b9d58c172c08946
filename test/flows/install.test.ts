import { expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { type Program, startProgram } from '../support/program.js';
import { createOrganization, issueCredit } from '../support/sandbox.js';

/** Installs the app like a person in a browser: opens the page, submits its form and follows the redirect. */
async function installInBrowser(program: Program, url: string, organizationId: string) {
  const requestUrl = new URL(url);
  const page = await fetch(url);
  expect(await page.text()).toContain(organizationId);
  const form = new URLSearchParams({
    state: requestUrl.searchParams.get('state') ?? '',
    redirectUri: requestUrl.searchParams.get('redirectUri') ?? '',
    organizationId,
  });
  return await fetch(`${requestUrl.origin}${requestUrl.pathname}`, {
    method: 'POST',
    body: form,
    headers: { origin: program.sandbox.url },
  });
}

async function readInstallUrl(program: Program): Promise<string> {
  const { nameId } = program.registry.apps.get(program.app.id);
  const env = {
    REGISTRY_BASE_URL: program.sandbox.url,
    REGISTRY_APP_ID: program.app.id,
  };
  const { exitCode, stdout, stderr } = await runCommand(['install-url', nameId], { env });
  expect(exitCode, stderr).toBe(0);
  return stdout.trim();
}

test('the URL of install-url leads through the installation to a confirmation page and mirrored credits', async () => {
  const program = await startProgram();
  const landing = program.webhookUrl.replace('/webhooks', '/installed');
  program.registry.apps.change(program.app.id, { callbackUrls: [landing] });
  const { id } = createOrganization(program.sandbox);
  issueCredit(program.sandbox, id, { amount: 12.5 });

  const answer = await installInBrowser(program, await readInstallUrl(program), id);
  expect(new URL(answer.url).pathname).toBe('/installed');
  expect(answer.status).toBe(200);
  expect(await answer.text()).toContain('your credits follow');

  await expect
    .poll(() => program.rows('SELECT organization_id, amount FROM warehouse_credits'))
    .toEqual([{ organization_id: id, amount: 12.5 }]);
  expect(await program.rows('SELECT state FROM installations')).toEqual([{ state: 'active' }]);
});
