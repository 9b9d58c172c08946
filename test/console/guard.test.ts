import { once } from 'node:events';
import { METHODS } from 'node:http';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, expect, test } from 'vitest';
import { createVisitorKeys } from '../../src/console/guard/visitor-keys.js';
import { openConsoleStage, type ConsoleVisit } from '../support/console.js';

const HOME = 'GET /';
/** All methods except CONNECT, which Node answers by closing the connection. */
const EVERY = METHODS.filter(method => method !== 'CONNECT');

async function openConsole(names: readonly string[] = []): Promise<ConsoleVisit> {
  return await openConsoleStage({ hostNames: names });
}

const parseStatus = (answer: string): number => Number(answer.slice(9, 12));

describe('T80 the host name of a request', () => {
  test.each([
    'localhost',
    'localhost:8070',
    'LOCALHOST.',
    'localhost.:80',
    '127.0.0.1',
    '[::1]:8070',
    'tunnel.example',
    'Tunnel.Example.:443',
  ])('%s is accepted', async host => {
    const { sendRaw: ask, cookie } = await openConsole(['tunnel.example']);
    expect(parseStatus(await ask(HOME, `host: ${host}`, `cookie: ${cookie}`))).toBe(200);
  });

  test.each([
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'evil.example:8070',
    '127.0.0.2',
    '[::2]',
    'localhost:8070@evil.example',
    'localhost evil.example',
    '',
  ])('%s is rejected for every request, even with a valid cookie or key', async host => {
    const { sendRaw: ask, cookie, keys } = await openConsole(['tunnel.example']);
    const own = 'sec-fetch-site: same-origin';
    for (const head of [
      HOME,
      'POST /',
      'OPTIONS /',
      `GET /?key=${keys.createSignInKey()}`,
      'GET /console.css',
    ]) {
      const answer = await ask(head, `host: ${host}`, `cookie: ${cookie}`, own);
      expect(parseStatus(answer), head).toBe(421);
      expect(answer).not.toMatch(/set-cookie/i);
    }
  });

  test('is checked for every method before anything else', async () => {
    const { sendRaw: ask, cookie } = await openConsole();
    for (const method of EVERY) {
      const said = [`cookie: ${cookie}`, 'sec-fetch-site: same-origin'];
      expect(parseStatus(await ask(`${method} /`, 'host: evil.example', ...said)), method).toBe(421);
      expect(parseStatus(await ask(`${method} /`, 'host: localhost', ...said)), method).toBeLessThan(421);
    }
  });

  test.each([
    'http://localhost/',
    'http://evil.example/',
    '//?key=x',
    '//[?key=1',
    '/\\?key=1',
    '/\\[',
    '//evil.example/retirements',
    '///',
    '*',
  ])(
    'T81 what is no path of ours is refused before all else, with a key, a visit or neither: %s',
    async path => {
      const { sendRaw: ask, cookie, faults } = await openConsole();
      for (const said of [
        ['host: localhost'],
        ['host: localhost', `cookie: ${cookie}`],
        ['host: evil.example'],
      ]) {
        expect(await ask(`GET ${path}`, ...said)).toMatch(/^HTTP\/1\.1 400 [^]*\r\n\r\nExpected a path\.\n$/);
      }
      expect(faults).toEqual([]);
    },
  );
});

test('T80 the console listens on loopback only', async () => {
  const { port } = await openConsole();
  const all = Object.values(networkInterfaces()).flatMap(each => each ?? []);
  const others = all.map(({ address }) => address).filter(address => address !== '127.0.0.1');
  for (const host of [...others, '127.0.0.2']) {
    const socket = connect(port, host);
    const heard = once(socket, 'connect').then(
      () => 'heard',
      () => 'not heard',
    );
    expect(await heard, host).toBe('not heard');
    socket.destroy();
  }
});

