import { get, type IncomingMessage } from 'node:http';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  callSandbox,
  type Installed,
  installApp,
  issueCredit,
  mintToken,
  startSandboxForFile,
  VERSION,
} from '../support/sandbox.js';

const sandbox = await startSandboxForFile();
const installed = installApp(sandbox);
const root = `/organizations/${installed.organization.id}`;

const LARGE_COUNT = 20_000;

const PROJECT_REFERENCE = {
  id: expect.any(String),
  fullName: expect.any(String),
  url: expect.any(String),
  publicUrl: expect.any(String),
  num: expect.any(String),
};

test('GET /organizations/<id> returns the organization', async () => {
  const { body } = await callSandbox(sandbox, `GET ${root}`, { token: installed.token });
  expect(body).toEqual({
    id: installed.organization.id,
    fullName: installed.organization.fullName,
    logo: null,
    url: expect.any(String),
    createdAt: expect.any(String),
    updatedAt: expect.any(String),
    countryCode: 'IS',
    city: '',
    zip: '',
    physicalAddress: '',
    registrationNumber: '',
    website: '',
    organizationIndustries: null,
    type: 'marketParticipant',
    isPublic: true,
  });
});

test('GET /organizations/<id>/addresses returns its public EVM addresses', async () => {
  const { body } = await callSandbox(sandbox, `GET ${root}/addresses`, { token: installed.token });
  expect(body).toEqual({
    addresses: [{ address: expect.stringMatching(/^0x[0-9a-f]{40}$/), name: 'Default', isDefault: true }],
    organizationId: installed.organization.id,
  });
});

test('GET /organizations/<id>/members returns its members', async () => {
  const { body } = await callSandbox(sandbox, `GET ${root}/members`, { token: installed.token });
  expect(body).toEqual({
    members: [{ id: expect.any(String), fullName: 'Ada Admin', email: expect.stringContaining('@') }],
    organizationId: installed.organization.id,
  });
});

