// Sends random and mutated posts to a receiver in a process of its own. Each must get a documented status and never 500 or 503. Every
// genuine post must get 202.
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createDice, damageBytes, growthAfter, mutateJson, randomJson } from './fuzz-random.js';

/** @import { Dice } from './fuzz-random.js' */
/**
 * @typedef {{
 *   body: Buffer,
 *   headers: Readonly<Record<string, string>>,
 *   isGenuine?: boolean,
 *   raw?: Buffer,
 * }} Post
 * @typedef {{ status: number, text: string }} Answer
 */

const SECRET = 'a secret of the fuzzed receiver';
const APP_ID = '0b6f9a52-6a0e-4f0e-9a0f-1f6f6d0c1a11';
const ANSWERS = [202, 400, 401, 404, 405, 408, 411, 413, 414, 415, 417, 431];
const CONNECTIONS = 16;
const EVENTS = [
  'installed',
  'uninstalled',
  'suspended',
  'unsuspended',
  'warehouseTransaction',
  'inventoryTransaction',
  'x',
];
const STACK = /\n\s+at |node_modules|\/dist\/|SQLITE|"stack"/;

/** @param {import("./fuzz.js").Fuzzing} fuzzing */
export async function fuzzPosts({ count, seed, program }) {
  const folder = mkdtempSync(join(tmpdir(), 'carbon-mirror-fuzz-'));
  const receiver = await startReceiver(folder, program);
  const dice = createDice(seed);
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  /** @type {{ statuses: Record<number, number>, genuine: number, faults: string[], sizes: number[] }} */
  const tally = { statuses: {}, genuine: 0, faults: [], sizes: [] };
  let sent = 0;

  async function lane() {
    while (sent < count && tally.faults.length < 5 && receiver.child.exitCode === null) {
      sent += 1;
      if (sent % Math.ceil(count / 5) === 0) tally.sizes.push(memoryMb(receiver.child.pid));
      const post = makePost(dice);
      const { status, text } = await send(receiver.port, agent, post);
      tally.statuses[status] = (tally.statuses[status] ?? 0) + 1;
      tally.genuine += post.isGenuine ? 1 : 0;
      const expected = post.isGenuine ? status === 202 : post.raw !== undefined || ANSWERS.includes(status);
      if (!expected || status >= 500 || STACK.test(text)) {
        tally.faults.push(`post answered ${status}: ${text.slice(0, 400)}\n${describe(post)}`);
      }
    }
  }

  try {
    await Promise.all(Array.from({ length: CONNECTIONS }, lane));
    if (receiver.child.exitCode !== null)
      tally.faults.push(`the receiver ended with ${receiver.child.exitCode}`);
    tally.sizes.push(memoryMb(receiver.child.pid));
    receiver.child.kill('SIGTERM');
    await receiver.exited;
    const log = readFileSync(receiver.log, 'utf8');
    const bad = log
      .split('\n')
      .find(line => STACK.test(line) || /"level":(?:50|60|"error"|"fatal")/.test(line));
    if (bad !== undefined) tally.faults.push(`in the log: ${bad.slice(0, 1_000)}`);
  } finally {
    agent.destroy();
    receiver.child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
  return { ...tally, growth: growthAfter(tally.sizes, 0), unit: 'MB of the receiver' };
}

/**
 * @param {string} folder
 * @param {URL} program
 */
async function startReceiver(folder, program) {
  const log = join(folder, 'receive.log');
  const out = openSync(log, 'w');
  const env = {
    PATH: process.env['PATH'],
    DATA_DIR: folder,
    PORT: '0',
    OPERATIONS_PORT: '0',
    REGISTRY_APP_ID: APP_ID,
    WEBHOOK_SECRETS: SECRET,
  };
  const child = spawn(process.execPath, [fileURLToPath(program), 'receive'], {
    stdio: ['ignore', out, out],
    env,
  });
  const exited = once(child, 'exit');
  for (;;) {
    const port = Number(/"port":(\d+)/.exec(readFileSync(log, 'utf8'))?.[1] ?? 0);
    if (port > 0) return { child, exited, port, log };
    if (child.exitCode !== null) throw new Error(readFileSync(log, 'utf8'));
    await new Promise(resolve => setTimeout(resolve, 20));
  }
}

/** @param {Dice} dice */
const payloadOf = dice => ({
  event: dice.pick(EVENTS),
  installation: {
    id: `installation-${dice.below(50)}`,
    appId: APP_ID,
    permissions: { organization_info: 'VIEW' },
    organization: { id: `organization-${dice.below(50)}`, fullName: 'Harbour Wind' },
    accessTokensUrl: 'undefined/app/installations/x/accessTokens',
  },
  sender: { id: 'user-1', email: 'ann@example.org', fullName: 'Ann', profilePicture: null },
});

/**
 * Returns a post that was mutated before signing, in the signed text, in other fields, in its headers, or in its bytes.
 * @param {Dice} dice
 * @returns {Post}
 */
function makePost(dice) {
  const payload = payloadOf(dice);
  const kind = dice.below(100);
  if (kind < 10) return { ...signed(JSON.stringify(payload)), isGenuine: true };
  if (kind < 40) return signed(mutateJson(dice, payload));
  if (kind < 50) return signed(damageBytes(dice, Buffer.from(JSON.stringify(payload))));
  if (kind < 58)
    return signedText(
      dice.chance(0.5) ? randomText(dice) : damageBytes(dice, base64(payload)).toString('latin1'),
    );
  if (kind < 66) return around(randomJson(dice), dice);
  const post = signed(JSON.stringify(payload));
  if (kind < 78) return { ...post, body: damageBytes(dice, Buffer.from(post.body)) };
  if (kind < 92) return { ...post, headers: mutateHeaders(dice, post.headers) };
  return { ...post, raw: damageBytes(dice, bytesOf(dice, post)) };
}

/** @param {object} payload */
const base64 = payload => Buffer.from(Buffer.from(JSON.stringify(payload)).toString('base64'));
/** @param {string | Buffer} text */
const signed = text => signedText(Buffer.from(text).toString('base64'));
/** @param {string} text */
const sign = text => `sha256=${createHmac('sha256', SECRET).update(text).digest('hex')}`;

/**
 * @param {string} text
 * @returns {Post}
 */
function signedText(text) {
  const headers = { 'content-type': 'application/json', 'x-registry-signature-256': sign(text) };
  return { body: Buffer.from(JSON.stringify({ signedData: text })), headers };
}

/**
 * @param {string} body
 * @param {Dice} dice
 * @returns {Post}
 */
function around(body, dice) {
  const headers = { 'content-type': 'application/json', 'x-registry-signature-256': sign(body) };
  return { body: Buffer.from(dice.chance(0.5) ? `{"signedData":${body}}` : body), headers };
}

/** @param {Dice} dice */
function randomText(dice) {
  return Array.from({ length: dice.below(200) }, () =>
    String.fromCharCode(dice.below(dice.chance(0.9) ? 128 : 65_536)),
  ).join('');
}

/**
 * @param {Dice} dice
 * @param {Post['headers']} headers
 */
function mutateHeaders(dice, headers) {
  const name = dice.pick([
    'content-type',
    'x-registry-signature-256',
    'x-icr-signature-256',
    'content-encoding',
    'expect',
    'accept',
  ]);
  const values = [
    '',
    'text/plain',
    'application/json; charset=utf-16',
    'gzip',
    'sha256=',
    'sha1=00',
    'x'.repeat(9_000),
    'identity',
    '100-continue',
  ];
  const value = dice.chance(0.6)
    ? dice.pick(values)
    : damageBytes(dice, Buffer.from(headers[name] ?? 'sha256=00')).toString('latin1');
  return { ...headers, [name]: value.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '') };
}