describe('T81 the sign-in key', () => {
  test('without a key a page answers only how to sign in', async () => {
    const { sendRaw: ask, cookie } = await openConsole();
    const others = [
      [],
      ['cookie: other=1'],
      [`cookie: ${cookie}x`],
      [`cookie: x${cookie}`],
      [`cookie: ${cookie.replace('visit.', 'once.')}`],
      [`cookie: ${cookie.replace(/\.\d+\./, '.9999999999999.')}`],
    ];
    for (const path of ['/', '/console.css', '/console.js', '/live', '/nothing']) {
      for (const lines of others) {
        const answer = await ask(`GET ${path}`, 'host: localhost', ...lines);
        expect(parseStatus(answer), `${path} ${lines.join()}`).toBe(401);
        expect(answer.split('\r\n\r\n')[1]).toBe(
          'Sign in with the address that "carbon-mirror console url" prints.\n',
        );
      }
    }
  });

  test('a sign-in link printed before a restart is refused', () => {
    const clock = { at: 1_000_000 };
    const begin = () => createVisitorKeys({ secret: Buffer.alloc(32, 7), now: () => clock.at });
    const before = begin();
    const shown = before.createSignInKey();
    expect(before.exchangeSignInKey(shown)).not.toBeNull();
    clock.at += 1;
    const anew = begin();
    expect(anew.exchangeSignInKey(shown)).toBeNull();
    expect(anew.exchangeSignInKey(anew.createSignInKey())).not.toBeNull();
  });

  test('a sign-in link printed after the clock was set back works', () => {
    const clock = { at: 7_200_000 };
    const keys = createVisitorKeys({ secret: Buffer.alloc(32, 7), now: () => clock.at });
    clock.at -= 3_600_000;
    expect(keys.exchangeSignInKey(keys.createSignInKey())).not.toBeNull();
  });

  test('a sign-in link is exchanged once for a cookie of this port', async () => {
    const { sendRaw: ask, keys, port } = await openConsole();
    const key = keys.createSignInKey();
    const first = await ask(`GET /retirements?key=${key}&year=2025`, 'host: localhost');
    expect(parseStatus(first)).toBe(303);
    expect(first).toMatch(/^location: \/retirements\?year=2025\r$/im);
    expect(first).toMatch(
      new RegExp(
        `^set-cookie: carbon-mirror-${port}=visit\\.[^;]+; Path=/; HttpOnly; SameSite=Lax\\r$`,
        'im',
      ),
    );
    expect(first).not.toContain(key);
    const cookie = /^set-cookie: ([^;]+)/im.exec(first)?.[1] ?? '';
    expect(parseStatus(await ask(HOME, 'host: localhost', `cookie: ${cookie}`))).toBe(200);

    const again = await ask(`GET /?key=${key}`, 'host: localhost');
    expect(parseStatus(again)).toBe(401);
    expect(again).not.toMatch(/set-cookie/i);
    expect(parseStatus(await ask(`GET /?key=${key}`, 'host: localhost', `cookie: ${cookie}`))).toBe(303);
  });

  test('a sign-in key cannot be used as a visitor key, or a visitor key to sign in', async () => {
    const { sendRaw: ask, keys, cookie } = await openConsole();
    const [name = '', own = ''] = cookie.split('=');
    expect(parseStatus(await ask(HOME, 'host: localhost', `cookie: ${name}=${keys.createSignInKey()}`))).toBe(
      401,
    );
    expect(await ask(`GET /?key=${own}`, 'host: localhost')).not.toMatch(/set-cookie/i);
  });

  test('a sign-in key expires after 12 hours and a visitor key after 30 days', async () => {
    const { sendRaw: ask, keys, clock } = await openConsole();
    const early = keys.createSignInKey();
    const late = keys.createSignInKey();
    const cookie =
      /^set-cookie: ([^;]+)/im.exec(await ask(`GET /?key=${early}`, 'host: localhost'))?.[1] ?? '';
    clock.at += 12 * 3_600_000;
    expect(parseStatus(await ask(`GET /?key=${late}`, 'host: localhost'))).toBe(401);
    expect(parseStatus(await ask(HOME, 'host: localhost', `cookie: ${cookie}`))).toBe(200);
    clock.at += 30 * 86_400_000;
    expect(parseStatus(await ask(HOME, 'host: localhost', `cookie: ${cookie}`))).toBe(401);
  });

  test.each(['', 'x', 'once', 'once.9999999999999.x.y', '%00', '../..', 'once.NaN.a.b'])(
    'a malformed sign-in key is refused: %s',
    async key => {
      const { sendRaw: ask } = await openConsole();
      const answer = await ask(`GET /?key=${key}`, 'host: localhost');
      expect(parseStatus(answer)).toBe(401);
      expect(answer).not.toMatch(/set-cookie/i);
    },
  );

  test.each(['/%2F/evil.example', '/.//evil.example', '/a/..//evil.example', '/..\\\\evil.example'])(
    'signing in never redirects to another site: %s',
    async path => {
      const { sendRaw: ask, keys } = await openConsole();
      const answer = await ask(`GET ${path}?key=${keys.createSignInKey()}`, 'host: localhost');
      expect(/^location: (.*)\r$/im.exec(answer)?.[1]).toMatch(/^\/(?![/\\])/);
    },
  );
});

