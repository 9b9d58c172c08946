import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { installationOf, payloadOf, signedPost } from '../support/receiver.js';
import { PROCFILE_SECRET, type ProcfileProcesses, startSandboxProcess } from '../support/procfile.js';
import type { StartedProcess } from '../support/processes.js';
import { startProxy } from '../support/proxy.js';
import { createPrivateKey } from '../support/sandbox.js';
import { createSecretSearch, type SecretSearch } from '../support/secret-search.js';

const CANARY = 'crs_canaryInTheMineSingsNoMore';
const FORGED_SECRET = 'a secret that the sender made up';
const AT_WORK = "SELECT 1 FROM jobs WHERE state = 'running'";
const FAILED_OFTEN = `UPDATE jobs SET attempts = 10, run_at = '2000-01-01T00:00:00.000Z'
  WHERE state IN ('waiting', 'running') AND kind = 'installation'`;
const COMMANDS = [
  ['status', '--json'],
  ['doctor', '--json'],
  ['jobs', 'list', '--json'],
  ['deliveries', 'list', '--json'],
  ['installations', 'list', '--json'],
  ['verify', '--against-registry', '--json'],
];

let processes: ProcfileProcesses;
let started: StartedProcess[];

async function begin(): Promise<void> {
  processes = await startSandboxProcess(['--seed', '9', '--organizations', '2', '--retirements', '30']);
  started = [processes.sandbox];
}

function start(name: 'web' | 'worker', env: Record<string, string> = {}): StartedProcess {
  const process = processes.start(name, { LOG_LEVEL: 'trace', ...env });
  started.push(process);
  return process;
}

async function post(event: string, installation: string, secret: string): Promise<string> {
  const appId = processes.env['REGISTRY_APP_ID'];
  const payload = payloadOf({ event, installation: installationOf({ id: installation, appId }) });
  const { body, headers } = signedPost(payload, { secret });
  const answer = await fetch(processes.webhookUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${CANARY}`, ...headers },
    body,
  });
  return `${answer.status} ${JSON.stringify([...answer.headers])} ${await answer.text()}`;
}

/** Returns everything of the program that a person or another program can read. */
async function readEverything(baseUrl = processes.url): Promise<[string, string | Buffer][]> {
  const { dataDir, operationsPorts } = processes;
  const env = { ...processes.env, REGISTRY_BASE_URL: baseUrl };
  const outputs = started.map((process, n): [string, string] => [`output of process ${n}`, process.output()]);
  const files = readdirSync(dataDir, { recursive: true, encoding: 'utf8' })
    .map(name => join(dataDir, name))
    .filter(file => statSync(file).isFile())
    .map((file): [string, Buffer] => [file, readFileSync(file)]);
  const pages: [string, string][] = [];
  for (const port of Object.values(operationsPorts)) {
    for (const path of ['metrics', 'readyz', 'livez', 'nothing']) {
      pages.push([path, await (await fetch(`http://127.0.0.1:${port}/${path}`)).text()]);
    }
  }
  const ids = (table: string) => processes.rows(`SELECT id FROM ${table} ORDER BY id DESC LIMIT 4`);
  const idsByCommand = [
    ['jobs', await ids('jobs')] as const,
    ['deliveries', await ids('deliveries')] as const,
  ].flatMap(([table, found]) => found.map(({ id }) => [table, 'show', String(id), '--json']));
  const commands: [string, string][] = [];
  for (const argv of [...COMMANDS, ...idsByCommand]) {
    const { stdout, stderr } = await runCommand(argv, { env });
    expect(`${stdout}${stderr}`, argv.join(' ')).not.toBe('');
    commands.push([argv.join(' '), stdout + stderr]);
  }
  return [...outputs, ...files, ...pages, ...commands];
}

function findIn(search: SecretSearch, places: readonly (readonly [string, string | Buffer])[]): string[] {
  return places.flatMap(([place, content]) => search.find(place, content));
}

