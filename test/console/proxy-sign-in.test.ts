import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request as sendRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createConsoleProxy, type ConsoleProxySettings } from '../../src/cli/console-proxy.js';
import { createRoleLookup } from '../../src/cli/actors-file.js';
import { parseActors } from '../../src/console/guard/actors.js';
import { getPageText, openConsoleStage } from '../support/console.js';

const SECRET = 'b7c1f0a95e2d4c638f11';

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'console-proxy-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Opens a console behind a proxy on loopback. The file of actors lets dana act. */
async function openConsoleBehindProxy(options: Partial<ConsoleProxySettings> = {}) {
  const actorsFile = join(createFolder(), 'actors');
  writeFileSync(actorsFile, '# name role\ndana@example.com act\nlee@example.com read\n');
  const logged: unknown[] = [];
  const log = {
    warn: (fields: unknown) => logged.push(fields),
    error: (fields: unknown) => logged.push(fields),
  };
  const settings: ConsoleProxySettings = {
    header: 'x-auth-request-email',
    from: { addresses: ['127.0.0.1'] },
    secret: SECRET,
    actorsFile,
    ...options,
  };
  const proxy = createConsoleProxy(settings, log, Date.now);
  const stage = await openConsoleStage({ canAct: true, now: Date.now, proxySignIn: proxy.signIn });
  const read = async (head: string, ...lines: string[]) =>
    await stage.sendRaw(head, 'host: localhost', ...lines);
  return { ...stage, read, proxy, logged, actorsFile };
}

const NAME = 'x-auth-request-email: dana@example.com';
const PROOF = `x-console-proxy-secret: ${SECRET}`;
const parseStatus = (answer: string): number => Number(answer.slice(9, 12));
const findPageToken = (answer: string): string => /name="page_token" value="([^"]+)"/.exec(answer)?.[1] ?? '';

describe('T109 sign-in through a proxy', () => {
  test('a request with the header and the secret is let in', async () => {
    const { read, logged } = await openConsoleBehindProxy();
    expect(parseStatus(await read('GET /', NAME, PROOF))).toBe(200);
    expect(
      parseStatus(await read('GET /', NAME.toUpperCase().replace('DANA@EXAMPLE.COM', 'dana'), PROOF)),
    ).toBe(200);
    expect(logged).toEqual([]);
  });

  test.each([
    ['no header', 'no name', [PROOF]],
    ['an empty header', 'malformed name', ['x-auth-request-email:', PROOF]],
    ['no secret', 'secret', [NAME]],
    ['another secret', 'secret', [NAME, `${PROOF}x`]],
    ['the secret twice', 'secret', [NAME, PROOF, PROOF]],
    ['the secret in another header', 'secret', [NAME, `x-secret: ${SECRET}`]],
    ['the header twice', 'several names', [NAME, NAME, PROOF]],
    [
      'the header twice, in two cases',
      'several names',
      [NAME, 'X-Auth-Request-Email: lee@example.com', PROOF],
    ],
    ['two names joined by a comma', 'malformed name', [`${NAME}, lee@example.com`, PROOF]],
    ['a name with a space', 'malformed name', [`${NAME} lee`, PROOF]],
    ['a name with markup', 'malformed name', ['x-auth-request-email: <b>', PROOF]],
    ['a similar header', 'no name', ['x_auth_request_email: dana@example.com', PROOF]],
  ])('%s is refused with 401', async (_case, reason, lines) => {
    const { read, logged, cookie } = await openConsoleBehindProxy();
    for (const more of [[], [`cookie: ${cookie}`]]) {
      const answer = await read('GET /', ...lines, ...more);
      expect(parseStatus(answer)).toBe(401);
      expect(answer).not.toMatch(/set-cookie/i);
    }
    // Logged once a minute, and without anything that the request contained.
    expect(logged).toEqual([{ reason }]);
  });

  test('a request from another address is refused', async () => {
    const { read, logged } = await openConsoleBehindProxy({ from: { addresses: ['10.0.0.0/8', '::1'] } });
    expect(parseStatus(await read('GET /', NAME, PROOF))).toBe(401);
    expect(logged).toEqual([{ reason: 'another address' }]);
  });

  test('a sign-in link lets nobody in', async () => {
    const { read, keys } = await openConsoleBehindProxy();
    const answer = await read(`GET /?key=${keys.createSignInKey()}`);
    expect(parseStatus(answer)).toBe(401);
    expect(answer).not.toMatch(/set-cookie/i);
  });

  test('a proxy on a Unix socket is let in, and the port refuses everybody', async () => {
    const socket = join(createFolder(), 'console.sock');
    const { read, proxy } = await openConsoleBehindProxy({ from: { socket } });
    expect(parseStatus(await read('GET /', NAME, PROOF))).toBe(401);
    // Stands for the file that a killed console leaves behind.
    const killed = createServer().listen(socket);
    const listener = await proxy
      .listen((request, response) => {
        const visitor = proxy.signIn(request);
        response.statusCode = visitor === null ? 401 : 200;
        response.end(visitor?.name);
      })
      .catch((error: unknown) => error);
    expect(listener).toMatchObject({ code: 'EADDRINUSE' });
    await new Promise(resolve => killed.close(resolve));

    const opened = await proxy.listen((request, response) => {
      const visitor = proxy.signIn(request);
      response.statusCode = visitor === null ? 401 : 200;
      response.end(visitor?.name);
    });
    onTestFinished(async () => await opened?.close());
    const headers = { 'x-auth-request-email': 'dana@example.com', 'x-console-proxy-secret': SECRET };
    expect(await readFromSocket(socket, headers)).toEqual([200, 'dana@example.com']);
    expect(await readFromSocket(socket, {})).toEqual([401, '']);
  });
});