/**
 * @param {Dice} dice
 * @param {Post} post
 */
function bytesOf(dice, { body, headers }) {
  const start = `${dice.pick(['POST', 'GET', 'PUT', 'OPTIONS', 'QUERY'])} ${dice.pick(['/webhooks', '/', '/%ff', '//x', '/webhooks?a', '*'])} HTTP/1.1`;
  const lines = [
    start,
    'host: 127.0.0.1',
    ...Object.entries(headers).map(each => each.join(': ')),
    `content-length: ${body.length}`,
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\nconnection: close\r\n\r\n`), body]);
}

/**
 * @param {number} port
 * @param {Agent} agent
 * @param {Post} post
 */
async function send(port, agent, post) {
  if (post.raw) return await sendBytes(port, post.raw);
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await sendPost(port, agent, post);
    } catch (error) {
      if (attempt === 3) return { status: 599, text: String(error) };
    }
  }
}

/**
 * @param {number} port
 * @param {Agent} agent
 * @param {Post} post
 * @returns {Promise<Answer>}
 */
function sendPost(port, agent, { body, headers }) {
  return new Promise((resolve, reject) => {
    const options = { port, host: '127.0.0.1', method: 'POST', path: '/webhooks', agent };
    const sending = request(
      { ...options, headers: { ...headers, 'content-length': body.length } },
      response => {
        let text = '';
        response.setEncoding('utf8').on('data', chunk => (text += chunk));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text })).on('error', reject);
      },
    );
    sending.on('error', reject).end(body);
  });
}

/**
 * An incomplete request gets no answer at once, so half a second is enough to wait for one.
 * @param {number} port
 * @param {Buffer} bytes
 * @returns {Promise<Answer>}
 */
function sendBytes(port, bytes) {
  return new Promise(resolve => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    const end = () => {
      socket.destroy();
      resolve({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0), text });
    };
    socket.setTimeout(500, end);
    socket.on('data', chunk => (text += chunk.toString('latin1')));
    socket.on('error', () => undefined).on('close', end);
  });
}

/** @param {Post} post */
function describe({ body, headers, raw }) {
  return raw
    ? raw.toString('latin1').slice(0, 1_500)
    : `${JSON.stringify(headers)}\n${body.toString('latin1').slice(0, 1_000)}`;
}

/** @param {number | undefined} pid */
function memoryMb(pid) {
  return Math.round(
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_000,
  );
}