test('T69 no log, file, page or command shows a secret, token, JWT or key after faults of every kind', async () => {
  await begin();
  const wrongKey = createPrivateKey();
  const search = createSecretSearch([PROCFILE_SECRET, FORGED_SECRET, processes.privateKey, wrongKey]);
  const web = start('web');
  const worker = start('worker');
  await web.waitForLine(line => line['msg'] === 'receiver started');
  await worker.waitForLine(line => line['msg'] === 'worker started');
  await processes.installEverywhere();
  await processes.waitUntilFilled();
  const { installations } = await processes.callControl('GET /installations');
  const installation = String(Array.isArray(installations) ? installations.at(-1).id : '');

  const answers: [string, string][] = [
    ['a forged post', await post('suspended', installation, FORGED_SECRET)],
  ];
  expect(answers[0]?.[1]).toMatch(/^401 /);
  for (const status of [401, 403]) {
    const body = { statusCode: status, message: `no to Bearer ${CANARY}`, error: 'No' };
    await processes.callControl('POST /faults', {
      path: '/organizations/**',
      count: 2,
      kind: 'status',
      options: { status, body },
    });
    answers.push([
      `a post before ${status}`,
      await post('newPermissionsAccepted', installation, PROCFILE_SECRET),
    ]);
    await expect
      .poll(() => processes.callControl('GET /faults'))
      .toMatchObject({ faults: [{ remaining: 0 }] });
    await processes.callControl('DELETE /faults');
    await expect.poll(() => processes.rows(AT_WORK)).toEqual([]);
  }
  const body = { statusCode: 500, message: `broken: ${CANARY}`, error: 'Broken' };
  await processes.callControl('POST /faults', {
    path: '/app/installations/*',
    kind: 'status',
    options: { status: 500, body },
  });
  answers.push(['a post before trouble', await post('warehouseTransaction', installation, PROCFILE_SECRET)]);
  const failed = "SELECT 1 FROM jobs WHERE state = 'failed'";
  await expect
    .poll(async () => {
      await processes.change(FAILED_OFTEN);
      return await processes.rows(failed);
    })
    .not.toEqual([]);
  await processes.callControl('DELETE /faults');
  worker.child.kill('SIGTERM');
  expect(await worker.ended).toBe(0);
  const stranger = start('worker', { REGISTRY_PRIVATE_KEY_FILE: '', REGISTRY_PRIVATE_KEY: wrongKey });
  await stranger.waitForLine(line => line['msg'] === 'worker started');
  answers.push(['a post before a wrong key', await post('installed', installation, PROCFILE_SECRET)]);
  const refused = "SELECT 1 FROM jobs WHERE error_or_pause_code = 'unauthorized'";
  await expect.poll(() => processes.rows(refused)).not.toEqual([]);

  const places = [...answers, ...(await readEverything())];
  expect(places.length).toBeGreaterThan(20);
  expect(findIn(search, places)).toEqual([]);

  await processes.change(`UPDATE jobs SET last_error = 'planted ${CANARY}' WHERE state = 'failed'`);
  const found = findIn(search, await readEverything());
  expect(found.some(where => where.includes('inbox.db'))).toBe(true);
  expect(found.some(where => where.includes('jobs show'))).toBe(true);
});

/** Returns the forms in which a registry could echo a text that it received, and a text that it cannot know. */
function echoesOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [
    secret,
    bytes.toString('base64'),
    Buffer.from(`:${secret}`).toString('base64'),
    Buffer.from(`a:${secret}`).toString('base64'),
    bytes.toString('base64url'),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    encodeURIComponent(secret),
  ];
}

