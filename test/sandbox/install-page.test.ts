import { once } from 'node:events';
import { request } from 'node:http';
import { expect, test } from 'vitest';
import type { Sandbox } from '../../src/sandbox/start.js';
import { createOrganization, registerApp, startTemporarySandbox } from '../support/sandbox.js';

const FIRST = 'https://shop.example/installed?from=registry';
const SECOND = 'http://127.0.0.1:8080/installed';

async function startWithApp(callbackUrls: readonly string[] = [FIRST, SECOND]) {
  const sandbox = await startTemporarySandbox();
  const app = registerApp(sandbox);
  sandbox.registry.apps.change(app.id, { callbackUrls });
  const { nameId } = sandbox.registry.apps.get(app.id);
  const organization = createOrganization(sandbox, '<b>Harbour & Sons</b>');
  return { sandbox, app, nameId, organization };
}

function fetchPage(sandbox: Sandbox, nameId: string, query: Record<string, string> = {}) {
  return fetch(`${sandbox.url}/apps/${nameId}/installations/new?${new URLSearchParams(query).toString()}`);
}

function submitForm(sandbox: Sandbox, nameId: string, form: Record<string, string>, headers = {}) {
  return fetch(`${sandbox.url}/apps/${nameId}/installations/new`, {
    method: 'POST',
    body: new URLSearchParams(form),
    redirect: 'manual',
    headers,
  });
}

test('the page offers the organizations and keeps the given state and redirect URI', async () => {
  const { sandbox, nameId, organization } = await startWithApp();
  const answer = await fetchPage(sandbox, nameId, { state: 'a"b', redirectUri: SECOND });
  expect(answer.status).toBe(200);
  const text = await answer.text();
  expect(text).toContain(`<option value="${organization.id}">&#60;b&#62;Harbour &#38; Sons`);
  expect(text).toContain('name="state" value="a&#34;b"');
  expect(text).toContain(`name="redirectUri" value="${SECOND}"`);
  expect((await fetchPage(sandbox, 'nobody')).status).toBe(404);
});

test('the install page may not be framed, before or after the installation', async () => {
  const { sandbox, nameId, organization } = await startWithApp([]);
  const pressed = await submitForm(sandbox, nameId, { organizationId: organization.id });
  for (const answer of [await fetchPage(sandbox, nameId), pressed]) {
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  }
});

test.each([
  ['on the list', SECOND, `${SECOND}?installationId=ID&state=mine&event=installed`],
  ['not on it', 'https://evil.example/', `${FIRST}&installationId=ID&state=mine&event=installed`],
  ['not named', '', `${FIRST}&installationId=ID&state=mine&event=installed`],
])(
  'the button installs and leads to the address where it is %s, else to the first of the list',
  async (_case, redirectUri, expected) => {
    const { sandbox, app, nameId, organization } = await startWithApp();
    const form = { state: 'mine', redirectUri, organizationId: organization.id };
    const answer = await submitForm(sandbox, nameId, form);
    const [installation] = sandbox.registry.installations.listAll();
    expect(installation).toMatchObject({ appId: app.id, organization: { id: organization.id } });
    expect(answer.status).toBe(302);
    expect(answer.headers.get('location')).toBe(expected.replace('ID', installation?.id ?? ''));
    expect((await submitForm(sandbox, nameId, form)).headers.get('location')).toBe(
      answer.headers.get('location'),
    );
    expect(sandbox.registry.installations.listAll()).toHaveLength(1);
  },
);

test('an app without callback URLs redirects nowhere, and a page of another site cannot submit the form', async () => {
  const { sandbox, nameId, organization } = await startWithApp([]);
  const form = { redirectUri: SECOND, organizationId: organization.id };
  const foreign = await submitForm(sandbox, nameId, form, { origin: 'https://evil.example' });
  expect(foreign.status).toBe(403);
  expect(sandbox.registry.installations.listAll()).toEqual([]);
  const own = await submitForm(sandbox, nameId, form, { origin: sandbox.url });
  expect(own.status).toBe(200);
  expect(await own.text()).toMatch(/<title>Installed – sandbox<.*<h1>Installed<.*Installed as/s);
});

/** Calls the sandbox with the host name and origin that a browser behind a proxy would send, and returns the status. */
async function submitFrom(sandbox: Sandbox, path: string, host: string, origin?: string): Promise<number> {
  const submission = request(`${sandbox.url}${path}`, {
    method: origin === undefined ? 'GET' : 'POST',
    headers: {
      host,
      ...(origin !== undefined && { origin, 'content-type': 'application/x-www-form-urlencoded' }),
    },
    agent: false,
  });
  submission.end();
  const [answer] = await once(submission, 'response');
  answer.resume();
  return Number(answer.statusCode);
}

test('the form works behind a TLS proxy that keeps the Host header, and a rebound host name is refused', async () => {
  const { sandbox, nameId } = await startWithApp([]);
  const named = await startTemporarySandbox({ installPageHosts: ['registry.example'] });
  const app = registerApp(named);
  const path = `/apps/${nameId}/installations/new`;
  const pathOfNamed = `/apps/${named.registry.apps.get(app.id).nameId}/installations/new`;
  const NO_ORGANIZATION = 404;
  for (const host of ['localhost:8443', '127.0.0.1', '[::1]:8443', '10.0.0.7', 'app.localhost']) {
    expect(await submitFrom(sandbox, path, host), host).toBe(200);
    expect(await submitFrom(sandbox, path, host, `https://${host}`), host).toBe(NO_ORGANIZATION);
    expect(await submitFrom(sandbox, path, host, `https://evil.example`), host).toBe(403);
    expect(await submitFrom(named, pathOfNamed, host, 'https://registry.example'), host).toBe(403);
  }
  for (const host of [
    'registry.example',
    'evil.example:8090',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
  ]) {
    expect(await submitFrom(sandbox, path, host), host).toBe(403);
    expect(await submitFrom(sandbox, path, host, `http://${host}`), host).toBe(403);
  }
  expect(await submitFrom(named, pathOfNamed, 'registry.example')).toBe(200);
  expect(await submitFrom(named, pathOfNamed, 'registry.example:443', 'https://registry.example')).toBe(
    NO_ORGANIZATION,
  );
  expect(await submitFrom(named, pathOfNamed, 'registry.example', 'null')).toBe(403);
});

test('callback URLs are validated, kept on other changes, and can be removed', async () => {
  const { sandbox, app } = await startWithApp();
  const { apps } = sandbox.registry;
  expect(() => apps.change(app.id, { callbackUrls: ['javascript:alert(1)'] })).toThrow(/http or https/);
  expect(apps.change(app.id, { webhookUrl: SECOND }).callbackUrls).toEqual([FIRST, SECOND]);
  expect(apps.change(app.id, { callbackUrls: [] }).callbackUrls).toEqual([]);
});