describe('credits', () => {
  test('GET /organizations/<id>/warehouse/inventory returns all credits, each with the id of its project', async () => {
    const { organization, token } = installApp(sandbox);
    const ids = Array.from({ length: 3 }, () => issueCredit(sandbox, organization.id, { amount: 0.000001 }));
    const { body } = await callSandbox(sandbox, `GET /organizations/${organization.id}/warehouse/inventory`, {
      token,
    });
    expect(body.organizationId).toBe(organization.id);
    expect(body.credits.map((credit: { id: string }) => credit.id).toSorted()).toEqual(ids.toSorted());
    const [credit] = body.credits;
    expect(credit).toEqual({
      id: expect.stringMatching(/^exPost-\d+-0x[0-9a-f]{40}$/),
      inventoryId: expect.any(String),
      organizationId: organization.id,
      tokenId: expect.any(String),
      tokenAddress: expect.stringMatching(/^0x[0-9a-f]{40}$/),
      project: PROJECT_REFERENCE,
      serialization: expect.stringMatching(/^ICR-[A-Z]{3}-\d+-\d+-\d+-[RA]-[01]-\d{4}$/),
      vintage: '2021',
      supply: 0.000001,
      unit: 'tonne',
      amount: 0.000001,
      type: 'exPost',
    });
    const project = await callSandbox(sandbox, `GET /projects/${credit.project.id}`, { token });
    expect(project.body.fullName).toBe(credit.project.fullName);
  });

  test('GET /organizations/<id>/inventory returns all credits of the inventory', async () => {
    const { organization, token } = installApp(sandbox);
    const creditId = issueCredit(sandbox, organization.id, { place: 'inventory', amount: 7.25 });
    issueCredit(sandbox, organization.id);
    const { body } = await callSandbox(sandbox, `GET /organizations/${organization.id}/inventory`, { token });
    expect(body).toMatchObject({
      credits: [{ id: creditId, amount: 7.25, supply: 7.25, project: PROJECT_REFERENCE }],
      organizationId: organization.id,
    });
  });

  test('a credit is found by its id and by its serialization in any case', async () => {
    const creditId = issueCredit(sandbox, installed.organization.id);
    const { token } = installed;
    const { body } = await callSandbox(sandbox, `GET ${root}/warehouse/inventory`, { token });
    const { serialization, project } = body.credits.find((credit: { id: string }) => credit.id === creditId);
    for (const query of [
      `creditId=${creditId}`,
      `serialization=${serialization}`,
      `serialization=${serialization.toLowerCase()}`,
      `serialization=${serialization}&creditId=${creditId}`,
    ]) {
      expect((await callSandbox(sandbox, `GET /projects/find?${query}`, { token })).body.id).toBe(project.id);
    }
  });

  describe('a warehouse of thousands of credits', () => {
    let large: Installed;
    let path: string;
    let last: string | undefined;

    beforeAll(() => {
      large = installApp(sandbox);
      path = `/organizations/${large.organization.id}/warehouse/inventory`;
      const { credits, projects } = sandbox.registry;
      const { id: projectId } = projects.create({ fullName: 'Many credits' });
      const organizationId = large.organization.id;
      const order = { organizationId, projectId, place: 'warehouse', amount: 1.5 };
      const ids = Array.from({ length: LARGE_COUNT }, () => credits.issue(order).creditId);
      last = ids.toSorted().at(-1);
    });

    test('is returned completely, in one answer', async () => {
      const { body } = await callSandbox(sandbox, `GET ${path}`, { token: large.token });
      const ids = new Set(body.credits.map((each: { id: string }) => each.id));
      expect(ids.size).toBe(LARGE_COUNT);
      expect(body.credits.every((each: { amount: number }) => each.amount === 1.5)).toBe(true);
    });

    test('is returned as of the first byte, even if it is read slowly and changes meanwhile', async () => {
      const warnings: Error[] = [];
      const keep = (warning: Error) => warnings.push(warning);
      process.on('warning', keep);
      const headers = { ...VERSION, authorization: `Bearer ${large.token}` };
      const answer = await new Promise<IncomingMessage>(resolve => {
        get(`${sandbox.url}${path}`, { headers }, resolve);
      });
      let text = '';
      for await (const chunk of answer.setEncoding('utf8')) {
        if (text === '') {
          const body = { creditId: last, amount: 1.5 };
          const reserved = await callSandbox(sandbox, `POST ${path}/reservations`, {
            token: large.token,
            body,
          });
          expect(reserved.status).toBe(200);
        }
        text += chunk;
        await new Promise(setImmediate);
      }
      expect(JSON.parse(text).credits).toHaveLength(LARGE_COUNT);
      expect((await callSandbox(sandbox, `GET ${path}`, { token: large.token })).body.credits).toHaveLength(
        LARGE_COUNT - 1,
      );
      process.off('warning', keep);
      expect(warnings).toEqual([]);
    });
  });
});

