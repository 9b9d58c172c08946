import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { temporaryFolder } from './inbox.js';
import { findFreePort, type StartedProcess, startProcess } from './processes.js';
import { ALL_PERMISSIONS } from './sandbox.js';
import { type Tables, openTablesIn, withOpenTables } from './tables.js';

export const PROCFILE_SECRET = 'a webhook secret for three processes';

const UNFINISHED = `SELECT 1 FROM freshness WHERE state <> 'fresh'
  UNION ALL SELECT 1 FROM certificates WHERE state = 'pending'`;

type Environment = Record<string, string>;

/** A registry and the two programs of the Procfile, each a process of its own. */
export interface ProcfileProcesses extends Tables {
  readonly sandbox: StartedProcess;
  readonly dataDir: string;
  /** The environment of both programs and of every command. */
  readonly env: Environment;
  readonly url: string;
  readonly webhookUrl: string;
  readonly privateKey: string;
  readonly operationsPorts: { readonly web: number; readonly worker: number };
  start(name: 'web' | 'worker', env?: Environment): StartedProcess;
  /** Calls the control API of the sandbox. */
  callControl(route: string, body?: object): Promise<Record<string, unknown>>;
  listOrganizationIds(): Promise<string[]>;
  installEverywhere(): Promise<void>;
  waitUntilFilled(): Promise<void>;
}

/** Returns the arguments of a line of the Procfile, without `exec node dist/main.js`. */
export function readProcfileCommand(name: string): string[] {
  const text = readFileSync(new URL('../../Procfile', import.meta.url), 'utf8');
  const [exec, node, main, ...argv] = (new RegExp(`^${name}: (.+)$`, 'm').exec(text)?.[1] ?? '').split(' ');
  expect([exec, node, main]).toEqual(['exec', 'node', 'dist/main.js']);
  return argv;
}

export async function startSandboxProcess(size: readonly string[]): Promise<ProcfileProcesses> {
  const folder = temporaryFolder();
  const dataDir = join(folder, 'data');
  const argv = [
    'sandbox',
    'start',
    '--port',
    '0',
    '--folder',
    join(folder, 'registry'),
    '--strict',
    '--json',
  ];
  const sandbox = startProcess([...argv, ...size], {});
  const url = String((await sandbox.waitForLine(line => 'url' in line))['url']);
  const control = createControl(url);
  const port = await findFreePort();
  const webhookUrl = `http://127.0.0.1:${port}/webhooks`;
  const app = await control('POST /apps', {
    name: 'three-processes',
    permissions: ALL_PERMISSIONS,
    webhookUrl,
    webhookSecret: PROCFILE_SECRET,
    generateKey: true,
  });
  const operationsPorts = { web: await findFreePort(), worker: await findFreePort() };
  const env = {
    REGISTRY_BASE_URL: url,
    REGISTRY_APP_ID: String(app['id']),
    REGISTRY_PRIVATE_KEY_FILE: String(app['privateKeyFile']),
    REGISTRY_REQUESTS_PER_SECOND: '1000',
    WEBHOOK_SECRETS: PROCFILE_SECRET,
    DATA_DIR: dataDir,
    PORT: String(port),
  };
  const tables = openTablesIn(dataDir);
  const listOrganizationIds = async (): Promise<string[]> => {
    const answer = await control('GET /organizations');
    if (!Array.isArray(answer['organizations'])) throw new Error('the sandbox listed no organizations');
    return answer['organizations'].map(({ id }) => String(id));
  };
  return {
    sandbox,
    dataDir,
    env,
    url,
    webhookUrl,
    privateKey: readFileSync(env.REGISTRY_PRIVATE_KEY_FILE, 'utf8'),
    operationsPorts,
    start: (name, extra = {}) =>
      startProcess(readProcfileCommand(name), {
        ...env,
        OPERATIONS_PORT: String(operationsPorts[name]),
        ...extra,
      }),
    callControl: control,
    listOrganizationIds: listOrganizationIds,
    async installEverywhere() {
      for (const organizationId of await listOrganizationIds()) {
        await control('POST /installations', { appId: app['id'], organizationId });
      }
    },
    ...tables,
    async waitUntilFilled() {
      const count = async (source: Tables, sql: string) => (await source.rows(sql)).length;
      await expect.poll(() => count(tables, 'SELECT 1 FROM certificates LIMIT 1')).toBe(1);
      await withOpenTables(dataDir, async open => {
        await expect.poll(() => count(open, UNFINISHED)).toBe(0);
      });
    },
  };
}

function createControl(url: string): ProcfileProcesses['callControl'] {
  return async (route, body) => {
    const [method = '', path = ''] = route.split(' ');
    const answer = await fetch(`${url}/_sandbox${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const responseBody: Record<string, unknown> = JSON.parse(await answer.text());
    expect(answer.status, `${route} ${JSON.stringify(responseBody)}`).toBe(200);
    return responseBody;
  };
}
