import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type CommandOutcome, runCommand } from '../support/command.js';
import { type DefinedCommand, listCommands } from '../support/commands.js';
import { startDemoForFile } from '../support/mirror/demo.js';
import { type Answer, listCommandArguments } from '../support/every-command.js';
import { makeFolder } from '../support/folder.js';
import { copyMirror } from '../support/mirror-copy.js';
import { listJsonPaths, normalizeInPlace, normalizeText } from '../support/normalize-output.js';

const demo = await startDemoForFile();
const folder = makeFolder('carbon-mirror-approved-');

afterAll(() => rmSync(folder, { recursive: true }));

/** The width of the terminal in these tests. */
const WIDTH = 80;
/** Null for a pipe. */
type Columns = typeof WIDTH | null;

/** Commands that remove what the others read. Each runs on a copy, and only its JSON keys are checked. */
const DESTRUCTIVE_COMMANDS = {
  purge: (id: string, name: string) => ['--organization', id, '--confirm', name, '--force'],
  forget: () => ['--person', 'ada@harbour.example'],
  restore: () => [join(folder, 'backupzqc')],
};

const SUBSCRIBED = 'needs a subscriber; see test/contract/events-commands.test.ts';

/** Commands that are not checked here, and why. */
const EXCLUDED_COMMANDS = {
  up: 'runs until it is stopped',
  receive: 'runs until it is stopped',
  work: 'runs until it is stopped',
  'console url': 'its output is a one-time secret',
  'evidence init': 'its output is a new key each time',
  'evidence discard': 'a demo is not sealed',
  'evidence renew': 'a demo is not sealed',
  'evidence restored': 'a demo is not sealed',
  'evidence checkpoint': 'a demo is not sealed',
  'restatements show': 'the demo has restatements only in the first half of a year',
  'evidence export': 'a demo is not sealed',
  move: 'needs PostgreSQL; see test/store/postgres/move.test.ts',
  'deliveries tail': 'runs until it is stopped; see test/cli/follow.test.ts',
  'deliveries forward': 'runs until it is stopped; see test/cli/follow.test.ts',
  'subscriptions add': 'prints a secret',
  'subscriptions rotate': 'prints a secret',
  'subscriptions events': 'prints JSON schemas',
  'subscriptions show': SUBSCRIBED,
  'subscriptions test': SUBSCRIBED,
  'subscriptions pause': SUBSCRIBED,
  'subscriptions resume': SUBSCRIBED,
  'subscriptions remove': SUBSCRIBED,
  'subscriptions attempts': SUBSCRIBED,
  'subscriptions replay': SUBSCRIBED,
  'sandbox app': 'prints a secret',
  'sandbox call': 'prints responses of the control API',
};

/** Waits until the worker has read every organization that a command created, because lists differ until then. */
async function waitUntilAllRead(): Promise<void> {
  const installed = () =>
    demo.sandbox.registry.store.tables.installations.listLive().filter(({ appId }) => appId === demo.appId);
  const sql = `SELECT count(*) FILTER (WHERE state NOT IN ('uninstalled', 'never_read')) AS known,
    (SELECT count(*) FROM freshness WHERE state = 'never_read') AS unread FROM coverage`;
  await expect.poll(async () => (await demo.rows(sql))[0]).toEqual({ known: installed().length, unread: 0 });
}

async function run(
  name: string,
  commandArguments: readonly string[],
  columns: Columns = null,
  env = demo.env,
) {
  await waitUntilAllRead();
  const argv = [...name.split(' '), ...commandArguments];
  const isEndless = ['sandbox start', 'console', 'api'].includes(name);
  const outcome = await runCommand(argv, {
    env: { ...env, NO_COLOR: '1' },
    ...(columns === null ? {} : { terminal: true, columns }),
    ...(isEndless ? { createInterruptSignal: () => AbortSignal.abort() } : {}),
  });
  expect(outcome.exitCode, `${argv.join(' ')}\n${outcome.stderr}`).toBe(0);
  return outcome;
}

async function runJson(name: string, argv: readonly string[], env = demo.env): Promise<Answer> {
  return JSON.parse((await run(name, [...argv, '--json'], null, env)).stdout);
}

/** One list of each kind: with tonnes, with dates, with names, and with sentences. All other lists look like these. */
const PAGES = [
  'warehouse list --limit 3',
  'retirements list --limit 3',
  'organizations list',
  'schema freshness',
];

/** To approve changes, run: npx vitest run test/cli/approved-words.test.ts -u, and read the diff. */
test('output of each kind matches the approved text in a pipe, on a terminal and as JSON', async () => {
  const seen: string[] = [];
  for (const page of PAGES) {
    const words = page.split(' ');
    const options = /^(warehouse|retirements)/.test(page)
      ? ['--organization', demo.organizationIds[0] ?? '']
      : [];
    for (const [terminal, columns, more] of [
      ['a pipe', null, []],
      [`${WIDTH} columns`, WIDTH, []],
      ['JSON', null, ['--json']],
    ] as const) {
      const { stdout, stderr } = await run(words[0] ?? '', [...words.slice(1), ...options, ...more], columns);
      const said = stderr === '' ? '' : `--- said\n${stderr}`;
      seen.push(
        `=== ${page}, ${terminal}\n${normalizeInPlace(`${stdout}${said}`.replaceAll(demo.sandbox.url, 'http://registry/'))}`,
      );
    }
  }
  await expect(seen.join('\n')).toMatchFileSnapshot('../fixtures/approved/pages.txt');
});

