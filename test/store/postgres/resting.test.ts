import { expect, test } from 'vitest';
import { payloadOf, installationOf, signedPost } from '../../support/receiver.js';
import { temporaryFolder } from '../../support/inbox.js';
import { openForTest, createDatabase } from '../../support/postgres.js';
import { startProcess } from '../../support/processes.js';

const SECRET = 'a webhook secret of the flow';
const PASSWORD = 'a-password-of-the-flow';

/** Ends idle connections as an operator would; connections with a running query are not ended. */
const END_IDLE = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND state = 'idle' AND application_name = $1`;

/** A process with idle connections that are ended: its messages about that, and all others. */
async function withoutConnections(argv: readonly string[], role: string, ready: RegExp) {
  const database = await createDatabase();
  const env = {
    MIRROR_DATABASE_URL: database.url.replace('//postgres@', `//postgres:${PASSWORD}@`),
    REGISTRY_APP_ID: 'app-1',
    WEBHOOK_SECRETS: SECRET,
    DATA_DIR: temporaryFolder(),
    PORT: '0',
    CONSOLE_PORT: '0',
    OPERATIONS_PORT: '0',
  };
  const started = startProcess(argv, env);
  const owner = openForTest(database, 1);
  const told = () => started.output().match(/^.*database connection (?:was )?lost.*$/gim) ?? [];
  const cut = async () => {
    await owner.query(END_IDLE, [`carbon-mirror ${role}`]);
    return told().length;
  };
  await expect.poll(() => started.output()).toMatch(ready);
  await expect.poll(cut).toBeGreaterThan(0);
  return { started, owner, told };
}

test('a receiver whose idle connections are closed by the server logs that without a secret, and continues', async () => {
  const { started, told, owner } = await withoutConnections(['receive'], 'receive', /receiver started/);
  const { port } = await started.waitForLine(({ msg }) => msg === 'receiver started');
  /** A connection that writes before it has read the end reports a broken pipe. */
  const code = expect.stringMatching(/^(?:57P01|EPIPE|ECONNRESET)$/);
  expect(JSON.parse(told()[0] ?? '')).toMatchObject({ level: 'warn', error: { code } });
  const deliver = async () => {
    const installation = installationOf({ appId: 'app-1' });
    const { body, headers } = signedPost(payloadOf({ installation }), { secret: SECRET });
    const how = { method: 'POST', body, headers: { ...headers, 'content-type': 'application/json' } };
    return (await fetch(`http://127.0.0.1:${String(port)}/webhooks`, how)).status;
  };
  await expect.poll(deliver).toBe(202);
  expect(await owner.query('SELECT count(*) AS rows FROM inbox.deliveries')).toEqual([{ rows: 1 }]);
  expect(started.child.exitCode).toBeNull();
  for (const secret of [SECRET, PASSWORD]) expect(started.output()).not.toContain(secret);
});

test('a console whose idle connections are closed by the server prints that to stderr, and continues', async () => {
  const { started, told } = await withoutConnections(['console'], 'command', /Open http:/);
  expect(started.stderr()).toContain(told()[0]);
  expect(started.child.exitCode).toBeNull();
  expect(started.output()).not.toContain(PASSWORD);
});
