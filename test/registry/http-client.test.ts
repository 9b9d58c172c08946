import { readFileSync } from 'node:fs';
import nock from 'nock';
import { describe, expect, test } from 'vitest';
import { useNockInThisFile } from '../support/nock.js';
import type { HttpRequest, CallRecord } from '../../src/registry/http/http-types.js';
import { RegistryError } from '../../src/registry/errors.js';
import { createOrganizationClient } from '../../src/registry/organization-client.js';
import { createTokenClient } from '../../src/registry/token-client.js';
import {
  createAppTokenSource,
  collect,
  createInstallationTokenSource,
  createTestClients,
  startLoopbackServer,
  createTestHttpClient,
  getFailure,
} from '../support/registry-client.js';

const ORIGIN = 'https://registry.test';

useNockInThisFile();

const createGet = (options: Partial<HttpRequest> = {}): HttpRequest => ({
  method: 'GET',
  route: '/organizations/:organizationId',
  params: { organizationId: 'org-1' },
  token: createInstallationTokenSource('crs_secret1', 'crs_secret2'),
  ...options,
});

describe('the address of a request', () => {
  test.each([
    'http://registry.test',
    'ftp://127.0.0.1',
    'http://127.0.0.1.evil.test',
    'https://user:pass@registry.test',
    'https://registry.test/?x=1',
    'registry.test',
    '',
  ])('T32 the base URL %j is refused', baseUrl => {
    expect(() => createTestHttpClient(baseUrl)).toThrow(RegistryError);
  });

  test.each(['https://registry.test', 'http://127.0.0.1:8090', 'http://localhost:1', 'http://[::1]:1/x/'])(
    'T32 the base URL %j is accepted',
    baseUrl => {
      expect(createTestHttpClient(baseUrl).baseUrl).toMatch(/^http/);
    },
  );

  test('one error names all invalid options', () => {
    expect(() => createTestHttpClient(ORIGIN, { burst: 0, deadlineMs: -1, findPath: 'x' })).toThrow(
      /deadlineMs.*findPath|burst.*deadlineMs/,
    );
  });

  test.each(['../../x', '..', '.', '%2e%2e', 'a/b', 'a?b', 'a\0', '', 'a'.repeat(129), 'ä'])(
    'T31 the id %j is never sent',
    async id => {
      nock.disableNetConnect();
      const http = createTestHttpClient(ORIGIN);
      const client = createTokenClient({ http, token: createAppTokenSource() });
      const organization = createOrganizationClient({
        http,
        organizationId: id,
        appId: 'app-1',
        token: createInstallationTokenSource(),
      });
      const calls = [
        client.readProject(id),
        client.readRetirement(id),
        client.downloadCertificate(id),
        client.friendbot(id),
        organization.readOrganization(),
        organization.reserve({ creditId: id, amount: 1 }),
        collect(organization.listWarehouse()),
        collect(organization.listRetirements()),
      ];
      for (const call of calls) expect((await getFailure(call)).code).toBe('bad_request');
    },
  );

  test.each(['', ' ', 'a\0', 'a\nb', 'a\u202eb', '\ud800', 'x'.repeat(257)])(
    'T31 the credit id %j is never sent, neither in a query nor in a body',
    async creditId => {
      nock.disableNetConnect();
      const { organization, token: client } = createTestClients(ORIGIN);
      const calls = [
        client.findProject({ creditId }),
        client.findProject({ serialization: creditId }),
        organization.reserve({ creditId, amount: 1 }),
        organization.requestInventoryAction('retire', { creditId, amount: 1 }),
      ];
      for (const call of calls) expect((await getFailure(call)).code).toBe('bad_request');
    },
  );

  test.each([
    'https://evil.test/',
    '//evil.test/',
    '/a/../b',
    '/a/%2e%2e/b',
    '/a\\b',
    '/a%2fb',
    '/ä',
    '/a#b',
    'a',
    '/a b',
    '/a//b',
    '/a\n',
    '@evil.test/',
  ])('T30 a request with the route %j is refused', async route => {
    nock.disableNetConnect();
    const http = createTestHttpClient(ORIGIN);
    const work = (async () => http.send({ method: 'GET', route, token: createAppTokenSource() }))();
    expect((await getFailure(work)).code).toBe('bad_request');
  });

  test('a request keeps its route, its query and the path of the base URL', async () => {
    nock(ORIGIN).get('/base/projects?limit=1&page=0').reply(200, '{"projects":[]}');
    const http = createTestHttpClient(`${ORIGIN}/base/`);
    const query = { limit: '1', page: '0' };
    const { body } = await http.send({
      method: 'GET',
      route: '/projects',
      query,
      token: createAppTokenSource(),
    });
    expect(body.toString()).toBe('{"projects":[]}');
  });

  test('T30 URLs in an answer are never requested', async () => {
    const origins: string[] = [];
    const hostile = {
      id: 'inst-1',
      accessTokensUrl: 'http://169.254.169.254/',
      organization: { id: 'org-1', url: 'undefined/app/organizations/x' },
    };
    nock(ORIGIN)
      .persist()
      .get(/.*/)
      .reply(200, function reply() {
        origins.push(this.req.headers['host'] ?? '');
        return hostile;
      });
    nock.disableNetConnect();
    const client = createTestClients(ORIGIN).token;
    await client.readProject('proj-1');
    await client.readRetirement('ret-1');
    expect(new Set(origins)).toEqual(new Set(['registry.test']));
    expect(origins).toHaveLength(2);
  });
});

