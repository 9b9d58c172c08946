import { expect, test } from 'vitest';
import { createInstallationJob } from '../../src/inbox/job.js';
import { startInstalled } from '../support/program.js';
import { ALL_PERMISSIONS } from '../support/sandbox.js';

const WORDS = [
  'organization_info:read',
  'organization_members:read',
  'organization_warehouse:write',
  'organization_inventory:read_request',
];
const { organization_members: _members, ...WITHOUT_MEMBERS } = ALL_PERMISSIONS;

/** Starts a mirror whose installation response holds these permissions, and reads the installation again. */
async function startWithPermissions(permissions: unknown) {
  const installed = await startInstalled();
  const { program, installationId, organizationId } = installed;
  const body = {
    id: installationId,
    appId: program.app.id,
    organization: { id: organizationId },
    permissions,
  };
  program.registry.faults.add({
    path: '/app/installations/*',
    method: 'GET',
    kind: 'wrongShape',
    options: { body },
  });
  const readInstallation = async () => {
    program.time.move(1000);
    await program.inbox.enqueue([createInstallationJob(installationId, organizationId, 'person')]);
    await program.rest();
  };
  await readInstallation();
  const states = () =>
    program.rows(
      "SELECT resource, coalesce(reason, state) AS state FROM freshness WHERE state <> 'fresh' ORDER BY resource",
    );
  const granted = async () =>
    JSON.parse(
      String(Object((await program.rows('SELECT permissions FROM installations'))[0])['permissions']),
    );
  return { ...installed, look: readInstallation, states, granted };
}

test.each([
  ['by the names of the endpoints', WORDS],
  ['only in its token', undefined],
  ['as an empty object, and in its token', {}],
])('an installation that shows its permissions %s is read completely', async (_how, permissions) => {
  const { states, granted } = await startWithPermissions(permissions);
  expect(await states()).toEqual([]);
  expect(await granted()).toEqual(ALL_PERMISSIONS);
});

test('permissions that only a token shows are read again at each check', async () => {
  const { program, installationId, look, states, granted } = await startWithPermissions(undefined);
  const { apps, installations } = program.registry;
  apps.change(program.app.id, { permissions: WITHOUT_MEMBERS });
  installations.acceptPermissions(installationId);
  await program.rest();
  expect(await states()).toEqual([{ resource: 'members', state: 'no_permission' }]);
  expect(await granted()).toEqual(WITHOUT_MEMBERS);
  apps.change(program.app.id, { permissions: ALL_PERMISSIONS });
  program.registry.deliveries.changeSettings({ drop: 1 });
  installations.acceptPermissions(installationId);
  await look();
  expect(await states()).toEqual([]);
});

test('T39 if permissions are unknown, every resource is requested and a 403 is believed', async () => {
  const { program, installationId, look, states, granted } = await startWithPermissions(undefined);
  const { apps, installations, tokens } = program.registry;
  apps.change(program.app.id, { permissions: WITHOUT_MEMBERS });
  installations.acceptPermissions(installationId);
  await program.rest();
  const { token, expiresAt } = tokens.mint(
    program.app.id,
    installations.getActive(program.app.id, installationId),
  );
  program.registry.faults.add({
    path: '/app/installations/*/accessTokens',
    kind: 'wrongShape',
    options: { body: { token, expiresAt } },
  });
  await look();
  expect(await granted()).toBeNull();
  expect(await states()).toEqual([{ resource: 'members', state: 'no_permission' }]);
});