describe('retirements', () => {
  let retired: Installed;
  let path: string;

  beforeAll(async () => {
    retired = installApp(sandbox);
    path = `/organizations/${retired.organization.id}/retirements`;
    const queue = `/organizations/${retired.organization.id}/warehouse/inventory/reservations`;
    const creditId = issueCredit(sandbox, retired.organization.id);
    for (let number = 1; number <= 7; number += 1) {
      const { token } = retired;
      const reservation = await callSandbox(sandbox, `POST ${queue}`, {
        token,
        body: { creditId, amount: number },
      });
      const retirementData = { reason: 'Voluntary purposes', beneficiaryName: `Beneficiary ${number}` };
      await callSandbox(sandbox, `POST ${queue}/${reservation.body.id}/retire`, {
        token,
        body: { retirementData },
      });
    }
  });

  test('GET /organizations/<id>/retirements pages through all retirements, newest first', async () => {
    const { token } = retired;
    const amounts: number[] = [];
    for (const page of [0, 1, 2]) {
      const { body } = await callSandbox(sandbox, `GET ${path}?limit=3&page=${page}`, { token });
      expect(body.pagination).toEqual({
        total: 7,
        currentPage: page,
        pageCount: 3,
        nextPage: page < 2 ? page + 1 : null,
        prevPage: page > 0 ? page - 1 : null,
      });
      for (const { amount } of body.retirements) amounts.push(amount);
    }
    expect(amounts).toEqual([7, 6, 5, 4, 3, 2, 1]);
    const beyond = await callSandbox(sandbox, `GET ${path}?limit=3&page=99`, { token });
    expect(beyond.body).toMatchObject({ retirements: [], pagination: { total: 7, nextPage: null } });
    const plain = await callSandbox(sandbox, `GET ${path}`, { token });
    expect(plain.body).toMatchObject({ pagination: { total: 7, currentPage: 0, pageCount: 1 } });
  });

  test('GET /organizations/<id>/retirements/<retirement_id> returns one retirement', async () => {
    const { token, organization } = retired;
    const { body: list } = await callSandbox(sandbox, `GET ${path}`, { token });
    const { body } = await callSandbox(sandbox, `GET ${path}/${list.retirements[0].id}`, { token });
    expect(body).toEqual(list.retirements[0]);
    expect(body).toEqual({
      id: expect.any(String),
      createdAt: expect.any(String),
      isClaimed: true,
      amount: 7,
      serialization: expect.any(String),
      vintage: '2021',
      project: PROJECT_REFERENCE,
      reason: 'Voluntary purposes',
      beneficiary: 'Beneficiary 7',
      organizationId: organization.id,
      organizationOwner: {
        id: organization.id,
        fullName: organization.fullName,
        logo: null,
        publicUrl: expect.any(String),
      },
    });
  });

  test('GET /organizations/<id>/retirements/<retirement_id>/pdf returns the certificate, with the same bytes each time', async () => {
    const { token } = retired;
    const { body: list } = await callSandbox(sandbox, `GET ${path}`, { token });
    const { id, project } = list.retirements[0];
    const download = async (call: string) => {
      const headers = { accept: 'application/octet-stream' };
      return callSandbox(sandbox, call, { token, headers });
    };
    const first = await download(`GET ${path}/${id}/pdf`);
    expect(first.headers.get('content-type')).toBe('application/octet-stream');
    expect(first.headers.get('content-disposition')).toBe(`attachment; filename=retirement-${id}.pdf`);
    expect(first.body).toMatch(/^%PDF-1\.\d[\s\S]*%%EOF\s*$/);

    sandbox.registry.projects.change(project.id, { fullName: 'Renamed since' });
    const second = await download(`GET ${path}/${id}/pdf`);
    expect(second.body).toBe(first.body);
    const third = await download(`GET /retirements/${id}/pdf`);
    expect(third.body).toBe(first.body);
  });

  test('GET /retirements?id=<id> returns any retirement to any token', async () => {
    const { body: list } = await callSandbox(sandbox, `GET ${path}`, { token: retired.token });
    const token = mintToken(sandbox, installed.app);
    const { body } = await callSandbox(sandbox, `GET /retirements?id=${list.retirements[3].id}`, { token });
    expect(body).toEqual(list.retirements[3]);
  });

  test('an unclaimed retirement shows no beneficiary and has no certificate until it is claimed', async () => {
    const { organization, token } = installApp(sandbox);
    const creditId = issueCredit(sandbox, organization.id, { place: 'inventory' });
    const offPlatform = `POST /_sandbox/organizations/${organization.id}/retire-off-platform`;
    const { body: made } = await callSandbox(sandbox, offPlatform, { body: { creditId, amount: 2 } });
    const own = `/organizations/${organization.id}/retirements`;
    const { body: list } = await callSandbox(sandbox, `GET ${own}`, { token });
    expect(list.retirements).toEqual([
      {
        id: made.id,
        createdAt: expect.any(String),
        isClaimed: false,
        amount: 2,
        serialization: expect.any(String),
        vintage: '2021',
        project: PROJECT_REFERENCE,
      },
    ]);
    const pdf = `GET ${own}/${made.id}/pdf`;
    expect(await callSandbox(sandbox, pdf, { token, headers: { accept: '*/*' } })).toMatchObject({
      status: 404,
      body: { statusCode: 404, error: 'Not Found' },
    });

    const claim = { body: { beneficiary: 'Late Claimer', reason: 'Other' } };
    await callSandbox(sandbox, `PATCH /_sandbox/retirements/${made.id}`, claim);
    const claimed = await callSandbox(sandbox, `GET ${own}/${made.id}`, { token });
    expect(claimed.body).toMatchObject({ isClaimed: true, beneficiary: 'Late Claimer' });
    expect((await callSandbox(sandbox, pdf, { token, headers: { accept: '*/*' } })).status).toBe(200);
  });
});

