import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startReceive } from '../../src/app/receive.js';
import { startWork } from '../../src/app/work.js';
import { readSettings } from '../../src/config/config.js';
import { createMask } from '../../src/registry/http/mask.js';
import { createLog } from '../../src/log/log.js';
import type { Sandbox } from '../../src/sandbox/start.js';
import { freePort } from './processes.js';
import { ALL_PERMISSIONS, registerApp, startTestSandbox } from './sandbox.js';
import { type Tables, tablesIn } from './tables.js';

export interface DemoMirror extends Tables {
  readonly folder: string;
  /** The settings with which the programs run; commands take the same. */
  readonly env: Record<string, string>;
  readonly sandbox: Sandbox;
  readonly appId: string;
  /** Of the worker; null unless asked for. */
  readonly operationsPort: number | null;
  readonly receiverOperationsPort: number | null;
  /** Ids of the organizations, as the sandbox lists them. */
  readonly organizationIds: readonly string[];
  stop(): Promise<void>;
}

const SECRET = 'a webhook secret of the demo mirror';
const DEADLINE_MS = 50_000;

/** The demo world, mirrored by the real programs in this process: sandbox, receiver and worker over real HTTP. */
export async function startDemoMirror({ operations = false } = {}): Promise<DemoMirror> {
  const folder = mkdtempSync(join(tmpdir(), 'carbon-mirror-demo-'));
  const { sandbox, stop } = await startTestSandbox({ seed: 7 });
  const app = registerApp(sandbox, { permissions: ALL_PERMISSIONS, webhookSecret: SECRET });
  const env = {
    REGISTRY_BASE_URL: sandbox.url,
    REGISTRY_APP_ID: app.id,
    REGISTRY_PRIVATE_KEY: app.privateKey,
    REGISTRY_REQUESTS_PER_SECOND: '1000',
    WEBHOOK_SECRETS: SECRET,
    DATA_DIR: folder,
    PORT: '0',
    OPERATIONS_PORT: '0',
  };
  const log = createLog({ level: 'silent', mask: createMask([]), now: Date.now, pretty: false });
  const tools = { log, now: Date.now };
  const port = async () => (operations ? String(await freePort()) : '0');
  const receive = await startReceive(
    await readSettings({ ...env, OPERATIONS_PORT: await port() }, 'receive'),
    tools,
  );
  const work = await startWork(await readSettings({ ...env, OPERATIONS_PORT: await port() }, 'work'), tools);
  sandbox.registry.apps.change(app.id, { webhookUrl: `http://127.0.0.1:${receive.port}/webhooks` });
  const organizationIds = sandbox.registry.organizations.all().map(({ id }) => id);
  for (const id of organizationIds) sandbox.registry.installations.install(app.id, id);

  const tables = tablesIn(folder);
  await until(
    async () =>
      (await tables.rows(UNFINISHED)).length === 0 &&
      (await tables.rows('SELECT 1 FROM certificates')).length > 0 &&
      (await tables.rows(AT_WORK)).length === 0,
  );
  return {
    folder,
    env: { ...env, PORT: String(receive.port) },
    sandbox,
    appId: app.id,
    operationsPort: work.operationsPort,
    receiverOperationsPort: receive.operationsPort,
    organizationIds,
    ...tables,
    stop: async () => {
      await work.stop();
      await receive.stop();
      await stop();
      rmSync(folder, { recursive: true });
    },
  };
}

const UNFINISHED = `
  SELECT 'resource' FROM freshness WHERE state <> 'current' OR resource IS NULL
  UNION ALL SELECT 'certificate' FROM certificates_missing WHERE state = 'pending'`;

/** A read that comes a moment later would mend what a test has broken. */
const AT_WORK = `
  SELECT 1 FROM jobs WHERE state = 'claimed' OR (state = 'ready' AND unixepoch(run_at) <= unixepoch('now') + 5)`;

async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error('the demo world was not mirrored in time');
    await new Promise(resolve => setTimeout(resolve, 50));
  }
}
