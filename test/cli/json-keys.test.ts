import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { listCommands } from '../support/commands.js';
import { type Answer, everyCommand } from '../support/every-command.js';
import { type DemoMirror, startDemoMirror } from '../support/demo-mirror.js';
import { copyMirror } from '../support/mirror-copy.js';
import { startProcess } from '../support/processes.js';
import { makeFolder } from '../support/folder.js';

let demo: DemoMirror;
let folder: string;

beforeAll(async () => {
  demo = await startDemoMirror();
  folder = makeFolder('carbon-mirror-json-');
});

afterAll(async () => {
  await demo.stop();
  rmSync(folder, { recursive: true });
});

async function ask(name: string, words: readonly string[], env = demo.env): Promise<Answer> {
  const argv = [...name.split(' '), ...words, '--json'];
  const interruption = () => AbortSignal.abort();
  const { exitCode, stdout, stderr } = await runCommand(argv, {
    env,
    ...(name === 'sandbox start' ? { interruption } : {}),
  });
  expect(exitCode, `${argv.join(' ')}\n${stderr}`).toBe(0);
  return JSON.parse(stdout);
}

/** What the registry itself sent stands below these, as it was sent. */
const AS_SENT = ['content', 'document', 'body'];

function wrongKeys(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(wrongKeys);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [
    ...(/^[a-z0-9_]+$/.test(name) ? [] : [name]),
    ...(AS_SENT.includes(name) ? [] : wrongKeys(inner)),
  ]);
}

/** They take away what the others read: each is run on a copy. */
const REMOVING = {
  purge: (id: string, name: string) => ['--organization', id, '--confirm', name, '--force'],
  forget: () => ['--person', 'ada@harbour.example'],
};

/** It never ends by itself. */
const ENDLESS = 'deliveries tail';

test('keys are snake_case in everything that --json prints, in every command', async () => {
  const commands = await listCommands();
  const printing = commands.filter(({ command }) => command.options.some(({ long }) => long === '--json'));
  const known = everyCommand({ demo, folder, ask });
  expect([...Object.keys(known), ...Object.keys(REMOVING), ENDLESS].toSorted()).toEqual(
    printing.map(({ name }) => name).toSorted(),
  );
  const wrong: Record<string, string[]> = {};
  for (const [name, words] of Object.entries(known)) {
    const keys = wrongKeys(await ask(name, await words()));
    if (keys.length > 0) wrong[name] = keys;
  }
  const [organization] = await demo.rows('SELECT id, full_name AS name FROM organizations LIMIT 1');
  for (const [name, words] of Object.entries(REMOVING)) {
    const env = { DATA_DIR: copyMirror(demo.folder).folder };
    const said = words(String(organization?.['id']), String(organization?.['name']));
    const keys = wrongKeys(await ask(name, said, env));
    if (keys.length > 0) wrong[name] = keys;
  }
  expect(wrong).toEqual({});
}, 240_000);

test('keys are snake_case in the deliveries that are followed', async () => {
  const tail = startProcess(['deliveries', 'tail', '--json'], { DATA_DIR: demo.folder });
  await expect.poll(() => tail.said()).toContain('Waiting for deliveries');
  await ask('trigger', ['warehouseTransaction', '--organization', demo.organizationIds[1] ?? '']);
  const line = await tail.line(({ event }) => event === 'warehouseTransaction');
  expect(wrongKeys(line)).toEqual([]);
  const end = await tail.line(({ id, job_state: state }) => id === line['id'] && state === 'done');
  expect(end).toMatchObject({ end: expect.stringMatching(/^read in \d/) });
});
