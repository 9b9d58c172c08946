import { expect, test } from 'vitest';
import { createInstallationJob } from '../../src/inbox/job.js';
import { startInstalled } from '../support/program.js';
import { startProxy } from '../support/proxy.js';

const AMOUNTS = ['9007199254740993', '0.1', '1e400', '-0', '"1,5"', '0.123456789012345678', 'null'];
const TEXTS = ["Robert'); DROP TABLE warehouse_credits;--", '=HYPERLINK("x")', '\u0000\ud800', 'Ünïcode 😀'];

/** Reads a warehouse whose response holds exactly these credits. */
async function readWarehouse(credits: readonly string[]) {
  let answer: string | null = null;
  const installed = await startInstalled({ receiveOnly: true });
  const { program, installationId, organizationId } = installed;
  const baseUrl = await startProxy(program.sandbox.url, path =>
    path.endsWith('/warehouse/inventory') ? answer : null,
  );
  answer = `{"credits":[${credits.join(',')}],"organizationId":"${organizationId}"}`;
  await program.startWorker({ baseUrl });
  await program.inbox.enqueue([createInstallationJob(installationId, organizationId, 'person')]);
  await program.rest();
  return program;
}

test('T67 amounts keep their exact digits, and an unusable amount keeps its row with a fault', async () => {
  const credits = AMOUNTS.map(
    (amount, index) => `{"id":"exPost-${index}-0xab","amount":${amount},"extra":${amount}}`,
  );
  const program = await readWarehouse(credits);
  const rows = await program.rows(
    'SELECT amount_exact, CAST(amount_micro AS TEXT) AS micro, fault IS NULL AS usable FROM warehouse_credits ORDER BY credit_id',
  );
  expect(rows).toEqual([
    { amount_exact: '9007199254740993', micro: null, usable: 1 },
    { amount_exact: '0.1', micro: '100000', usable: 1 },
    { amount_exact: null, micro: null, usable: 0 },
    { amount_exact: expect.anything(), micro: '0', usable: 1 },
    { amount_exact: null, micro: null, usable: 0 },
    { amount_exact: '0.123456789012345678', micro: null, usable: 1 },
    { amount_exact: null, micro: null, usable: 0 },
  ]);
  const documents = await program.rows('SELECT document FROM warehouse_credits ORDER BY credit_id');
  expect(documents).toEqual(credits.map(document => ({ document })));
});

test('T60 SQL, formulas and broken text in names are stored verbatim and do nothing', async () => {
  const credits = TEXTS.map(
    (text, index) =>
      `{"id":"exPost-${index}-0xab","amount":1,"project":{"id":"p${index}","fullName":${JSON.stringify(text)}}}`,
  );
  const program = await readWarehouse(credits);
  const names = await program.rows('SELECT project_name FROM warehouse_credits ORDER BY credit_id');
  expect(names.map(row => Object(row)['project_name'])).toEqual([
    TEXTS[0],
    TEXTS[1],
    '\ufffd\ufffd',
    TEXTS[3],
  ]);
  expect(await program.tables()).toContain('warehouse_credits');
});

test('an unusual credit id is mirrored beside usual ones, and flat field names are accepted', async () => {
  const program = await readWarehouse([
    '{"id":"ICR:2021/7 a","amount":1,"projectId":"p-1","inventoryId":"a/b"}',
    '{"id":"exPost-1-0xab","amount":2}',
  ]);
  expect(
    await program.rows('SELECT credit_id, inventory_id, project_id FROM warehouse_credits ORDER BY amount'),
  ).toEqual([
    { credit_id: 'ICR:2021/7 a', inventory_id: 'a/b', project_id: 'p-1' },
    { credit_id: 'exPost-1-0xab', inventory_id: '', project_id: null },
  ]);
  expect(
    await program.rows("SELECT coalesce(reason, state) AS state FROM freshness WHERE resource = 'warehouse'"),
  ).toEqual([{ state: 'fresh' }]);
});

test('two rows with the same key fail the read visibly instead of overwriting each other', async () => {
  const row = (amount: number) => `{"id":"exPost-1-0xab","amount":${amount}}`;
  const program = await readWarehouse([row(1), row(2)]);
  expect(await program.rows('SELECT * FROM warehouse_credits')).toEqual([]);
  expect(await program.rows("SELECT error_code FROM resource_states WHERE resource = 'warehouse'")).toEqual([
    { error_code: 'duplicate_key' },
  ]);
  for (let hour = 0; hour < 12; hour++) {
    program.time.move(3_600_000);
    await program.rest();
  }
  const [retry] = await program.rows("SELECT * FROM jobs WHERE kind = 'retry' ORDER BY id DESC");
  expect(retry).toMatchObject({ state: 'failed', attempts: 10, error_or_pause_code: 'duplicate_key' });
});