describe('the content of an answer', () => {
  test('a warehouse that is sent as a bare array is read like any other', async () => {
    const credit = { id: 'c-1', creditId: 'c-1', serialization: 'S-1', amount: 2.5, vintage: '2020' };
    nock(ORIGIN)
      .get(/inventory$/)
      .reply(200, [credit]);
    const client = createTestClients(ORIGIN).organization;
    const credits = await collect(client.listWarehouse());
    expect(credits).toMatchObject([{ creditId: 'c-1', amount: { exact: '2.5' } }]);
  });

  test.each([
    ['HTML', '<!doctype html><title>hello</title>', 'bad_answer'],
    ['truncated JSON', '{"id":"org-1","fullName":"Fj', 'bad_answer'],
    ['nothing', '', 'bad_answer'],
    ['an array', '[5]', 'other_form', 'bad_answer'],
    ['a number', '5', 'bad_answer'],
    ['no id', '{"fullName":"Fjord"}', 'other_form'],
    ['an id that is a path', '{"id":"../../x"}', 'other_form'],
  ])(
    'T34 %s with status 200 is a bad answer, and the error does not quote it',
    async (_name, body, ofList, ofBare = ofList) => {
      nock(ORIGIN).persist().get(/.*/).reply(200, body);
      const client = createTestClients(ORIGIN).organization;
      const error = await getFailure(client.readOrganization());
      expect(error.code).toBe('bad_answer');
      expect(error.message).not.toContain('Fj');
      expect((await getFailure(collect(client.listRetirements()))).code).toBe(ofList);
      expect((await getFailure(collect(client.listWarehouse()))).code).toBe(ofBare);
    },
  );
});

const createErrorBody = (statusCode: number, message: unknown) => ({ statusCode, message, error: 'x' });