/** Commands whose rows change while the worker runs beside this test. Only their column names are checked. */
const VOLATILE_COMMANDS = [
  'members list',
  'addresses list',
  'as-of',
  'compare',
  'retirements list',
  'warehouse list',
  'inventory list',
  'available',
  'jobs list',
  'deliveries list',
  'syncs list',
  'syncs show',
  'changes',
  'balance',
  'certificates list',
  'reservations list',
  'inventory-requests list',
];
/** Matches the line about findings, which differs once the worker has counted them. */
const FINDINGS_LINE =
  /^Findings(?: have not been counted yet\. A worker counts them every five minutes\.|, counted .* ago: none\.)$/gm;
const VOLATILE_KEYS =
  /^\.(?:findings\.counts\[\]|shown_by\.delivery|reasons\[\]\.(?:sync\.delivery|read_started_at))/;

/** Replaces URLs, folders and name tags, which differ in each run. */
function normalizeOutput(text: string, tag: string): string {
  const here = text
    .replaceAll(demo.sandbox.url, 'http://registry/')
    .replaceAll(demo.folder, 'FOLDER')
    .replaceAll(folder, 'FOLDER')
    .replaceAll(tag, '')
    .replaceAll(FINDINGS_LINE, 'Findings …');
  return normalizeText(here);
}

/** Keys whose values come from the registry and keep their own keys. */
const REGISTRY_KEYS = ['content', 'document', 'body'];

function findInvalidKeys(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(findInvalidKeys);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [
    ...(/^[a-z0-9_]+$/.test(name) ? [] : [name]),
    ...(REGISTRY_KEYS.includes(name) ? [] : findInvalidKeys(inner)),
  ]);
}

function printsJson({ command }: DefinedCommand): boolean {
  return command.options.some(({ long }) => long === '--json');
}

const answers = new Map<string, Answer>();
const tables = new Map<string, { readonly piped: CommandOutcome; readonly drawn: CommandOutcome }>();

/** To approve changes, run: npx vitest run test/cli/approved-words.test.ts -u, and read the diff. */
test('the output of every command in a pipe and its JSON keys match the approved text', async () => {
  const piped = listCommandArguments({ demo, folder, runJson: runJson, tag: 'zqa' });
  const drawn = listCommandArguments({ demo, folder, runJson: runJson, tag: 'zqb' });
  const argumentsByName = listCommandArguments({ demo, folder, runJson: runJson, tag: 'zqc' });
  const defined = await listCommands();
  const commands = defined.map(({ name }) => name);
  const printing = defined.filter(printsJson).map(({ name }) => name);
  expect(Object.keys({ ...piped, ...DESTRUCTIVE_COMMANDS, ...EXCLUDED_COMMANDS }).toSorted()).toEqual(
    commands.toSorted(),
  );
  const lines: string[] = [];
  for (const name of Object.keys(piped)) {
    const isOfTheMoment = VOLATILE_COMMANDS.includes(name);
    const outcome = await run(name, (await piped[name]?.()) ?? []);
    tables.set(name, { piped: outcome, drawn: await run(name, (await drawn[name]?.()) ?? [], WIDTH) });
    const { stdout, stderr } = outcome;
    lines.push(
      `=== ${name}`,
      normalizeOutput(isOfTheMoment ? `${stdout.split('\n')[0]}` : stdout, 'zqa').trimEnd(),
      ...(stderr === '' ? [] : [`--- said\n${normalizeOutput(stderr, 'zqa').trimEnd()}`]),
    );
    if (!printing.includes(name)) continue;
    const answer = await runJson(name, (await argumentsByName[name]?.()) ?? []);
    answers.set(name, answer);
    const places = listJsonPaths(answer, isOfTheMoment ? 3 : undefined).filter(
      place => !VOLATILE_KEYS.test(place),
    );
    lines.push(`--- as JSON: ${places.join(' ')}`);
  }
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('../fixtures/approved/words.txt');
});

test('every command prints snake_case keys with --json', async () => {
  const [organization] = await demo.rows('SELECT id, full_name AS name FROM organizations LIMIT 1');
  for (const [name, createArguments] of Object.entries(DESTRUCTIVE_COMMANDS)) {
    const argv = createArguments(String(organization?.['id']), String(organization?.['name']));
    const env = { DATA_DIR: copyMirror(demo.folder).folder };
    answers.set(name, await runJson(name, argv, env));
  }
  const commands = await listCommands();
  const printing = commands.filter(command => printsJson(command) && !(command.name in EXCLUDED_COMMANDS));
  expect([...answers.keys()].toSorted()).toEqual(printing.map(({ name }) => name).toSorted());
  const wrong = [...answers].map(([name, answer]) => [name, findInvalidKeys(answer)]);
  expect(wrong.filter(([, keys]) => keys?.length !== 0)).toEqual([]);
});

const columnsOf = (stdout: string) => (stdout.split('\n')[0] ?? '').split(/ {2,}/);

test(`every list fits a terminal of ${WIDTH} columns and names its hidden columns`, () => {
  const lists = [...tables].filter(([name]) => name.endsWith(' list'));
  expect(lists.length).toBeGreaterThan(10);
  for (const [name, { piped, drawn }] of lists) {
    for (const line of drawn.stdout.split('\n')) expect(line.length, name).toBeLessThanOrEqual(WIDTH);
    const [, hiddenColumns = ''] =
      /^Hidden columns: (.*)\. Pipe to "less -S" to see all\.$/m.exec(drawn.stderr) ?? [];
    const columns = [...columnsOf(drawn.stdout), ...hiddenColumns.split(', ')].filter(
      column => column !== '',
    );
    expect(columns.toSorted(), name).toEqual(columnsOf(piped.stdout).toSorted());
  }
});
