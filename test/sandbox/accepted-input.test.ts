import { expect, test } from 'vitest';
import {
  type Answer,
  callSandbox,
  registerApp,
  signAppJwt,
  startSandboxForFile,
} from '../support/sandbox.js';

const sandbox = await startSandboxForFile();
const app = registerApp(sandbox);

async function createOrganizationForApp(user: object, organization: object): Promise<Answer> {
  const body = { user, organization };
  return callSandbox(sandbox, 'POST /app/create/user/organization', {
    token: signAppJwt(sandbox, app),
    body,
  });
}

test('an empty profilePicture is accepted', async () => {
  const user = { email: 'a@people.example', fullName: 'A', profilePicture: '' };
  const { status, body } = await createOrganizationForApp(user, {
    fullName: 'A',
    type: 'other',
    countryCode: 'IS',
  });
  expect(status).toBe(200);
  expect(body.user.profilePicture).toBe('');
});

test.each([undefined, null])('an optional field may be %s', async nothing => {
  const user = { email: `b${nothing}@people.example`, fullName: nothing, profilePicture: nothing };
  const organization = { fullName: `B ${nothing}`, type: 'other', countryCode: nothing };
  const { status, body } = await createOrganizationForApp(user, organization);
  expect(status).toBe(200);
  expect(body).toMatchObject({ user: { profilePicture: null }, organization: { countryCode: null } });
});

test.each(['projectProponent', 'projectDeveloper', 'marketParticipant', 'other', 'validationBody'])(
  'organization.type may be %s',
  async type => {
    const { body } = await createOrganizationForApp(
      { email: `${type}@people.example` },
      { fullName: type, type },
    );
    expect(body.organization.type).toBe(type);
  },
);

test('unknown fields are ignored', async () => {
  const user = { email: 'c@people.example', nickname: 'C' };
  expect((await createOrganizationForApp(user, { fullName: 'C', type: 'other', size: 3 })).status).toBe(200);
});

test('text is stored and returned unchanged', async () => {
  const fullName = `Robert'); drop table organizations;-- 🌱 <b>\u0000`;
  const { body } = await createOrganizationForApp({ email: 'd@people.example' }, { fullName, type: 'other' });
  expect(body.organization.fullName).toBe(fullName);
});