describe('refusals', () => {
  test.each([
    [400, 'invalid'],
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [404, 'not_found'],
    [409, 'conflict'],
    [422, 'invalid'],
    [429, 'rate_limited'],
    [500, 'unavailable'],
    [503, 'unavailable'],
  ])('status %i becomes the error %s with the registry’s message', async (status, code) => {
    nock(ORIGIN)
      .persist()
      .get(/.*/)
      .reply(status, createErrorBody(status, ['amount is odd', 'and so are you']));
    const error = await getFailure(createTestHttpClient(ORIGIN, { attempts: 1 }).send(createGet()));
    const call = `${createGet().method} ${createGet().route}`;
    expect(error).toMatchObject({ code, status, call, registryMessage: 'amount is odd; and so are you' });
  });

  test.each([
    ['HTML', '<html>not here</html>'],
    ['another shape', '{"error":"not found"}'],
    ['another status inside', '{"statusCode":400,"message":"x"}'],
    ['nothing', ''],
  ])('T40 a 404 with %s is a bad answer, not not_found', async (_name, body) => {
    nock(ORIGIN).get(/.*/).reply(404, body);
    expect(await getFailure(createTestHttpClient(ORIGIN).send(createGet()))).toMatchObject({
      code: 'bad_answer',
      status: 404,
    });
  });

  test('T69 no error contains the token, or anything that looks like one', async () => {
    const token = createInstallationTokenSource('plain-secret1');
    const echo = `token plain-secret1 and crs_0123456789abcdef and eyJhbGciOi.eyJpc3.sig and Bearer abc`;
    nock(ORIGIN).persist().get(/.*/).reply(400, createErrorBody(400, echo));
    const error = await getFailure(createTestHttpClient(ORIGIN).send(createGet({ token })));
    const everything = `${error.stack} ${JSON.stringify(error)} ${error.registryMessage}`;
    expect(everything).not.toMatch(/secret1|0123456789abcdef|eyJ|Bearer abc/);
    expect(error.registryMessage).toContain('[masked]');
  });

  test('T69 no error contains an encoded form of a token that was sent or of a secret of the app', async () => {
    const [before, now, own] = ['opaque/before+1', 'opaque/now+2=', 'the key of the app'];
    const forms = [before, now, own].flatMap(text => {
      const bytes = Buffer.from(text);
      const behind = Buffer.from(`a:${text}`).toString('base64url');
      const plain = [text, bytes.toString('base64'), bytes.toString('base64url'), behind];
      return [...plain, bytes.toString('hex'), bytes.toString('hex').toUpperCase(), encodeURIComponent(text)];
    });
    nock(ORIGIN).get(/first/).reply(200, '{}');
    nock(ORIGIN)
      .get(/second/)
      .reply(400, createErrorBody(400, forms.join(' | ')));
    const http = createTestHttpClient(ORIGIN, { secrets: [own] });
    await http.send({ ...createGet({ token: createInstallationTokenSource(before) }), route: '/first' });
    const error = await getFailure(
      http.send({ ...createGet({ token: createInstallationTokenSource(now) }), route: '/second' }),
    );
    const everything = `${error.stack} ${JSON.stringify(error)} ${error.registryMessage}`;
    for (const form of forms) expect(everything).not.toContain(form.slice(4, -2));
    expect(everything).toContain('[masked] | [masked]');
  });

  test('T69 an answer of unexpected form is kept without anything that looks like a credential', () => {
    const answer = { shape: 'object', text: '{"token":"crs_0123456789abcdef"}' } as const;
    const error = new RegistryError('other_form', 'it said crs_0123456789abcdef', { answer });
    expect(error.answer?.text).toBe('{"token":"[masked]"}');
    expect(error.message).toBe('it said [masked]');
  });

  describe('T69 an answer that repeats the token of its request is refused', () => {
    const secret = 'opaque/token+1==';
    const bytes = Buffer.from(secret);
    const forms: Readonly<Record<string, string>> = {
      plain: secret,
      base64: bytes.toString('base64'),
      'base64 after other bytes': Buffer.from(`a:${secret}`).toString('base64url'),
      hex: bytes.toString('hex'),
      'part of a URL': encodeURIComponent(secret),
    };
    const token = () => createInstallationTokenSource(secret);

    test.each(Object.entries(forms))('%s', async (_name, form) => {
      nock(ORIGIN)
        .get(/.*/)
        .reply(200, { fullName: `before ${form} after` });
      const error = await getFailure(createTestHttpClient(ORIGIN).send(createGet({ token: token() })));
      expect(error).toMatchObject({ code: 'bad_answer' });
      expect(error.message).toContain('repeats the credential');
    });

    test('as a stream, wherever its chunks end', async () => {
      let finish: () => void = () => undefined;
      const server = await startLoopbackServer((_request, response) => {
        response.write(`{"fullName":"${secret.slice(0, 6)}`);
        finish = () => response.end(`${secret.slice(6)}"}`);
      });
      const { body } = await createTestHttpClient(server.url).stream(createGet({ token: token() }));
      const chunks = body[Symbol.asyncIterator]();
      expect((await chunks.next()).done).toBe(false);
      finish();
      expect(await getFailure(chunks.next())).toMatchObject({ code: 'bad_answer' });
    });

    test('unless it is another token', async () => {
      nock(ORIGIN).get(/.*/).reply(200, { fullName: 'opaque/token+2==' });
      expect((await createTestHttpClient(ORIGIN).send(createGet({ token: token() }))).status).toBe(200);
    });
  });

  test('T69 a credential that cannot be sent in a header is refused without being quoted', async () => {
    const token = { get: async () => ({ token: 'bad\nsecret', fresh: true }), discard: () => undefined };
    const error = await getFailure(createTestHttpClient(ORIGIN).send(createGet({ token })));
    expect(error.code).toBe('bad_request');
    expect(error.stack).not.toContain('secret');
  });
});

const answerInTurn = (registry: string, ...list: number[]) => {
  const tokens: string[] = [];
  for (const status of list) {
    nock(registry)
      .get(/.*/)
      .reply(status, function reply() {
        tokens.push(this.req.headers['authorization'] ?? '');
        return status === 200 ? { id: 'org-1' } : { statusCode: status, message: 'no' };
      });
  }
  return tokens;
};

