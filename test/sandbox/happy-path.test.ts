import { expect, test } from 'vitest';
import {
  callSandbox,
  createOrganization,
  installApp,
  issueCredit,
  registerApp,
  signAppJwt,
  startTemporarySandbox,
} from '../support/sandbox.js';
import { receiveWebhooks } from '../support/webhook-receiver.js';

test('an app reads a warehouse, reserves, finishes with a retirement and downloads the certificate', async () => {
  const sandbox = await startTemporarySandbox();
  const { url, posts } = await receiveWebhooks();
  const app = registerApp(sandbox, { webhookUrl: url, webhookSecret: 'a secret of some length' });
  const { organization, installationId } = installApp(sandbox, { app });
  const creditId = issueCredit(sandbox, organization.id, { amount: 12.5 });

  const jwt = signAppJwt(sandbox, app);
  const minted = await callSandbox(sandbox, `POST /app/installations/${installationId}/accessTokens`, {
    token: jwt,
  });
  expect(minted.status).toBe(200);
  const { token } = minted.body;
  const root = `/organizations/${organization.id}`;

  const warehouse = await callSandbox(sandbox, `GET ${root}/warehouse/inventory`, { token });
  expect(warehouse.body).toMatchObject({
    credits: [{ id: creditId, amount: 12.5 }],
    organizationId: organization.id,
  });

  const queue = `${root}/warehouse/inventory/reservations`;
  const reserved = await callSandbox(sandbox, `POST ${queue}`, { token, body: { creditId, amount: 2.5 } });
  expect(reserved.body).toMatchObject({ state: 'outstanding', amount: 2.5, reserver: { id: app.id } });

  const retirementData = {
    reason: 'Voluntary purposes',
    beneficiaryName: 'Grüne Energie GmbH',
    comment: 'für 2026',
  };
  const finished = await callSandbox(sandbox, `POST ${queue}/${reserved.body.id}/retire`, {
    token,
    body: { retirementData },
  });
  expect(finished.body).toMatchObject({ state: 'finished', isComplete: true });

  const retirements = await callSandbox(sandbox, `GET ${root}/retirements?limit=10&page=0`, { token });
  expect(retirements.body).toMatchObject({
    pagination: { total: 1, currentPage: 0, pageCount: 1, nextPage: null, prevPage: null },
    retirements: [{ amount: 2.5, beneficiary: 'Grüne Energie GmbH', isClaimed: true }],
  });
  const pdf = await callSandbox(
    sandbox,
    `GET ${root}/retirements/${retirements.body.retirements[0].id}/pdf`,
    {
      token,
      headers: { accept: 'application/octet-stream' },
    },
  );
  expect(pdf.status).toBe(200);
  expect(pdf.body).toMatch(/^%PDF/);

  await sandbox.registry.deliveries.waitUntilSettled();
  expect(posts.map(({ event }) => event)).toEqual(['installed', 'warehouseTransaction']);
});

test('the control API does what the direct calls do', async () => {
  const sandbox = await startTemporarySandbox({ seed: 1 });
  const organization = createOrganization(sandbox);
  const app = registerApp(sandbox);
  const body = { appId: app.id, organizationId: organization.id };
  const installed = await callSandbox(sandbox, 'POST /_sandbox/installations', { body });
  expect(installed.body).toMatchObject({ appId: app.id, organization: { id: organization.id } });
  const suspended = await callSandbox(sandbox, `POST /_sandbox/installations/${installed.body.id}/suspend`);
  expect(suspended.status).toBe(200);
  const refused = await callSandbox(sandbox, `POST /app/installations/${installed.body.id}/accessTokens`, {
    token: signAppJwt(sandbox, app),
  });
  expect(refused.body).toEqual({
    statusCode: 403,
    message: 'The installation is suspended',
    error: 'Forbidden',
  });
  const calls = await callSandbox(sandbox, `GET /_sandbox/calls?appId=${app.id}`);
  expect(calls.body.calls).toMatchObject([{ method: 'POST', status: 403, appId: app.id }]);
});
