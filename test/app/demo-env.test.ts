import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/inbox.js';
import { freePort, runProcess, startProcess } from '../support/processes.js';
import { blocks } from '../support/readme.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);

test('both examples run as the app of the demo, as README says', async () => {
  const cwd = temporaryFolder();
  const env = {
    PORT: String(await freePort()),
    SANDBOX_PORT: String(await freePort()),
    OPERATIONS_PORT: '0',
  };
  const demo = startProcess(['up'], env, cwd);
  await expect.poll(() => demo.said(), { timeout: 60_000, interval: 100 }).toContain('This is a DEMO');

  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const [lines = ''] = blocks(readme, 'sh').filter(block => block.includes('demo.env'));
  expect(lines).toContain('node --env-file=data/demo/demo.env docs/examples/retire.js');
  const script = lines
    .replaceAll('npx carbon-mirror', `"${process.execPath}" "${ROOT}dist/main.js"`)
    .replaceAll(/^node /gm, `"${process.execPath}" `)
    .replaceAll('docs/examples/', `${ROOT}docs/examples/`);
  const retired = await run('sh', ['-ec', script], { cwd, env: {} });
  expect(retired.stdout).toMatch(/retired 1 t for Harbour Bakery/);
  expect(readFileSync(join(cwd, 'certificate.pdf')).subarray(0, 5).toString()).toBe('%PDF-');

  const sold = 'select organization_id, credit_id from warehouse_credits where amount >= 2 limit 1';
  const rows = async (): Promise<Record<string, string>[]> => {
    const { exitCode, stdout } = await runProcess(['query', '--json', sold], {}, cwd);
    return exitCode === 0 ? JSON.parse(stdout) : [];
  };
  await expect.poll(rows, { timeout: 60_000, interval: 500 }).toHaveLength(1);
  const [{ organization_id: seller = '', credit_id: credit = '' } = {}] = await rows();
  const words = [seller, credit, 'ada@shop.example', 'The shop of Ada'];
  const argv = ['--env-file=data/demo/demo.env', join(ROOT, 'docs/examples/sell.js'), ...words];
  const { stdout } = await run(process.execPath, argv, { cwd, env: {} });
  expect(stdout).toBe(`1 t of ${credit} now belongs to The shop of Ada\n`);
});