describe('renewing the token', () => {
  test.each([401, 403])('T38 a %i for a cached token renews it once', async status => {
    const tokens = answerInTurn(ORIGIN, status, 200);
    const token = createInstallationTokenSource('crs_1', 'crs_2', 'crs_3');
    await createTestHttpClient(ORIGIN).send(createGet({ token }));
    expect(tokens).toEqual(['Bearer crs_1', 'Bearer crs_2']);
    expect(token.refused).toEqual(['crs_1']);
  });

  test('T38 a second 401 is final', async () => {
    const tokens = answerInTurn(ORIGIN, 401, 401, 200);
    const error = await getFailure(
      createTestHttpClient(ORIGIN).send(
        createGet({ token: createInstallationTokenSource('crs_1', 'crs_2', 'crs_3') }),
      ),
    );
    expect(error.code).toBe('unauthorized');
    expect(tokens).toHaveLength(2);
  });

  test('T38 a 403 for a token that was just created is final', async () => {
    const tokens = answerInTurn(ORIGIN, 403, 200);
    let minted = 0;
    const mint = async () => ({ token: `crs_${(minted += 1)}`, fresh: true });
    const token = { get: mint, discard: () => undefined };
    expect((await getFailure(createTestHttpClient(ORIGIN).send(createGet({ token })))).code).toBe(
      'forbidden',
    );
    expect(tokens).toHaveLength(1);
  });

  test('T38 a refused write is sent again with a new token, because a refusal changes nothing', async () => {
    nock(ORIGIN).post(/.*/).reply(401, '{}').post(/.*/).reply(200, '{}');
    const token = createInstallationTokenSource('crs_1', 'crs_2');
    const answer = await createTestHttpClient(ORIGIN).send(createGet({ method: 'POST', body: '{}', token }));
    expect(answer.status).toBe(200);
  });
});

describe('retrying', () => {
  test.each([429, 503, 500, 502])('T41 a repeatable request is retried after a %i', async status => {
    nock(ORIGIN).get(/.*/).times(2).reply(status, '').get(/.*/).reply(200, '{}');
    const waits: number[] = [];
    const sleep = async (ms: number) => {
      waits.push(ms);
    };
    await createTestHttpClient(ORIGIN, { sleep, random: () => 0.5 }).send(createGet());
    expect(waits).toEqual([188, 375]);
  });

  const HEADERS = { date: 'Tue, 01 Jul 2025 12:00:00 GMT' };

  test.each([
    ['2', 2_000],
    ['0', 125],
    ['Tue, 01 Jul 2025 12:00:03 GMT', 3_000],
    ['Tue, 01 Jul 2025 11:00:00 GMT', 125],
    ...['-5', 'soon', '1e3', '', 'x Tue, 01 Jul 2025 12:00:03 GMT'].map((value): [string, number] => [
      value,
      125,
    ]),
  ])('T41 Retry-After %j is followed if it can be read, but never without a pause', async (value, wait) => {
    nock(ORIGIN)
      .get(/.*/)
      .reply(503, '', { ...HEADERS, 'retry-after': value })
      .get(/.*/)
      .reply(200, '{}');
    const waits: number[] = [];
    const sleep = async (ms: number) => {
      waits.push(ms);
    };
    await createTestHttpClient(ORIGIN, { sleep, now: () => 5_000 }).send(createGet());
    expect(waits).toEqual([wait]);
  });

  test.each([
    ['600', 600_000],
    ['99999999999999999999', 900_000],
    ['Tue, 01 Jul 2099 12:00:00 GMT', 900_000],
  ])(
    'T41 Retry-After %s is too long to wait for, and becomes at most 15 minutes in the error',
    async (value, expected) => {
      nock(ORIGIN)
        .get(/.*/)
        .reply(429, '', { ...HEADERS, 'retry-after': value });
      const error = await getFailure(createTestHttpClient(ORIGIN, { now: () => 5_000 }).send(createGet()));
      expect(error).toMatchObject({ code: 'rate_limited', retryAfterMs: expected });
    },
  );

  test('a failed write is never sent again', async () => {
    nock(ORIGIN).post(/.*/).reply(503, '').post(/.*/).reply(200, '{}');
    const error = await getFailure(
      createTestHttpClient(ORIGIN).send(createGet({ method: 'POST', body: '{}' })),
    );
    expect(error).toMatchObject({ code: 'unavailable', mayHaveHappened: true });
    expect(nock.pendingMocks()).toHaveLength(1);
  });
});

