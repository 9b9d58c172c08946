import { expect, test } from 'vitest';
import { createConsoleActions } from '../../src/app/console-actions.js';
import { createDemoActions } from '../../src/cli/commands/demo/demo-actions.js';
import { createClient } from '../../src/client.js';
import { readSettings } from '../../src/app/config/read-settings.js';
import { openEngine } from '../../src/store/open-engine.js';
import { createControlClient } from '../../src/sandbox/control/control-client.js';
import { getPageText, visitConsole } from '../support/console.js';
import { startDemoForFile } from '../support/mirror/demo.js';

const demo = await startDemoForFile();

async function stage() {
  const engine = openEngine({ dataDir: demo.folder, diskReserveMb: null, database: null });
  const actions = createConsoleActions(() => engine.openInbox(Date.now), { info: () => undefined });
  const connect = async () =>
    createClient({ ...(await readSettings(demo.env, 'live')), now: Date.now, random: Math.random });
  const control = createControlClient(demo.sandbox.url);
  const demoActions = createDemoActions({
    connect,
    control,
    appId: demo.appId,
    sync: actions(null).requestSyncs,
  });
  const visit = await visitConsole(engine.openReader, { demoActions, actions, now: Date.now });
  const words = async (path: string) => getPageText(await (await visit.open(path)).text());
  return { ...visit, words };
}

const RETIRED = "SELECT count(*) FROM retirements WHERE beneficiary = 'A visitor of the demo'";
const PROVEN = `SELECT count(*) FROM retirements AS r JOIN certificates AS c ON c.retirement_id = r.id
  WHERE r.beneficiary = 'A visitor of the demo' AND c.state = 'stored'`;
const HELD = "SELECT count(*) FROM reservations_now WHERE state_now = 'outstanding'";
const INSTALLED = "SELECT count(*) FROM freshness WHERE resource = 'warehouse' AND state = 'fresh'";
const TOLD = 'SELECT count(*) FROM inbox.deliveries';

test('the retire button retires a tonne, and the mirror receives the retirement and its certificate', async () => {
  const { send, words } = await stage();
  expect(await words('/demo')).toContain('Retire 1 t and watch');
  expect(await words('/demo')).not.toContain('simulated clock');
  await demo.change('UPDATE origin SET simulated_until = ?', '2026-05-04T12:00:00.000Z');
  expect(await words('/demo')).toContain(
    'The history until 4 May 2026, 12:00:00.000 UTC was played with a simulated clock',
  );
  expect((await send('/demo/retire')).headers.get('location')).toBe('/demo');
  expect(await words('/demo')).toContain('1 t was retired for A visitor of the demo.');
  await expect.poll(() => demo.value(PROVEN)).toBe(1);
  expect(await words('/demo')).toContain('for A visitor of the demo');
});

test('the reserve button reserves a tonne, and the finish button retires it', async () => {
  const { send, words } = await stage();
  const [retired, reserved] = [Number(await demo.value(RETIRED)), Number(await demo.value(HELD))];
  await send('/demo/finish');
  expect(await words('/demo')).toContain('Nothing is reserved. Reserve 1 t first.');
  await send('/demo/reserve');
  await expect.poll(() => demo.value(HELD)).toBe(reserved + 1);
  await send('/demo/finish');
  await expect.poll(() => demo.value(RETIRED)).toBe(retired + 1);
});

test('the lose button drops a webhook, and the mirror learns of the retirement by the next read', async () => {
  const { send, words } = await stage();
  const [retired, deliveries] = [Number(await demo.value(RETIRED)), Number(await demo.value(TOLD))];
  await send('/demo/lose');
  expect(await words('/demo')).toContain('1 t was retired, and its webhook was dropped.');
  await expect.poll(() => demo.sandbox.registry.deliveries.list(1)[0]?.state).toBe('dropped');
  expect([await demo.value(RETIRED), await demo.value(TOLD)]).toEqual([retired, deliveries]);
  await send('/read-now');
  await expect.poll(() => demo.value(RETIRED)).toBe(retired + 1);
});

test('the install button adds an organization, and the mirror reads it', async () => {
  const { send, words } = await stage();
  const before = Number(await demo.value(INSTALLED));
  await send('/demo/install');
  expect(await words('/demo')).toMatch(/Customer [0-9a-f]{8} has installed the app\./);
  await expect.poll(() => demo.value(INSTALLED)).toBe(before + 1);
});

test('a refused action is shown as failed, and an unknown action is not found', async () => {
  const refusing = {
    name: 'no',
    label: 'No',
    description: '',
    run: async () => Promise.reject(new Error('409')),
  };
  const engine = openEngine({ dataDir: demo.folder, diskReserveMb: null, database: null });
  const { send, open } = await visitConsole(engine.openReader, { demoActions: [refusing] });
  await send('/demo/no');
  expect(await (await open('/demo')).text()).toContain('Failed: 409');
  expect((await send('/demo/yes')).status).toBe(404);
});

test('the demo page does not exist if the registry is no sandbox', async () => {
  const engine = openEngine({ dataDir: demo.folder, diskReserveMb: null, database: null });
  const { open, send } = await visitConsole(engine.openReader);
  expect((await open('/demo')).status).toBe(404);
  expect((await send('/demo/retire')).status).toBe(404);
  expect(await (await open('/')).text()).not.toContain('/demo');
});
