// A sandbox in a process of its own, and what a benchmark does at it before it measures.
import { createSign, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { startChild } from './children.js';

const VERSION = { 'x-registry-api-version': '2023-06-16' };

export async function startRegistry(options) {
  const child = await startChild('sandbox-child.js', [JSON.stringify({ port: 0, ...options })]);
  return {
    url: child.firstLine,
    pid: child.process.pid,
    stop: async () => {
      const ended = once(child.process, 'exit');
      child.process.kill('SIGTERM');
      await ended;
    },
  };
}

/** Registers an app, installs it on some organizations and mints a token for the first of them. */
export async function install(url, { organizations: wanted = 1, permissions }) {
  const { publicKey, privateKey } = keyPair();
  const app = await send(`${url}/_sandbox/apps`, {
    name: `Bench ${process.hrtime.bigint()}`,
    permissions,
    publicKeys: [publicKey],
  });
  const { organizations } = await send(`${url}/_sandbox/organizations`);
  const installations = [];
  for (const { id: organizationId } of organizations.slice(0, wanted)) {
    const { id } = await send(`${url}/_sandbox/installations`, { appId: app.id, organizationId });
    installations.push({ installationId: id, organizationId });
  }
  const [{ installationId, organizationId }] = installations;
  const access = { url, appId: app.id, privateKey };
  return { ...access, installations, organizationId, token: await mint(access, installationId) };
}

export async function mint({ url, appId, privateKey }, installationId) {
  const jwt = `Bearer ${signJwt(appId, privateKey)}`;
  const { token } = await send(`${url}/app/installations/${installationId}/accessTokens`, {}, jwt);
  return token;
}

/** A GET, or a POST where there is a body. */
export async function send(url, body, authorization) {
  const response = await ask(url, body, authorization);
  return response.json();
}

export async function patch(url, body) {
  await ask(url, body, undefined, 'PATCH');
}

export async function ask(url, body, authorization, method = body === undefined ? 'GET' : 'POST') {
  const response = await fetch(url, {
    method,
    headers: {
      ...VERSION,
      accept: 'application/json',
      ...(authorization && { authorization }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return response;
}

export function keyPair() {
  return generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
}

function signJwt(appId, privateKey) {
  const now = Math.floor(Date.now() / 1000);
  const signed = [
    { alg: 'RS256', typ: 'JWT' },
    { iss: appId, iat: now - 60, exp: now + 300 },
  ]
    .map(part => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${signed}.${createSign('RSA-SHA256').update(signed).sign(privateKey, 'base64url')}`;
}