function readFromSocket(socketPath: string, headers: Record<string, string>): Promise<[number, string]> {
  return new Promise((resolve, reject) => {
    sendRequest({ socketPath, path: '/', headers }, response => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve([response.statusCode ?? 0, text]));
    })
      .on('error', reject)
      .end();
  });
}

describe('T110 actions behind a proxy', () => {
  /** Sends a form as dana or another visitor. */
  async function send(
    stage: Awaited<ReturnType<typeof openConsoleBehindProxy>>,
    {
      name = 'dana@example.com',
      token,
      origin = 'own',
    }: { name?: string; token: string; origin?: string | null },
  ): Promise<Response> {
    return await fetch(`http://127.0.0.1:${stage.port}/read-now`, {
      method: 'POST',
      headers: {
        'x-auth-request-email': name,
        'x-console-proxy-secret': SECRET,
        ...(origin === 'own' ? { origin: `http://127.0.0.1:${stage.port}` } : origin !== null && { origin }),
      },
      body: new URLSearchParams({ page_token: token }),
      redirect: 'manual',
    });
  }

  test('an actor starts work, and the log has the name', async () => {
    const stage = await openConsoleBehindProxy();
    const token = findPageToken(await stage.read('GET /', NAME, PROOF));
    expect((await send(stage, { token })).status).toBe(303);
    expect(stage.loggedActions).toMatchObject([
      { action: 'sync', actor: 'dana@example.com' },
      { action: 'discover', actor: 'dana@example.com' },
    ]);
  });

  test.each(['lee@example.com', 'nobody@example.com', 'DANA@example.com'])('%s may only read', async name => {
    const stage = await openConsoleBehindProxy();
    const page = await stage.read('GET /', `x-auth-request-email: ${name}`, PROOF);
    expect(parseStatus(page)).toBe(200);
    expect(page).not.toContain('action="/read-now"');
    const answer = await send(stage, { name, token: findPageToken(page) });
    expect(answer.status).toBe(403);
    expect(getPageText(await answer.text())).toContain('You may read this console but not start work.');
    expect(stage.loggedActions).toEqual([]);
  });

  test('a form is refused without its token, with the token of another visitor, and from another origin', async () => {
    const stage = await openConsoleBehindProxy();
    const token = findPageToken(await stage.read('GET /', NAME, PROOF));
    const foreign = findPageToken(await stage.read('GET /', 'x-auth-request-email: lee@example.com', PROOF));
    expect(foreign).not.toBe(token);
    for (const wrong of ['', 'x', foreign])
      expect((await send(stage, { token: wrong })).status, wrong).toBe(403);
    for (const origin of [null, 'null', 'http://evil.example', 'http://localhost:9'])
      expect((await send(stage, { token, origin })).status, String(origin)).toBe(403);
    expect(stage.loggedActions).toEqual([]);
  });

  test('a removed actor loses the role at once', async () => {
    const stage = await openConsoleBehindProxy();
    const token = findPageToken(await stage.read('GET /', NAME, PROOF));
    writeFileSync(stage.actorsFile, 'lee@example.com act\n');
    expect((await send(stage, { token })).status).toBe(403);
    expect(stage.loggedActions).toEqual([]);
  });
});

describe('a file of actors', () => {
  test('has a name and a role on each line', () => {
    expect([...parseActors('# comment\n\n a  act\r\nb\tread\n')]).toEqual([
      ['a', 'act'],
      ['b', 'read'],
    ]);
  });

  test.each(['a', 'a admin', 'a act b', 'a act\na read'])('is refused as a whole: %j', text => {
    expect(() => parseActors(text)).toThrow(/^Line \d: /);
  });

  test('that becomes unreadable leaves nobody who may act, and says so once', () => {
    const path = join(createFolder(), 'actors');
    writeFileSync(path, 'a act\n');
    const failures: unknown[] = [];
    const findRole = createRoleLookup(path, error => failures.push(error));
    expect(findRole('a')).toBe('act');
    writeFileSync(path, 'a admin of all\n');
    expect([findRole('a'), findRole('a')]).toEqual(['read', 'read']);
    rmSync(path);
    expect(findRole('a')).toBe('read');
    expect(failures).toHaveLength(1);
    writeFileSync(path, 'a act\n');
    expect(findRole('a')).toBe('act');
  });

  test('is required to exist at the start', () => {
    expect(() => createRoleLookup(join(createFolder(), 'none'), () => undefined)).toThrow(/ENOENT/);
  });
});
