import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { startDemoForFile } from '../support/mirror/demo.js';

const demo = await startDemoForFile();

async function run(...argv: string[]) {
  return await runCommand(['certificates', ...argv], { env: { DATA_DIR: demo.folder } });
}

async function json(...argv: string[]) {
  const { exitCode, stdout } = await run(...argv, '--json');
  expect(exitCode).toBe(0);
  return JSON.parse(stdout);
}

async function stored() {
  return await demo.rows(
    "SELECT retirement_id, file, sha256 FROM certificates WHERE state = 'stored' ORDER BY file",
  );
}

/** Changes one stored file, runs `check`, and restores the file. */
async function withChangedFile(change: (path: string) => void, check: () => Promise<void>): Promise<void> {
  const path = join(demo.folder, 'certificates', String((await stored())[0]?.['file']));
  const original = readFileSync(path);
  change(path);
  try {
    await check();
  } finally {
    writeFileSync(path, original);
  }
}

describe('certificates get', () => {
  const createTarget = (name: string) => {
    const folder = join(demo.folder, name);
    mkdirSync(folder);
    return folder;
  };

  test('saves the certificate of one retirement under a readable name, and never overwrites a file', async () => {
    const [row] = await stored();
    const id = String(row?.['retirement_id']);
    const folder = createTarget('get-one');
    const saved = await json('get', id.slice(0, 12), '--folder', folder);
    expect(saved).toMatchObject({ retirement_id: id, sha256: row?.['sha256'], as_of: null });
    const [file = ''] = readdirSync(folder);
    expect(file).toMatch(/^\d{4}-\d\d-\d\d .+ [\d.]+ t [\w-]{8}\.pdf$/);
    const content = readFileSync(join(folder, file));
    expect(createHash('sha256').update(content).digest('hex')).toBe(row?.['sha256']);
    const again = await run('get', id, '--folder', folder);
    expect([again.exitCode, again.stderr]).toEqual([2, expect.stringContaining('already exists')]);
    const inThePast = await run('get', id, '--folder', folder, '--as-of', '2001-01-01');
    expect(inThePast.exitCode).toBe(3);
    expect((await run('get', 'nothing', '--folder', folder)).exitCode).toBe(6);
  });

  test('leaves no file if the stored certificate has changed', async () => {
    const [row] = await stored();
    const folder = createTarget('get-changed');
    await withChangedFile(
      path => writeFileSync(path, 'changed'),
      async () => {
        const { exitCode, stderr } = await run('get', String(row?.['retirement_id']), '--folder', folder);
        expect([exitCode, stderr]).toEqual([3, expect.stringContaining('not the one that was downloaded')]);
      },
    );
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('certificates export', () => {
  test('writes PDFs, a list and checksums that sha256sum accepts, readable by the owner only', async () => {
    const folder = join(demo.folder, 'export');
    const { certificates, damaged } = await json('export', folder);
    expect({ certificates, damaged }).toEqual({ certificates: (await stored()).length, damaged: [] });
    expect(readdirSync(folder)).toHaveLength((await stored()).length + 3);
    const checked = execFileSync('sha256sum', ['-c', 'SHA256SUMS'], { cwd: folder, encoding: 'utf8' });
    expect(checked.trimEnd().split('\n')).toHaveLength((await stored()).length + 2);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'certificates.csv')).mode & 0o777).toBe(0o600);
    const [head = '', first = ''] = readFileSync(join(folder, 'certificates.csv'), 'utf8').split('\n');
    expect(head).toBe(
      'retirement_id,organization_id,beneficiary,amount,project,vintage,reason,retired_at,serialization,fetched_at,file,sha256,organization_name,valid_from',
    );
    const about = JSON.parse(readFileSync(join(folder, 'export.json'), 'utf8'));
    expect(about).toMatchObject({ certificates, damaged: [], gaps: [], made_at: about.as_of });
    expect(about.coverage).toHaveLength(2 * demo.organizationIds.length);
    for (const part of about.coverage)
      expect(part).toMatchObject({ state: 'fresh', rows: expect.any(Number) });
    const [id = ''] = first.split(',');
    const [row] = await demo.rows(
      `SELECT r.beneficiary, c.sha256 FROM retirements AS r JOIN certificates AS c ON c.retirement_id = r.id
       WHERE r.id = '${id}'`,
    );
    expect(first).toContain(String(row?.['beneficiary']));
    expect(first).toContain(String(row?.['sha256']));
  });

  test('exports only the certificates of a period, a beneficiary and a project, as the list filters them', async () => {
    const year = new Date(Date.now()).getUTCFullYear();
    const [{ beneficiary, project_name: project } = {}] = await demo.rows(
      `SELECT beneficiary, project_name FROM retirements AS r JOIN certificates AS c ON c.retirement_id = r.id
       WHERE c.state = 'stored' AND beneficiary IS NOT NULL ORDER BY r.created_at DESC`,
    );
    const filters = [
      ['--year', String(year - 1)],
      ['--since', `${year - 2}-Q3`, '--until', `${year - 1}-06-30`],
      ['--beneficiary', String(beneficiary).slice(1)],
      ['--project', String(project), '--since', String(year - 2), '--as-of', 'now'],
    ];
    for (const [index, filter] of filters.entries()) {
      const folder = join(demo.folder, `period-${index}`);
      const listed: Record<string, string>[] = (await json('list', ...filter, '--limit', '0')).rows;
      const files = listed.filter(({ state }) => state === 'stored').map(({ file }) => file);
      expect(files.length).toBeGreaterThan(0);
      expect(files.length).toBeLessThan((await stored()).length);
      expect(await json('export', folder, ...filter)).toMatchObject({
        certificates: files.length,
        not_stored: listed.length - files.length,
      });
      expect(new Set(readdirSync(folder).filter(name => name.endsWith('.pdf')))).toEqual(new Set(files));
      expect(JSON.parse(readFileSync(join(folder, 'export.json'), 'utf8')).filters).toMatchObject({
        [filter[0]?.slice(2) ?? '']: filter[1],
      });
    }
  });

  test('writes nothing and exits with 6 if no stored certificate matches', async () => {
    const folder = join(demo.folder, 'nothing');
    const period = await run('export', folder, '--year', '1999');
    expect(period).toMatchObject({ exitCode: 6, stdout: '' });
    expect(period.stderr).toContain('No stored certificate matches these filters. Nothing was written.');
    const [{ name } = {}] = await demo.rows(
      'SELECT max(beneficiary) AS name FROM retirements WHERE beneficiary IS NOT NULL',
    );
    const misspelled = await run('export', folder, '--beneficiary', `${String(name)}x`);
    expect(misspelled).toMatchObject({ exitCode: 6, stdout: '' });
    expect(misspelled.stderr).toContain(`Did you mean "${String(name)}"`);
    expect(existsSync(folder)).toBe(false);
    expect(await run('export', folder, '--year', '25')).toMatchObject({ exitCode: 2, stdout: '' });
  });

  test('refuses a folder that is not empty and leaves it unchanged', async () => {
    const folder = join(demo.folder, 'mine');
    mkdirSync(folder);
    writeFileSync(join(folder, 'letter.txt'), 'mine');
    const { exitCode, stdout, stderr } = await run('export', folder);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain('never overwrites');
    expect(readdirSync(folder)).toEqual(['letter.txt']);
  });

  test('leaves out and names a damaged file and exits with 3', async () => {
    const folder = join(demo.folder, 'damaged');
    await withChangedFile(
      path => writeFileSync(path, 'not what it was'),
      async () => {
        const { exitCode, stdout, stderr } = await run('export', folder, '--json');
        expect(exitCode).toBe(3);
        expect(JSON.parse(stdout)).toMatchObject({
          certificates: (await stored()).length - 1,
          damaged: [(await stored())[0]?.['file']],
        });
        expect(stderr).toContain(String((await stored())[0]?.['file']));
        expect(readdirSync(folder)).not.toContain((await stored())[0]?.['file']);
        execFileSync('sha256sum', ['--quiet', '-c', 'SHA256SUMS'], { cwd: folder });
      },
    );
  });

  test('exports the certificates known at a date and fails for a date before the first read', async () => {
    const id = demo.organizationIds[0] ?? '';
    const today = new Date().toISOString().slice(0, 10);
    const folder = join(demo.folder, 'today');
    const mine = await demo.rows(
      `SELECT 1 FROM certificates WHERE state = 'stored' AND organization_id = '${id}'`,
    );
    const own = await json('export', folder, '--organization', id, '--as-of', today);
    expect(own).toMatchObject({ certificates: mine.length });
    const before = await run('export', join(demo.folder, 'before'), '--as-of', '2020-01-01');
    expect(before).toMatchObject({ exitCode: 3, stdout: '' });
    expect(before.stderr).toContain('not known before');
    const nobody = await run('export', join(demo.folder, 'none'), '--organization', 'nobody');
    expect(nobody).toMatchObject({ exitCode: 6, stdout: '' });
    expect(await run('export', folder, '--as-of', 'tomorrow')).toMatchObject({ exitCode: 2 });
  });

  test('leaves out and names an organization that was not known at the date', async () => {
    const [out = '', ...others] = demo.organizationIds;
    const [{ at } = { at: '' }] = await demo.rows(
      `SELECT first_complete_at AS at FROM resource_states WHERE resource = 'certificates' AND organization_id = '${out}'`,
    );
    await demo.change(
      "UPDATE resource_states SET first_complete_at = '9999-01-01T00:00:00.000Z' WHERE resource = 'certificates' AND organization_id = ?",
      out,
    );
    const folder = join(demo.folder, 'left-out');
    const { exitCode, stderr } = await run('export', folder, '--as-of', 'now');
    await demo.change(
      "UPDATE resource_states SET first_complete_at = ? WHERE resource = 'certificates' AND organization_id = ?",
      String(at),
      out,
    );
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining('certificates: not known before 9999')]);
    const list = readFileSync(join(folder, 'certificates.csv'), 'utf8');
    expect(list).not.toContain(out);
    const about = JSON.parse(readFileSync(join(folder, 'export.json'), 'utf8'));
    expect(about.gaps).toMatchObject([
      { organization_id: out, resource: 'certificates', code: 'before_first_read' },
    ]);
    for (const { last_read: read } of about.coverage) expect(read < about.as_of).toBe(true);
    expect(about.coverage).toHaveLength(2 * demo.organizationIds.length);
    for (const other of others.slice(0, 1)) expect(list).toContain(other);
  });
});