describe('T82 a request that changes something must come from a page of the console', () => {
  const SENT = 'POST /';

  test.each([
    ['origin: http://localhost:8070'],
    ['origin: https://localhost:8070'],
    ['sec-fetch-site: same-origin', 'origin: http://localhost:8070'],
  ])('%s %s', async (...lines: string[]) => {
    const { sendRaw: ask, cookie } = await openConsole();
    // The origin is accepted; the form has no page token.
    expect(await ask(SENT, 'host: localhost:8070', `cookie: ${cookie}`, ...lines)).toContain(
      'This page is too old to send forms.',
    );
  });

  test.each([
    [],
    ['sec-fetch-site: same-origin'],
    ['sec-fetch-site: cross-site'],
    ['sec-fetch-site: same-site'],
    ['sec-fetch-site: none'],
    ['sec-fetch-site: cross-site', 'origin: http://localhost:8070'],
    ['origin: http://evil.example'],
    ['origin: null'],
    ['origin: http://localhost:9999'],
    ['origin: http://evil.example/localhost:8070'],
    ['origin: http://localhost:8070@evil.example'],
  ])('not %s %s', async (...lines: string[]) => {
    const { sendRaw: ask, cookie } = await openConsole();
    for (const method of EVERY.filter(each => each !== 'GET' && each !== 'HEAD')) {
      const answer = await ask(`${method} /`, 'host: localhost:8070', `cookie: ${cookie}`, ...lines);
      expect(parseStatus(answer), method).toBe(403);
    }
  });

  test.each(['', 'x', 'page.1.x'])('not with the page token "%s"', async token => {
    const { send, faults } = await openConsole();
    const answer = await send('/theme', { theme: 'dark', page_token: token });
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([403, null]);
    expect(faults).toEqual([]);
  });

  test('a page token is valid until the end of the next day', async () => {
    const { send, clock, keys, cookie } = await openConsole();
    const { pageToken } = keys.createPageToken(cookie.split('=')[1] ?? '');
    const today = { theme: 'dark', page_token: pageToken };
    expect((await send('/theme', today)).status).toBe(303);
    clock.at += 86_400_000;
    expect((await send('/theme', today)).status).toBe(303);
    clock.at += 86_400_000;
    expect((await send('/theme', today)).status).toBe(403);
  });
});

test('T83 every answer carries the security headers', async () => {
  const { sendRaw: ask, cookie, open } = await openConsole();
  const answers = [
    await ask(HOME, 'host: evil.example'),
    await ask(HOME, 'host: localhost'),
    await ask('POST /', 'host: localhost', `cookie: ${cookie}`),
  ];
  for (const answer of answers) {
    expect(answer).toMatch(/^content-security-policy: default-src 'none';.*frame-ancestors 'none'\r$/im);
  }
  for (const path of ['/', '/console.css', '/console.js', '/nothing']) {
    const { headers } = await open(path);
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
        "form-action 'self'; object-src 'self'; frame-src 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
    expect(headers.get('referrer-policy')).toBe('same-origin');
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('access-control-allow-origin')).toBeNull();
    expect(headers.get('x-powered-by')).toBeNull();
  }
});
