import { readFileSync } from 'node:fs';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { Agent, createServer, request, type RequestOptions } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { createClient, type Fetch } from '../../src/client.js';
import { createClientWithToken } from '../../src/registry/access-token-client.js';
import type { Sandbox } from '../../src/sandbox/start.js';
import { openDelivery, readPayload } from '../../src/webhook/public.js';
import { startTemporarySandbox } from '../support/sandbox.js';
import { listenOnFreePort } from '../support/listen.js';
import { receiveWebhooks } from '../support/webhook-receiver.js';
import { until } from '../support/wait.js';

/** A key and a certificate of registry.example and localhost, which nobody else trusts. */
const TLS = readFileSync(join(import.meta.dirname, '../fixtures/tls.pem'));
const HOST = 'registry.example';

/** Starts a TLS proxy in front of the sandbox, which keeps the Host header. Returns its port. */
async function startTlsProxy(sandbox: Sandbox): Promise<number> {
  const server = createServer({ key: TLS, cert: TLS }, (incoming, outgoing) => {
    const { method = 'GET', url: path = '/', headers } = incoming;
    const onAnswer = (answer: IncomingMessage) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    };
    const options = { host: '127.0.0.1', port: sandbox.port, method, path, headers };
    incoming.pipe(httpRequest(options, onAnswer));
  });
  return await listenOnFreePort(server);
}

/** Sends a request as a browser does that reaches registry.example at this port. */
async function browse(port: number, path: string, form?: Readonly<Record<string, string>>) {
  const host = `${HOST}:${port}`;
  const options: RequestOptions = {
    host: '127.0.0.1',
    servername: HOST,
    ca: TLS,
    port,
    path,
    method: form === undefined ? 'GET' : 'POST',
    headers: {
      host,
      origin: `https://${host}`,
      ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
    },
    agent: new Agent({ keepAlive: false }),
  };
  return await new Promise<{ status: number; location: string; body: string }>((resolve, reject) => {
    const sent = request(options, answer => {
      const { statusCode: status = 0, headers } = answer;
      void text(answer).then(body => resolve({ status, location: headers.location ?? '', body }), reject);
    });
    sent.on('error', reject);
    sent.end(form === undefined ? '' : new URLSearchParams(form).toString());
  });
}

/** Trusts the certificate of the tests, as NODE_EXTRA_CA_CERTS lets a program do. */
const fetchWithCertificate: Fetch = async (url, { method = 'GET', headers, body }) => {
  const options = { method, ca: TLS, servername: HOST, headers: Object.fromEntries(new Headers(headers)) };
  return await new Promise((resolve, reject) => {
    const sent = request(url, options, answer => {
      const { statusCode: status = 0, headers: received } = answer;
      const init = { status, headers: { 'content-type': received['content-type'] ?? '' } };
      void text(answer).then(content => resolve(new Response(content, init)), reject);
    });
    sent.on('error', reject);
    sent.end(typeof body === 'string' ? body : '');
  });
};

async function startShop() {
  const sandbox = await startTemporarySandbox({ seed: 1, installPageHosts: [HOST], strict: false });
  const receiver = await receiveWebhooks();
  const port = await startTlsProxy(sandbox);
  const secret = 'a secret of the shop';
  const app = sandbox.registry.apps.register({
    name: 'Shop',
    permissions: { organization_warehouse: 'VIEW' },
    callbackUrls: ['https://shop.example/back?from=registry'],
    webhookUrl: receiver.url,
    webhookSecret: secret,
    generateKey: true,
  });
  const [organization] = sandbox.registry.organizations.listAll();
  const page = `/apps/${app.nameId}/installations/new?state=visitor-7`;
  const form = { state: 'visitor-7', organizationId: organization?.id ?? '' };
  return { receiver, port, secret, app, page, form, path: page.split('?')[0] ?? '' };
}

test('a foreign app is installed and called through a TLS proxy that keeps the Host header', async () => {
  const { receiver, port, secret, app, page, form, path } = await startShop();
  expect((await browse(port, page)).body).toContain('Install Shop');
  const { status, location } = await browse(port, path, form);
  expect(status).toBe(302);
  const callback = new URL(location);
  expect(callback.origin).toBe('https://shop.example');
  expect(callback.searchParams.get('state')).toBe('visitor-7');
  const installationId = callback.searchParams.get('installationId') ?? '';

  const client = createClient({
    baseUrl: `https://localhost:${port}`,
    appId: app.id,
    privateKey: readFileSync(app.privateKeyFile ?? '', 'utf8'),
    fetch: fetchWithCertificate,
  });
  expect(await client.app.readInstallation(installationId)).toMatchObject({
    organizationId: form.organizationId,
  });
  const { token } = await client.app.createInstallationToken(installationId);
  const withToken = createClientWithToken({
    baseUrl: `https://localhost:${port}`,
    token,
    fetch: fetchWithCertificate,
  });
  expect((await withToken.organization(form.organizationId).readOrganization()).id).toBe(form.organizationId);

  await until(async () => receiver.posts.length > 0, 'the webhook of the installation');
  const { body = '', headers = {} } = receiver.posts[0] ?? {};
  const signature = headers['x-registry-signature-256'];
  const opened = openDelivery({
    body: Buffer.from(body),
    signature: typeof signature === 'string' ? signature : undefined,
    secrets: [secret],
    appId: app.id,
  });
  if (opened.verdict === 'rejected') throw new Error(opened.detail);
  expect(readPayload(opened.delivery)).toMatchObject({
    event: 'installed',
    installation: { id: installationId },
  });
});
