// Starts a sandbox in a process of its own, and prepares it for a benchmark.
import { createSign, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { startChild } from './children.js';

/**
 * @typedef {{ url: string, appId: string, privateKey: string }} Access
 * @typedef {{ installationId: string, organizationId: string }} Installed
 * @typedef {{ id: string, amount: number, state: string, isClaimed: boolean, reason: string, beneficiary: string }} Row
 */

/**
 * Fields of the sandbox's answers that benchmarks read; each answer has those of its own path.
 * @typedef {{
 *   id: string,
 *   token: string,
 *   calls: [{ id: number }],
 *   organization: { id: string },
 *   organizations: { id: string }[],
 *   projects: [{ id: string }, ...{ id: string }[]],
 *   reservations: Row[],
 *   credits: [Row, ...Row[]],
 *   retirements: Row[],
 *   pagination: { total: number, pageCount: number, nextPage: number | null },
 * }} Answer
 */

const VERSION = { 'x-registry-api-version': '2023-06-16' };

/** @param {object} options */
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

/**
 * Registers an app, installs it on some organizations and mints a token for the first of them.
 * @param {string} url
 * @param {{ organizations?: number, permissions: Readonly<Record<string, string>> }} options
 */
export async function install(url, { organizations: count = 1, permissions }) {
  const { publicKey, privateKey } = keyPair();
  const app = await send(`${url}/_sandbox/apps`, {
    name: `Bench ${process.hrtime.bigint()}`,
    permissions,
    publicKeys: [publicKey],
  });
  const { organizations } = await send(`${url}/_sandbox/organizations`);
  /** @type {Installed[]} */
  const installations = [];
  for (const { id: organizationId } of organizations.slice(0, count)) {
    const { id } = await send(`${url}/_sandbox/installations`, { appId: app.id, organizationId });
    installations.push({ installationId: id, organizationId });
  }
  const [first, ...others] = installations;
  if (first === undefined) throw new Error('expected an organization, found none');
  const access = { url, appId: app.id, privateKey };
  const token = await mint(access, first.installationId);
  /** @type {[Installed, ...Installed[]]} */
  const all = [first, ...others];
  return { ...access, installations: all, organizationId: first.organizationId, token };
}

/**
 * @param {Access} access
 * @param {string} installationId
 */
export async function mint({ url, appId, privateKey }, installationId) {
  const jwt = `Bearer ${signJwt(appId, privateKey)}`;
  const { token } = await send(`${url}/app/installations/${installationId}/accessTokens`, {}, jwt);
  return token;
}

/**
 * Sends a GET, or a POST if there is a body.
 * @param {string} url
 * @param {object} [body]
 * @param {string} [authorization]
 * @returns {Promise<Answer>}
 */
export async function send(url, body, authorization) {
  const response = await ask(url, body, authorization);
  return JSON.parse(await response.text());
}

/**
 * @param {string} url
 * @param {object} body
 */
export async function patch(url, body) {
  await ask(url, body, undefined, 'PATCH');
}

/**
 * @param {string} url
 * @param {object} [body]
 * @param {string} [authorization]
 * @param {string} [method]
 */
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

/**
 * Returns the port at which a server listens.
 * @param {import('node:net').Server} server
 */
export function portOf(server) {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('expected a port');
  return address.port;
}

export function keyPair() {
  return generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
}

/**
 * @param {string} appId
 * @param {string} privateKey
 */
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
