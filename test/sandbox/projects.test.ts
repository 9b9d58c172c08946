import { describe, expect, test } from 'vitest';
import {
  createCaller,
  createControlCaller,
  createOrganization,
  installApp,
  issueCredit,
  startSandboxForFile,
} from '../support/sandbox.js';

const sandbox = await startSandboxForFile({ seed: 1 });
const { projects, credits } = sandbox.registry;
const installed = installApp(sandbox);
const call = createCaller(sandbox, installed.token);
const control = createControlCaller(sandbox);

const TEXT = expect.any(String);
const NOT_EMPTY = expect.stringMatching(/./);
const KIND = expect.objectContaining({ id: NOT_EMPTY, title: NOT_EMPTY });
/** The documented fields of a project, by type. The last group may be null. */
const TEXTS = ['id', 'num', 'fullName', 'description', 'shortDescription', 'publicUrl', 'registry', 'status'];
const KINDS = ['sector', 'methodology', 'type'];
const LISTS = ['otherBenefits', 'proponents', 'validators', 'estimatedAnnualMitigations', 'additionalities'];
const DATES = ['startDate', 'creditingPeriodStartDate'];
const NULLABLE = [...DATES, 'thumbnail', 'city', 'state', 'countryCode', 'location', 'kmlFile'];

const readProject = async (id: string) => (await call(`GET /projects/${id}`)).body;

describe('a project has every documented field', () => {
  test.each(['the world', 'the control API', 'friendbot'])('if %s created it', async maker => {
    const project = await readProject(createProjectOf(maker));
    for (const name of TEXTS) expect(project).toHaveProperty(name, TEXT);
    for (const name of KINDS) expect(project).toHaveProperty(name, KIND);
    for (const name of LISTS) expect(project).toHaveProperty(name, expect.any(Array));
    for (const name of NULLABLE) expect(project).toHaveProperty(name);
  });

  function createProjectOf(creator: string): string {
    if (creator === 'the control API') return projects.create({ fullName: 'Bog' }).id;
    if (creator === 'friendbot') credits.friendbot(installed.organization.id);
    const isWanted = (num: string) => (creator === 'friendbot') === (num === '0');
    return projects.listAll().find(({ num, isPublic }) => isPublic && isWanted(num))?.id ?? '';
  }
});

test('a project names its proponent and shows its latest description', async () => {
  const { id: proponentId, fullName } = createOrganization(sandbox);
  const details = { fullName: 'Peat', shortDescription: 'Wet', countryCode: 'IS' };
  const { id } = projects.create({ ...details, proponentId });
  const proponents = [{ id: proponentId, fullName, logo: null, publicUrl: TEXT }];
  expect(await readProject(id)).toMatchObject({ ...details, proponents });
  for (const change of [{ fullName: 'Peat and moss' }, { shortDescription: 'Wetter' }, { isPublic: true }])
    await control(`PATCH /projects/${id}`, change);
  expect(await readProject(id)).toMatchObject({ fullName: 'Peat and moss', shortDescription: 'Wetter' });
});

test('the project of a credit is found by the credit’s id and by its serialization in any case', async () => {
  const creditId = issueCredit(sandbox, installed.organization.id);
  const { body } = await call(`GET /organizations/${installed.organization.id}/warehouse/inventory`);
  const { serialization, project } = body.credits.find(({ id }: { id: string }) => id === creditId);
  for (const query of [
    `creditId=${creditId}`,
    `serialization=${serialization}`,
    `serialization=${serialization.toLowerCase()}`,
    `serialization=${serialization}&creditId=${creditId}`,
  ])
    expect((await call(`GET /projects/find?${query}`)).body.id).toBe(project.id);
  expect(await readProject(project.id)).toMatchObject({ fullName: project.fullName });
});

test('a project that is not public is in no answer', async () => {
  const { id } = projects.create({ fullName: 'Hidden', isPublic: false });
  const order = { organizationId: installed.organization.id, projectId: id, amount: 1 };
  const find = `GET /projects/find?creditId=${credits.issue(order).creditId}`;
  const countPublic = async () => (await call('GET /projects')).body.pagination.total;
  const before = await countPublic();
  for (const [isPublic, status] of [
    [undefined, 404],
    [true, 200],
    [false, 404],
  ] as const) {
    if (isPublic !== undefined) projects.change(id, { isPublic });
    for (const path of [find, `GET /projects/${id}`, `GET /carbonCredits/projects/${id}`])
      expect((await call(path)).status, path).toBe(status);
    expect(await countPublic()).toBe(isPublic ? before + 1 : before);
  }
});

test('GET /carbonCredits/projects/<project_id> returns what a project has issued and what was retired of it', async () => {
  const { id: organizationId } = createOrganization(sandbox);
  const { id: projectId } = projects.create({ fullName: 'Fen' });
  const issue = (vintage: string, type: string, amount: number) =>
    credits.issue({ organizationId, projectId, vintage, type, amount }).creditId;
  const first = issue('2021', 'exPost', 10.5);
  issue('2022', 'exAnte', 4);
  credits.retireOffPlatform(organizationId, { creditId: first, amount: 2.5 });
  const { body } = await call(`GET /carbonCredits/projects/${projectId}`);
  expect(body.summary).toMatchObject({ exPost: 10.5, exAnte: 4, retired: 2.5, exPostCancelled: 0 });
  expect(body.vintages).toMatchObject([
    { vintage: '2021', summary: { exPost: 10.5, exAnte: 0, retired: 2.5 }, events: [{ id: first }] },
    { vintage: '2022', summary: { exAnte: 4 }, events: [{ amount: 4, creditType: 'exAnte' }] },
  ]);
  expect(body.project).toEqual(await readProject(projectId));
});
