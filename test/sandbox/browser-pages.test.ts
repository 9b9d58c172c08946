import { describe, expect, test } from 'vitest';
import { callSandbox, installApp, issueCredit, startSandboxForFile, VERSION } from '../support/sandbox.js';

const PAGE = { origin: 'https://shop.example' };

const sandbox = await startSandboxForFile();
const installed = installApp(sandbox);

describe('a web page of any site', () => {
  test('may call the registry with a token and reads the answer and the file name', async () => {
    const { organization, token } = installed;
    const path = `/organizations/${organization.id}`;
    const preflight = await fetch(`${sandbox.url}${path}`, {
      method: 'OPTIONS',
      headers: {
        ...PAGE,
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'authorization,x-registry-api-version',
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
    const allowed = preflight.headers.get('access-control-allow-headers')?.toLowerCase().split(', ');
    expect(allowed).toEqual(expect.arrayContaining(['authorization', Object.keys(VERSION)[0]]));
    expect(preflight.headers.get('access-control-allow-methods')?.split(', ')).toEqual([
      'GET',
      'POST',
      'DELETE',
    ]);
    const { status, headers } = await callSandbox(sandbox, `GET ${path}`, { token, headers: PAGE });
    expect(status).toBe(200);
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-expose-headers')).toContain('Content-Disposition');
  });

  test('may read an error answer', async () => {
    const { status, headers } = await callSandbox(sandbox, 'GET /projects', {
      token: 'crs_none',
      headers: PAGE,
    });
    expect(status).toBe(403);
    expect(headers.get('access-control-allow-origin')).toBe('*');
  });

  test('may neither call the control API nor read its refusal', async () => {
    for (const method of ['OPTIONS', 'GET']) {
      const refused = await fetch(`${sandbox.url}/_sandbox/status`, { method, headers: PAGE });
      expect(refused.status).toBe(403);
      expect(refused.headers.get('access-control-allow-origin')).toBeNull();
    }
  });

  test('a preflight request is not logged as a call', async () => {
    const { calls } = sandbox.registry;
    const before = calls.countCallsWithoutVersion();
    await fetch(`${sandbox.url}/projects`, { method: 'OPTIONS', headers: PAGE });
    expect(calls.countCallsWithoutVersion()).toBe(before);
  });
});

test('the project finder answers at both of its known paths', async () => {
  const creditId = issueCredit(sandbox, installed.organization.id);
  const { token } = installed;
  const answer = await callSandbox(sandbox, `GET /projects/find?creditId=${creditId}`, { token });
  const other = await callSandbox(sandbox, `GET /projects/find/project?creditId=${creditId}`, { token });
  expect(other).toMatchObject({ status: 200, body: answer.body });
});