test('GET /organizations/<id>/friendbot deposits 100 credits each time', async () => {
  const { organization, token } = installApp(sandbox);
  const friendbot = `GET /organizations/${organization.id}/friendbot`;
  const { body } = await callSandbox(sandbox, friendbot, { token });
  expect(body).toMatchObject({ credits: [{ amount: 100, type: 'exPost' }], organizationId: organization.id });
  const appToken = mintToken(sandbox, installed.app);
  await callSandbox(sandbox, friendbot, { token: appToken });
  const inventory = await callSandbox(sandbox, `GET /organizations/${organization.id}/inventory`, { token });
  expect(inventory.body.credits).toMatchObject([{ id: body.credits[0].id, amount: 200 }]);
  const unknown = `GET /organizations/${crypto.randomUUID()}/friendbot`;
  expect((await callSandbox(sandbox, unknown, { token: appToken })).status).toBe(404);
});

describe('projects', () => {
  test('GET /projects?limit=<n>&page=<n> lists the public projects only', async () => {
    const { token } = installed;
    const { projects } = sandbox.registry;
    const hidden = projects.create({ fullName: 'Not public', isPublic: false });
    const total = projects.listAll().length - 1;
    const seen: string[] = [];
    for (let page = 0; ; page += 1) {
      const { body } = await callSandbox(sandbox, `GET /projects?limit=2&page=${page}`, { token });
      for (const { id } of body.projects) seen.push(id);
      expect(body.pagination.total).toBe(total);
      if (body.pagination.nextPage === null) break;
    }
    expect(new Set(seen).size).toBe(total);
    expect(seen).not.toContain(hidden.id);

    projects.change(hidden.id, { isPublic: true });
    expect((await callSandbox(sandbox, `GET /projects/${hidden.id}`, { token })).status).toBe(200);
    projects.change(hidden.id, { isPublic: false });
    expect((await callSandbox(sandbox, `GET /projects/${hidden.id}`, { token })).status).toBe(404);
  });

  test('GET /projects/<project_id> returns one project with its latest shortDescription', async () => {
    const { token } = installed;
    const project = sandbox.registry.projects.create({
      fullName: 'Peat',
      shortDescription: 'Wet',
      countryCode: 'IS',
    });
    const call = `GET /projects/${project.id}`;
    expect((await callSandbox(sandbox, call, { token })).body).toMatchObject({
      id: project.id,
      num: expect.any(String),
      fullName: 'Peat',
      shortDescription: 'Wet',
      registry: 'ICR',
      status: 'validated',
      countryCode: 'IS',
    });
    const body = { shortDescription: 'Wetter', fullName: 'Peat and moss' };
    await callSandbox(sandbox, `PATCH /_sandbox/projects/${project.id}`, { body });
    expect((await callSandbox(sandbox, call, { token })).body).toMatchObject(body);
  });

  test('GET /projects/find returns the project that issued the credit, if the project is public', async () => {
    const { organization, token } = installed;
    const creditId = issueCredit(sandbox, organization.id);
    const find = `GET /projects/find?creditId=${creditId}`;
    const { body } = await callSandbox(sandbox, find, { token });
    sandbox.registry.projects.change(body.id, { isPublic: false });
    expect((await callSandbox(sandbox, find, { token })).status).toBe(404);
  });
});
