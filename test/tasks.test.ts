import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readStoreSettings } from '../src/app/config/read-settings.js';
import { openLastSignedFile, readKeyFile } from '../src/evidence/key-file.js';
import { sealLog } from '../src/evidence/seal.js';
import { openEngine } from '../src/store/open-engine.js';
import { runCommand } from './support/command.js';
import { splitWords } from './support/command-lines.js';
import { startDemoForFile } from './support/mirror/demo.js';
import { listCodeBlocks } from './support/readme.js';

interface Task {
  readonly title: string;
  readonly counted: number;
  readonly commands: readonly string[];
}

/** What each word in capitals stands for; some are known once a command before has answered. */
type Values = Record<string, string>;
type Answers = readonly string[];

const document = readFileSync(new URL('../docs/tasks.md', import.meta.url), 'utf8');
const PEOPLE = ['operator', 'auditor', 'developer'];
const sections = document.split(/^## /m).slice(1);

function tasksOf(section: string): Task[] {
  return section
    .split(/^### /m)
    .slice(1)
    .map(text => {
      const [, title = '', counted = '0'] = /^(.+) \((\d) commands?\)$/m.exec(text) ?? [];
      const lines = listCodeBlocks(text, 'sh').flatMap(block => block.match(/^carbon-mirror .+$/gm) ?? []);
      return {
        title,
        counted: Number(counted),
        commands: lines.map(line => line.replace(/^carbon-mirror /, '')),
      };
    });
}

const TASKS = sections.flatMap(tasksOf);

const demo = await startDemoForFile({ seed: 1 });
const folder = mkdtempSync(join(tmpdir(), 'carbon-mirror-tasks-'));
const [credit] = await demo.rows(
  `SELECT o.full_name, w.credit_id FROM warehouse_credits AS w JOIN organizations AS o ON o.id = w.organization_id
  WHERE w.amount > 100 AND w.type = 'exPost' ORDER BY w.credit_id LIMIT 1`,
);
const [past] = await demo.rows(
  `SELECT r.id, r.beneficiary FROM retirements AS r JOIN organizations AS o ON o.id = r.organization_id
  WHERE o.full_name = '${String(credit?.['full_name'])}' AND r.beneficiary IS NOT NULL ORDER BY r.id LIMIT 1`,
);
const values: Values = {
  ORGANIZATION: String(credit?.['full_name']),
  CREDIT: String(credit?.['credit_id']),
  BENEFICIARY: String(past?.['beneficiary']),
  RETIREMENT: String(past?.['id']),
  'NAME-ID': demo.sandbox.registry.apps.get(demo.appId).nameId,
  INSTANT: 'now',
  FOLDER: join(folder, 'certificates'),
  FILE: join(folder, 'copy.db'),
  EVIDENCE: join(folder, 'evidence'),
};

afterAll(() => rmSync(folder, { recursive: true }));

async function perform(line: string): Promise<string> {
  const words = splitWords(line).map(word => values[word] ?? word);
  expect(
    words.filter(word => /^[A-Z-]{4,}$/.test(word)),
    line,
  ).toEqual([]);
  const keyFile = join(folder, 'evidence.key');
  const { exitCode, stdout, stderr } = await runCommand(words, {
    env: { ...demo.env, ...(words[0] === 'evidence' ? { EVIDENCE_KEY_FILE: keyFile } : {}) },
  });
  expect({ exitCode, stderr: exitCode === 0 ? '' : stderr }, line).toEqual({ exitCode: 0, stderr: '' });
  const [, reservation] = /^id +([0-9a-f-]{36})$/m.exec(stdout) ?? [];
  if (line.startsWith('reservations create')) values['RESERVATION'] = reservation ?? '';
  if (line.startsWith('evidence init')) await sealOnce(keyFile);
  return stdout === '' ? stderr : stdout;
}

/** Does what a worker with the evidence key does within a minute. */
async function sealOnce(keyFile: string): Promise<void> {
  const engine = openEngine(readStoreSettings(demo.env));
  await engine.prepare(['evidence'], Date.now(), () => undefined);
  const port = await engine.openEvidence();
  if (port === null) throw new Error('expected a log, got none');
  const lastSigned = openLastSignedFile(keyFile);
  const { signal } = new AbortController();
  const by = { randomBytes, now: Date.now, holder: 'a worker', signal };
  await sealLog({ port, key: () => readKeyFile(keyFile), lastSigned, ...by });
  await port.close();
}

/** Rejected webhooks are counted, and written a moment later. */
async function performWhenWritten(line: string): Promise<string> {
  for (;;) {
    const answer = await perform(line);
    if (!line.includes('deliveries rejected') || answer.trim().includes('\n')) return answer;
    await new Promise(resolve => setTimeout(resolve, 50));
  }
}

async function count(sql: string): Promise<number> {
  const [row] = await demo.rows(sql);
  return Number(row?.['n']);
}

/** Checks of what each task must have printed or done. */
const CHECKS: Readonly<Record<string, (answers: Answers) => Promise<void> | void>> = {
  'See what can be sold, and whether anything is wrong': async ([listed = '', status = '']) => {
    const rows = await count('SELECT count(*) AS n FROM available_credits');
    expect(listed).toMatch(
      /^project_name +vintage +type +amount +organization_name +age +freshness +credit_id$/m,
    );
    expect(listed).toContain(`${rows} credits available now: `);
    expect(status).toMatch(/^Nothing needs attention\.$|^\d+ things? needs? attention:$/m);
  },
  'Reserve credits and retire them for a customer': ([, finished = '']) => {
    expect(finished).toMatch(/finished|true/);
    const retired = demo.sandbox.registry.store.tables.retirements
      .list()
      .filter(row => row.details?.beneficiary === 'Harbour Bakery' && row.amountMicro === 2_000_000);
    expect(retired).toHaveLength(1);
  },
  'Let a new customer install the app': async ([url = '', status = '']) => {
    const page = await fetch(url.trim());
    expect(await page.text()).toContain('<button>Install</button>');
    expect(status).toContain(values['ORGANIZATION']);
  },
  'Find failed jobs and retry them': ([checks = '', , retried = '']) => {
    expect(checks).toMatch(/ok +databases/);
    expect(retried).not.toContain('undefined');
  },
  'Prove a retirement to somebody who does not trust you': ([keys = '']) => {
    expect(document).toMatch(/^node dist\/check\.mjs EVIDENCE KEY$/m);
    const program = join(import.meta.dirname, '../dist/check.mjs');
    const argv = [program, values['EVIDENCE'] ?? '', keys.split('\n')[0] ?? ''];
    const checked = spawnSync(process.execPath, argv, { encoding: 'utf8' });
    expect(checked).toMatchObject({ status: 0, stderr: '' });
    expect(checked.stdout).toContain(`Evidence of retirement ${values['RETIREMENT']}`);
  },
  'Read the records as of a past instant': ([stood = '']) => {
    for (const resource of ['warehouse', 'inventory', 'retirements']) expect(stood).toContain(resource);
  },
  'Compare two dates': ([compared = '']) => {
    expect(compared).toMatch(/^warehouse, before: .*Z, after: .*Z:\n\d+ credits before, \d+ after: 0 added,/);
    expect(compared).toMatch(/^retirements, before: /m);
  },
  'Show one retirement with its certificate': ([listed = '', explained = '']) => {
    expect(listed).toContain(values['RETIREMENT']);
    expect(explained).toMatch(/shown|showed|read/i);
    const files = readdirSync(values['FOLDER'] ?? '', { recursive: true, encoding: 'utf8' });
    expect(files.some(file => file.includes(values['RETIREMENT'] ?? 'none'))).toBe(true);
  },
  'Check that nothing was changed by hand': ([here = '', there = '']) => {
    expect(here).toMatch(/^inbox.db and mirror.db are intact/m);
    expect(there.length).toBeGreaterThan(0);
  },
  'Check that the balances add up': ([sums = '']) => {
    expect(sums.split('\n').filter(line => line.endsWith('  yes')).length).toBeGreaterThan(20);
  },
  'Check that a webhook arrives and is processed': ([posted = '', listed = '']) => {
    expect(posted).toMatch(/^202 {2}warehouseTransaction/);
    expect(listed).toMatch(/warehouseTransaction +.+ accepted/);
  },
  'Find out why webhooks are rejected': ([posted = '', rejected = '']) => {
    expect(posted).toMatch(/^401 /);
    expect(rejected).toContain('signature_not_valid');
  },
  'Read recent changes as JSON': ([changes = '']) => {
    const { rows }: { readonly rows: readonly unknown[] } = JSON.parse(changes);
    expect(rows.length).toBeGreaterThan(100);
  },
  'Copy the mirror and query it': ([, sums = '']) => {
    expect(existsSync(values['FILE'] ?? '')).toBe(true);
    const names = sums
      .trim()
      .split('\n')
      .slice(1)
      .map(line => line.split(',')[0]);
    expect(new Set(names).size).toBe(demo.organizationIds.length);
  },
};

test('fourteen tasks of three people are documented, each with at most three commands', () => {
  expect(sections.map(section => PEOPLE.find(person => section.split('\n')[0]?.includes(person)))).toEqual(
    PEOPLE,
  );
  expect(sections.map(section => tasksOf(section).length)).toEqual([5, 5, 4]);
  for (const { title, counted, commands } of TASKS) {
    expect(commands, title).toHaveLength(counted);
    expect(counted, title).toBeGreaterThan(0);
    expect(counted, title).toBeLessThanOrEqual(3);
  }
  expect(TASKS.map(({ title }) => title)).toEqual(Object.keys(CHECKS));
});

test.each(TASKS)('$title', async ({ title, commands }) => {
  const answers: string[] = [];
  for (const line of commands) answers.push(await performWhenWritten(line));
  await CHECKS[title]?.(answers);
});
