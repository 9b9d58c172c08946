import { expect, test } from 'vitest';
import {
  callSandbox,
  createCaller,
  createControlCaller,
  installApp,
  issueCredit,
  mintToken,
  startTemporarySandbox,
} from '../support/sandbox.js';

/** Installs an app on an organization whose warehouse and inventory each have 100 tonnes of one credit. */
async function openScene() {
  const sandbox = await startTemporarySandbox();
  const installed = installApp(sandbox);
  const { organization, token } = installed;
  const call = createCaller(sandbox, token);
  const root = `/organizations/${organization.id}`;
  const creditId = issueCredit(sandbox, organization.id);
  sandbox.registry.credits.issue({ organizationId: organization.id, creditId, amount: 100 });

  async function retire(retirementData: object) {
    const queue = `POST ${root}/warehouse/inventory/reservations`;
    const { id } = (await call(queue, { creditId, amount: 1 })).body;
    await call(`${queue}/${id}/retire`, { retirementData });
    return (await call(`GET ${root}/retirements`)).body.retirements[0];
  }
  return { ...installed, sandbox, call, root, creditId, retire };
}

test('a certificate keeps its bytes and its file name on both paths, even if the project is renamed', async () => {
  const { sandbox, call, root, retire } = await openScene();
  const { id, project } = await retire({ reason: 'Other', beneficiaryName: 'Ada' });
  const first = await call(`GET ${root}/retirements/${id}/pdf`);
  expect(first.headers.get('content-type')).toBe('application/octet-stream');
  expect(first.headers.get('content-disposition')).toBe(`attachment; filename=retirement-${id}.pdf`);
  sandbox.registry.projects.change(project.id, { fullName: 'Renamed since' });
  expect((await call(`GET ${root}/retirements/${id}/pdf`)).body).toBe(first.body);
  expect((await call(`GET /retirements/${id}/pdf`)).body).toBe(first.body);
});

test('T60 hostile text in a retirement is returned unchanged, and its certificate has one page', async () => {
  const { call, root, retire } = await openScene();
  const text = `'); drop table retirements; -- \\( ) Tj ET %%EOF \u0141\u{1f600}\u202e\n<script>`;
  const retirement = await retire({ reason: text, beneficiaryName: text, comment: text });
  expect(retirement).toMatchObject({ reason: text, beneficiary: text, comment: text });
  const { status, body } = await call(`GET ${root}/retirements/${retirement.id}/pdf`);
  expect(status).toBe(200);
  expect(body.startsWith('%PDF-') && body.endsWith('%%EOF\n')).toBe(true);
});

test('an unclaimed retirement shows no beneficiary and has no certificate until it is claimed', async () => {
  const { sandbox, organization, call, root, creditId } = await openScene();
  const control = createControlCaller(sandbox);
  const order = { creditId, amount: 2 };
  const { id } = (await control(`POST /organizations/${organization.id}/retire-off-platform`, order)).body;
  const [text, unclaimed] = [expect.any(String), { id, isClaimed: false, amount: 2, vintage: '2021' }];
  const project = expect.objectContaining({ fullName: text, num: text });
  const { body } = await call(`GET ${root}/retirements`);
  expect(body.retirements).toEqual([{ ...unclaimed, createdAt: text, serialization: text, project }]);
  const pdf = `GET ${root}/retirements/${id}/pdf`;
  const missing = {
    statusCode: 404,
    error: 'Not Found',
    message: 'An unclaimed retirement has no certificate',
  };
  expect(await call(pdf)).toMatchObject({ status: 404, body: missing });

  await control(`PATCH /retirements/${id}`, { beneficiary: 'Late Claimer', reason: 'Other' });
  const claimed = { isClaimed: true, beneficiary: 'Late Claimer' };
  expect((await call(`GET ${root}/retirements/${id}`)).body).toMatchObject(claimed);
  expect((await call(pdf)).status).toBe(200);
});

test('friendbot deposits 100 credits each time, for the installation’s organization or for any by an app token', async () => {
  const { sandbox, app, organization, call } = await openScene();
  const friendbot = `GET /organizations/${organization.id}/friendbot`;
  const { body } = await call(friendbot);
  const token = mintToken(sandbox, app);
  expect((await callSandbox(sandbox, friendbot, { token })).status).toBe(200);
  const { credits } = (await call(`GET /organizations/${organization.id}/inventory`)).body;
  const given = credits.find(({ id }: { id: string }) => id === body.credits[0].id);
  expect(given).toMatchObject({ amount: 200, type: 'exPost' });
  const others = `GET /organizations/${installApp(sandbox).organization.id}/friendbot`;
  expect((await call(others)).status).toBe(403);
  const unknown = `GET /organizations/${crypto.randomUUID()}/friendbot`;
  expect((await callSandbox(sandbox, unknown, { token })).status).toBe(404);
});
