import { describe, expect, test } from 'vitest';
import {
  callSandbox,
  createOrganization,
  installApp,
  issueCredit,
  registerApp,
  startSandboxForFile,
} from '../support/sandbox.js';

const sandbox = await startSandboxForFile({ seed: 1 });
const installed = installApp(sandbox);

const TEXT = expect.any(String);
const LIST = expect.any(Array);
const KIND = expect.objectContaining({ id: TEXT, title: TEXT });

/** The documented fields of a project, by type. The last group may be null. */
const TEXTS = ['id', 'num', 'fullName', 'description', 'shortDescription', 'publicUrl', 'registry', 'status'];
const KINDS = ['sector', 'methodology', 'type'];
const LISTS = ['otherBenefits', 'proponents', 'validators', 'estimatedAnnualMitigations', 'additionalities'];
const DATES = ['startDate', 'creditingPeriodStartDate'];
const NULLABLE = [...DATES, 'thumbnail', 'city', 'state', 'countryCode', 'location', 'kmlFile'];

async function readProject(id: string) {
  const { token } = installed;
  return (await callSandbox(sandbox, `GET /projects/${id}`, { token })).body;
}

describe('a project has every documented field', () => {
  test.each(['the world', 'the control API', 'friendbot'])('if %s created it', async maker => {
    const project = await readProject(await createProjectOf(maker));
    for (const name of TEXTS) expect(project).toHaveProperty(name, TEXT);
    for (const name of KINDS) expect(project).toHaveProperty(name, KIND);
    for (const name of LISTS) expect(project).toHaveProperty(name, LIST);
    for (const name of NULLABLE) expect(project).toHaveProperty(name);
  });

  async function createProjectOf(creator: string): Promise<string> {
    const { projects, credits } = sandbox.registry;
    if (creator === 'the control API') return projects.create({ fullName: 'Bog' }).id;
    if (creator === 'friendbot') credits.friendbot(installed.organization.id);
    const isWanted = (num: string) => (creator === 'friendbot') === (num === '0');
    return projects.listAll().find(({ num, isPublic }) => isPublic && isWanted(num))?.id ?? '';
  }

  test('a project names its proponent', async () => {
    const { id, fullName } = createOrganization(sandbox);
    const project = sandbox.registry.projects.create({ fullName: 'Owned bog', proponentId: id });
    expect((await readProject(project.id)).proponents).toEqual([
      { id, fullName, logo: null, publicUrl: TEXT },
    ]);
  });
});

test('GET /carbonCredits/projects/<project_id> returns what a project has issued and what was retired of it', async () => {
  const { id: organizationId } = createOrganization(sandbox);
  const { id: projectId } = sandbox.registry.projects.create({ fullName: 'Fen' });
  const issue = (vintage: string, type: string, amount: number) =>
    sandbox.registry.credits.issue({ organizationId, projectId, vintage, type, amount }).creditId;
  const first = issue('2021', 'exPost', 10.5);
  issue('2022', 'exAnte', 4);
  sandbox.registry.credits.retireOffPlatform(organizationId, { creditId: first, amount: 2.5 });
  const { token } = installed;
  const { status, body } = await callSandbox(sandbox, `GET /carbonCredits/projects/${projectId}`, { token });
  expect(status).toBe(200);
  expect(body.summary).toMatchObject({ exPost: 10.5, exAnte: 4, retired: 2.5, exPostCancelled: 0 });
  expect(body.vintages).toMatchObject([
    { vintage: '2021', summary: { exPost: 10.5, exAnte: 0, retired: 2.5 }, events: [{ id: first }] },
    { vintage: '2022', summary: { exAnte: 4 }, events: [{ amount: 4, creditType: 'exAnte' }] },
  ]);
  expect(body.project).toEqual(await readProject(projectId));
  sandbox.registry.projects.change(projectId, { isPublic: false });
  expect((await callSandbox(sandbox, `GET /carbonCredits/projects/${projectId}`, { token })).status).toBe(
    404,
  );
});

describe('GET /retirements/list', () => {
  test('returns a slice of all retirements, newest first, without pagination', async () => {
    const { token } = installed;
    const list = async (query: string) =>
      (await callSandbox(sandbox, `GET /retirements/list${query}`, { token })).body;
    const ten = await list('');
    expect(Object.keys(ten)).toEqual(['retirements']);
    expect(ten.retirements).toHaveLength(10);
    const five = await list('?skip=3&first=5');
    expect(five.retirements).toEqual(ten.retirements.slice(3, 8));
    expect((await list('?skip=100000')).retirements).toEqual([]);
    for (const query of ['?first=0', '?skip=-1', '?first=1001', '?skip=x'])
      expect((await list(query)).statusCode, query).toBe(400);
  });

  test('shows only the amount and the project of an unclaimed retirement', async () => {
    const { id } = createOrganization(sandbox);
    const creditId = issueCredit(sandbox, id, { place: 'inventory' });
    sandbox.registry.credits.retireOffPlatform(id, { creditId, amount: 1.5 });
    const { token } = installed;
    const { body } = await callSandbox(sandbox, 'GET /retirements/list?first=1', { token });
    expect(body.retirements).toEqual([{ amount: 1.5, project: expect.objectContaining({ id: TEXT }) }]);
  });
});

test.each([
  ['organization_projects:read', { organization_projects: 'VIEW' }],
  ['examiner:read', { examiner: 'VIEW' }],
  ['organization_inventory:request', { organization_inventory: 'REQUEST' }],
  ['organization_inventory:read_write', { organization_inventory: 'WRITE' }],
])('the permission %s can be granted, by its word and by its level', (word, level) => {
  const { id } = registerApp(sandbox, { permissions: level, privateKey: installed.app.privateKey });
  const expected = { organization_info: 'VIEW', ...level };
  expect(sandbox.registry.apps.get(id).permissions).toEqual(expected);
  expect(sandbox.registry.apps.change(id, { permissions: [word] }).permissions).toEqual(expected);
});
