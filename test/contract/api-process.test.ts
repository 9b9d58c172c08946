import { randomBytes } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startApi } from '../../src/app/api.js';
import { createChildEnvironment, readSettings } from '../../src/app/config/read-settings.js';
import { createLog } from '../../src/app/log.js';
import { createToken, hashToken } from '../../src/inbox/token.js';
import { openEngine } from '../../src/store/open-engine.js';
import { createMask } from '../../src/text/mask.js';
import { EVERYTHING } from '../support/api.js';
import { createSecretSearch } from '../support/secret-search.js';
import { ENGINES, openFilledMirror } from '../support/mirror/open.js';

test('T111 the process of the API gets no private key and no webhook secret', async () => {
  const secrets = {
    REGISTRY_PRIVATE_KEY: 'the private key',
    REGISTRY_PRIVATE_KEY_FILE: 'key.pem',
    WEBHOOK_SECRETS: 'the webhook secret',
    EVIDENCE_KEY_FILE: 'evidence.key',
  };
  const env = createChildEnvironment({ ...secrets, API_PORT: '9060', OPERATIONS_PORT: '9081' }, 'api');
  expect(env).toEqual({ API_PORT: '9060', OPERATIONS_PORT: '9083' });
  const settings = await readSettings({ ...env, ...secrets }, 'api');
  expect(JSON.stringify(settings)).not.toMatch(/the private key|the webhook secret/);
});

/** If it is in use, the next free port is taken. */
const OPERATIONS_PORT = '18983';

async function startScene() {
  const { env, inbox } = await openFilledMirror();
  const { DATA_DIR: dataDir, MIRROR_DATABASE_URL: url } = env;
  const database = url === undefined ? null : { url, queryUrl: null, pool: null };
  const token = createToken(randomBytes);
  await inbox.tokens.create({ ...EVERYTHING, name: 'shop' }, hashToken(token));
  const lines: string[] = [];
  const sink = { write: (line: string) => lines.push(line) };
  const log = createLog({ level: 'trace', mask: createMask([]), now: Date.now, pretty: false, sink });
  const settings = await readSettings({ API_PORT: '0', OPERATIONS_PORT, DATA_DIR: dataDir }, 'api');
  const engine = openEngine({ dataDir, diskReserveMb: null, database });
  const options = { ...settings, engine, mayUseNextPort: false, version: '0.0.0-test' };
  const running = await startApi(options, { log, now: Date.now });
  onTestFinished(() => running.stop());
  const get = (path: string, sent = token) =>
    fetch(`http://127.0.0.1:${running.port}${path}`, { headers: { authorization: `Bearer ${sent}` } });
  return { running, get, token, inbox, lines };
}

describe.each(ENGINES)('$name', () => {
  test('the API answers, is ready, counts refusals and stores the last use of a token when it stops', async () => {
    const { running, get, inbox } = await startScene();
    expect(await (await get('/v1/retirements')).json()).toMatchObject({ totals: { rows: 3 } });
    expect((await get('/v1/retirements', createToken(randomBytes))).status).toBe(401);
    const operations = `http://127.0.0.1:${running.operationsPort}`;
    expect((await fetch(`${operations}/readyz`)).status).toBe(200);
    expect(await (await fetch(`${operations}/metrics`)).text()).toContain(
      'api_refusals_total{reason="unknown_token"} 1',
    );
    await running.stop();
    expect((await inbox.tokens.list()).map(({ lastUsedAt }) => lastUsedAt)).toEqual([
      expect.stringMatching(/^\d{4}-/),
    ]);
  });

  test('T106 no token is logged, wherever it was sent', async () => {
    const { get, token, lines } = await startScene();
    for (const path of [
      `/v1/retirements?token=${token}`,
      `/v1/${token}`,
      `/v1/retirements/${token}`,
      '/v1/retirements/%E0%A4%A',
      '/v1/changes?wait=1&after=0',
    ])
      await get(path);
    expect(lines.length).toBeGreaterThan(0);
    expect(createSecretSearch([token]).find('the log', lines.join('\n'))).toEqual([]);
  });
});
