import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { temporaryFolder } from '../support/inbox.js';
import { findFreePort, runProcess, startProcess } from '../support/processes.js';
import { listCodeBlocks } from '../support/readme.js';
import { long } from '../support/long.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MAIN = `${ROOT}dist/main.js`;
const DATA_DIR = 'my data';
const SETTINGS = `${DATA_DIR}/demo/demo.env`;
const run = promisify(execFile);

/** Runs both examples as the README describes. */
async function runExamples(cwd: string): Promise<void> {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const [lines = ''] = listCodeBlocks(readme, 'sh').filter(block => block.includes('demo.env'));
  expect(lines).toContain('node --env-file=data/demo/demo.env docs/examples/retire.js');
  const script = lines
    .replaceAll(/^node /gm, `"${process.execPath}" `)
    .replace('data/demo/demo.env', `"${SETTINGS}"`)
    .replaceAll('docs/examples/', `${ROOT}docs/examples/`);
  const retired = await run('sh', ['-ec', script], { cwd, env: {} });
  expect(retired.stdout).toMatch(/retired 1 t for Harbour Bakery/);
  expect(readFileSync(join(cwd, 'certificate.pdf')).subarray(0, 5).toString()).toBe('%PDF-');

  const sellable = 'select organization_id, credit_id from warehouse_credits where amount >= 2 limit 1';
  const outcome = await runProcess(['query', '--json', sellable], { DATA_DIR }, cwd);
  const [credit]: Record<string, string>[] = JSON.parse(outcome.stdout);
  const words = [credit?.['organization_id'] ?? '', credit?.['credit_id'] ?? '', 'ada@shop.example'];
  const argv = [`--env-file=${SETTINGS}`, join(ROOT, 'docs/examples/sell.js'), ...words, 'The shop of Ada'];
  const { stdout } = await run(process.execPath, argv, { cwd, env: {} });
  expect(stdout).toBe(`1 t of ${credit?.['credit_id']} now belongs to The shop of Ada\n`);
}

long.test(
  'the demo starts on a dyno, prints working commands, runs both examples as its app, and keeps its ports',
  async () => {
    const cwd = temporaryFolder();
    const [port, operations] = [String(await findFreePort()), String(await findFreePort())];
    const sandbox = String(await findFreePort());
    const env = { DYNO: 'web.1', DATA_DIR, PORT: port, OPERATIONS_PORT: operations, SANDBOX_PORT: sandbox };
    const first = startProcess(['up', '--demo'], env, cwd);
    await expect.poll(() => first.stderr()).toContain('Ready: ');

    const lines = Array.from(
      first.stderr().matchAll(/^ {2}(.*npx carbon-mirror .*)$/gm),
      match => match[1] ?? '',
    );
    expect(lines).toHaveLength(3);
    for (const line of lines) {
      const script = line.replace('npx carbon-mirror', `"${process.execPath}" "${MAIN}"`);
      const { stdout } = await run('sh', ['-ec', script], { cwd, env: {} });
      expect(stdout).not.toBe('');
      if (line.endsWith('status')) expect(stdout).toContain(`The demo in ${DATA_DIR}/demo`);
    }
    const counts = `select (select count(distinct organization_id) from resource_states) as o,
    (select count(*) from warehouse_credits) + (select count(*) from inventory_credits) as c,
    (select count(*) from retirements) as r, (select count(*) from certificates where state = 'stored') as p`;
    const { stdout } = await runProcess(['query', '--json', counts], { DATA_DIR }, cwd);
    const [{ o, c, r, p } = { o: 0, c: 0, r: 0, p: 0 }]: Record<string, number>[] = JSON.parse(stdout);
    expect(first.stderr()).toContain(
      `Ready: ${o} organizations, ${c} credits, ${r} retirements and ${p} certificates mirrored.\n`,
    );
    expect(Math.min(o ?? 0, c ?? 0, r ?? 0, p ?? 0)).toBeGreaterThan(0);
    await runExamples(cwd);
    first.child.kill('SIGTERM');
    expect(await first.ended).toBe(0);
    await first.outputClosed;

    const second = startProcess(['up', '--demo'], { DATA_DIR }, cwd);
    await expect.poll(() => second.stderr()).toContain('Ready: ');
    expect(second.stderr()).toContain(`http://127.0.0.1:${port}/webhooks`);
    expect((await fetch(`http://127.0.0.1:${operations}/livez`)).status).toBe(200);
    const trigger = ['trigger', 'warehouseTransaction', '--organization'];
    const sql = 'select id from organizations limit 1';
    const [{ id = '' } = {}]: Record<string, string>[] = JSON.parse(
      (await runProcess(['query', '--json', sql], { DATA_DIR }, cwd)).stdout,
    );
    const posted = await runProcess([...trigger, id], { DATA_DIR }, cwd);
    expect(posted).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`:${port}/webhooks`) });
    const port2 = String(await findFreePort());
    second.child.kill('SIGTERM');
    await second.outputClosed;

    const third = startProcess(['up', '--demo'], { DATA_DIR, PORT: port2 }, cwd);
    await expect.poll(() => third.stderr()).toContain('Ready: ');
    expect(third.stderr()).toContain(`http://127.0.0.1:${port2}/webhooks`);
    expect(await runProcess([...trigger, id], { DATA_DIR }, cwd)).toMatchObject({
      stdout: expect.stringContaining(`:${port2}/webhooks`),
    });
  },
  240_000,
);