describe('observing requests', () => {
  test('each attempt is recorded with the template of its path, without an id or a token', async () => {
    nock(ORIGIN).get(/.*/).reply(503, 'sorry').get(/.*/).reply(200, '{"id":"org-1"}');
    const records: CallRecord[] = [];
    const own: CallRecord[] = [];
    const http = createTestHttpClient(ORIGIN, { now: () => 0, onCall: record => records.push(record) });
    await http.send(createGet({ onCall: record => own.push(record) }));
    const common = { method: 'GET', route: '/organizations/:organizationId', ms: 0 };
    expect(records).toEqual([
      { ...common, attempt: 1, status: 503, code: 'unavailable', bytes: 0 },
      { ...common, attempt: 2, status: 200, code: null, bytes: 14 },
    ]);
    expect(own).toEqual(records);
  });

  test('a streamed response is recorded once its body has been read', async () => {
    nock(ORIGIN).get(/.*/).reply(200, '{"id":"org-1"}');
    const records: CallRecord[] = [];
    const http = createTestHttpClient(ORIGIN, { onCall: record => records.push(record) });
    const { body } = await http.stream(createGet());
    expect(records).toEqual([]);
    for await (const chunk of body) expect(chunk.length).toBe(14);
    expect(records).toMatchObject([{ attempt: 1, status: 200, code: null, bytes: 14 }]);
  });

  test('the User-Agent is that of this package, or of the caller', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    for (const [options, expected] of [
      [{}, `carbon-mirror/${version}`],
      [{ userAgent: 'shop/2' }, 'shop/2'],
    ] as const) {
      nock(ORIGIN, { reqheaders: { 'user-agent': expected } })
        .get(/.*/)
        .reply(200, '{"id":"org-1"}');
      await createTestHttpClient(ORIGIN, options).send(createGet());
    }
    expect(() => createTestHttpClient(ORIGIN, { userAgent: 'a\nb' })).toThrow('userAgent: expected');
  });

  test('requests are sent with the fetch of the options, which is told not to follow redirects', async () => {
    const sent: unknown[] = [];
    const http = createTestHttpClient(ORIGIN, {
      fetch: async (url, { method, redirect }) => {
        sent.push([url.href, method, redirect]);
        return new Response('{"id":"org-1"}');
      },
    });
    const { body } = await http.send(createGet());
    expect(body.toString()).toBe('{"id":"org-1"}');
    expect(sent).toEqual([[`${ORIGIN}/organizations/org-1`, 'GET', 'manual']]);
  });

  test('an error names the headerPrefix if the registry asks for the version header of another one', async () => {
    const message = 'The header x-icr-api-version is missing';
    nock(ORIGIN).get(/.*/).twice().reply(400, { statusCode: 400, message });
    const error = await getFailure(createTestHttpClient(ORIGIN).send(createGet()));
    expect(error.message).toMatch(/missing\. Set headerPrefix to "icr": it is "registry"$/);
    const other = await getFailure(createTestHttpClient(ORIGIN, { headerPrefix: 'ICR' }).send(createGet()));
    expect(other.message).toMatch(/is missing$/);
  });

  test('the public registry is refused with another headerPrefix than its own', () => {
    const baseUrl = 'https://sandbox-api.carbonregistry.com';
    expect(() => createTestHttpClient(baseUrl)).toThrow('headerPrefix: expected "icr" for this registry');
    expect(() => createTestHttpClient(baseUrl, { headerPrefix: 'icr' })).not.toThrow();
    expect(() => createTestHttpClient('https://carbonregistry.com.example')).not.toThrow();
  });

  test('T42 the registry’s clock is read from the Date header, of refusals too', async () => {
    nock(ORIGIN).get(/.*/).reply(400, '{}', { date: 'Tue, 01 Jul 2025 12:00:00 GMT' });
    const seen: [number, number][] = [];
    const http = createTestHttpClient(ORIGIN, {
      now: () => Date.UTC(2025, 6, 1, 13),
      onDate: (server, local) => seen.push([server, local]),
    });
    expect(http.clockSkewMs()).toBeNull();
    await getFailure(http.send(createGet()));
    expect(http.clockSkewMs()).toBe(-3_600_000);
    expect(seen).toEqual([[Date.UTC(2025, 6, 1, 12), Date.UTC(2025, 6, 1, 13)]]);
  });
});