/** Creates a registry answer that echoes the credential of each call about an organization, in one form after the other. */
function createEcho(key: string) {
  const sent = new Set<string>();
  const pieces = key.split('\n').slice(3, 5);
  let turn = 0;

  function echo(): string {
    const jwts = [...sent].filter(each => each.startsWith('eyJ'));
    const tokens = [...sent].filter(each => !each.startsWith('eyJ'));
    const secrets = [tokens.at(-1) ?? '', jwts.at(-1) ?? '', ...(jwts.at(-1) ?? '').split('.'), ...pieces];
    const echoes = secrets.flatMap(echoesOf);
    turn += 1;
    return echoes[turn % echoes.length] ?? '';
  }

  return {
    sent,
    turns: () => turn,
    answer: (path: string, authorization: string) => {
      sent.add(authorization.replace(/^Bearer /, ''));
      if (!path.startsWith('/organizations/')) return null;
      const echoed = echo();
      /** `api` prints an answer unchanged, but reports a refusal as an error. */
      if (turn % 3 === 0 && !path.startsWith('/organizations/none/')) return JSON.stringify({ echoed });
      const statusCode = turn % 3 === 1 ? 400 : 409;
      const body = { statusCode, message: `you sent "${echoed}", and that is no good`, error: 'No' };
      return { status: statusCode, text: JSON.stringify(body) };
    },
  };
}

test('T69 credentials that a registry echoes in any form are stored and shown nowhere', async () => {
  await begin();
  const echo = createEcho(processes.privateKey);
  const hostile = await startProxy(processes.url, echo.answer);
  start('web');
  const worker = start('worker', { REGISTRY_BASE_URL: hostile, REGISTRY_REQUESTS_PER_SECOND: '50' });
  await worker.waitForLine(line => line['msg'] === 'worker started');
  await processes.installEverywhere();
  await expect
    .poll(async () => {
      await processes.change(
        "UPDATE jobs SET attempts = 0, run_at = '2000-01-01T00:00:00.000Z' WHERE state IN ('waiting', 'paused')",
      );
      return echo.turns();
    })
    .toBeGreaterThan(112);

  /** Each process knows only the credentials that it sent itself, so no other process may receive the answers. */
  const due = "state = 'running' OR state IN ('waiting', 'paused') AND run_at < '2100'";
  await expect
    .poll(async () => {
      await processes.change("UPDATE jobs SET run_at = '2100-01-01T00:00:00.000Z' WHERE state <> 'running'");
      return await processes.rows(`SELECT 1 FROM jobs WHERE ${due}`);
    })
    .toEqual([]);
  const places = await readEverything(hostile);
  worker.child.kill('SIGTERM');
  expect(await worker.ended).toBe(0);
  for (const argv of [
    ['reservations', 'cancel', 'none', '--organization', 'none', '--yes'],
    ['sync', '--full', '--json'],
  ]) {
    const env = { ...processes.env, REGISTRY_BASE_URL: hostile };
    const { stdout, stderr } = await runCommand(argv, { env });
    places.push([argv.join(' '), stdout + stderr]);
  }
  const stored = await processes.rows('SELECT error FROM syncs WHERE error IS NOT NULL');
  expect(JSON.stringify(stored)).toContain('you sent');
  expect(JSON.stringify(stored)).toContain('[masked]');
  const answers = await processes.rows("SELECT 1 FROM resource_states WHERE answer_text LIKE '%echoed%'");
  expect(answers).not.toEqual([]);
  expect(echo.sent.size).toBeGreaterThan(2);
  const search = createSecretSearch([PROCFILE_SECRET, processes.privateKey, ...echo.sent].filter(Boolean));
  expect(findIn(search, places)).toEqual([]);
});

test('the secret search finds planted secrets in every form', () => {
  const key = createPrivateKey();
  const search = createSecretSearch([PROCFILE_SECRET, key]);
  const line = key.split('\n')[3] ?? '';
  const jwt = `eyJhbGciOiJSUzI1NiJ9.${Buffer.from('{"iss":"app"}').toString('base64url')}.c2lnbmF0dXJl`;
  for (const planted of [
    PROCFILE_SECRET,
    encodeURIComponent(PROCFILE_SECRET),
    Buffer.from(PROCFILE_SECRET).toString('hex'),
    Buffer.from(`x ${PROCFILE_SECRET} y`).toString('base64'),
    line,
    Buffer.from(line).toString('base64url'),
    CANARY,
    Buffer.from(CANARY).toString('base64'),
    jwt,
    key,
  ]) {
    expect(search.find('here', Buffer.from(`before ${planted} after`)), planted).not.toEqual([]);
  }
  expect(search.find('here', 'an ordinary line of the log')).toEqual([]);
});
