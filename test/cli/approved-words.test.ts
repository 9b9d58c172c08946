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

/** The one width at which everything is looked at; null is a pipe. */
const WIDTH = 80;
type Columns = typeof WIDTH | null;

/** They take away what the others read: each is run on a copy, and its keys alone are looked at. */
const REMOVING = {
  purge: (id: string, name: string) => ['--organization', id, '--confirm', name, '--force'],
  forget: () => ['--person', 'ada@harbour.example'],
  restore: () => [join(folder, 'backupzqc')],
};

/** What is not looked at here, and why. */
const LEFT_OUT = {
  up: 'runs until it is stopped',
  receive: 'runs until it is stopped',
  work: 'runs until it is stopped',
  'console url': 'its address is a secret of one visit',
  'evidence init': 'its answer is a new key each time',
  'evidence renew': 'a demo is not sealed',
  'evidence restored': 'a demo is not sealed',
  'evidence checkpoint': 'a demo is not sealed',
  'evidence export': 'a demo is not sealed',
  move: 'leads into a PostgreSQL; test/store/postgres/move.test.ts',
  'sandbox app': 'prints a secret',
  'sandbox call': 'answers as the control API does',
};

/** An organization that a command has made is read beside this test: what lists say of it meanwhile is of the moment. */
async function allAreRead(): Promise<void> {
  const installed = () =>
    demo.sandbox.registry.store.tables.installations.listLive().filter(({ appId }) => appId === demo.appId);
  const told = `SELECT count(*) FILTER (WHERE state NOT IN ('uninstalled', 'never_read')) AS known,
    (SELECT count(*) FROM freshness WHERE state = 'never_read') AS unread FROM coverage`;
  await expect.poll(async () => (await demo.rows(told))[0]).toEqual({ known: installed().length, unread: 0 });
}

async function run(name: string, words: readonly string[], columns: Columns = null, env = demo.env) {
  await allAreRead();
  const argv = [...name.split(' '), ...words];
  const isEndless = name === 'sandbox start' || name === 'console';
  const outcome = await runCommand(argv, {
    env: { ...env, NO_COLOR: '1' },
    ...(columns === null ? {} : { terminal: true, columns }),
    ...(isEndless ? { interruption: () => AbortSignal.abort() } : {}),
  });
  expect(outcome.exitCode, `${argv.join(' ')}\n${outcome.stderr}`).toBe(0);
  return outcome;
}

async function ask(name: string, words: readonly string[], env = demo.env): Promise<Answer> {
  return JSON.parse((await run(name, [...words, '--json'], null, env)).stdout);
}

/** A table with a sum, one without, one of an instant, and one of sentences: all other lists are drawn as these are. */
const PAGES = [
  'warehouse list --limit 3',
  'retirements list --limit 3',
  'organizations list',
  'schema freshness',
];

/** To approve what changed: npx vitest run test/cli/approved-words.test.ts -u, and read the difference. */
test('a page of each kind was approved as a whole: in a pipe, at one width, and as JSON', async () => {
  const seen: string[] = [];
  for (const page of PAGES) {
    const words = page.split(' ');
    const of = /^(warehouse|retirements)/.test(page) ? ['--organization', demo.organizationIds[0] ?? ''] : [];
    for (const [eyes, columns, more] of [
      ['a pipe', null, []],
      [`${WIDTH} columns`, WIDTH, []],
      ['JSON', null, ['--json']],
    ] as const) {
      const { stdout, stderr } = await run(words[0] ?? '', [...words.slice(1), ...of, ...more], columns);
      const said = stderr === '' ? '' : `--- said\n${stderr}`;
      seen.push(
        `=== ${page}, ${eyes}\n${normalizeInPlace(`${stdout}${said}`.replaceAll(demo.sandbox.url, 'http://registry/'))}`,
      );
    }
  }
  await expect(seen.join('\n')).toMatchFileSnapshot('../fixtures/approved/pages.txt');
});

/** What stands in them is of the moment: what is worked on beside this test. Only the names of columns are looked at. */
const OF_THE_MOMENT = [
  'members list',
  'addresses list',
  'as-of',
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
/** Whether the worker beside this test has counted them by then. */
const COUNTED =
  /^Findings(?: have not been counted yet\. A worker counts them every five minutes\.|, counted .* ago: none\.)$/gm;
const COUNTS = /^\.(?:findings\.counts\[\]|shown_by\.delivery)/;

/** Addresses, folders and the tags of names are of this run alone. */
function steady(text: string, tag: string): string {
  const here = text
    .replaceAll(demo.sandbox.url, 'http://registry/')
    .replaceAll(demo.folder, 'FOLDER')
    .replaceAll(folder, 'FOLDER')
    .replaceAll(tag, '')
    .replaceAll(COUNTED, 'Findings …');
  return normalizeText(here);
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

function printsJson({ command }: DefinedCommand): boolean {
  return command.options.some(({ long }) => long === '--json');
}

const answers = new Map<string, Answer>();
const tables = new Map<string, { readonly piped: CommandOutcome; readonly drawn: CommandOutcome }>();

/** To approve what changed: npx vitest run test/cli/approved-words.test.ts -u, and read the difference. */
test('what every command says in a pipe was approved, and the names of what it says as JSON', async () => {
  const piped = listCommandArguments({ demo, folder, ask, tag: 'zqa' });
  const drawn = listCommandArguments({ demo, folder, ask, tag: 'zqb' });
  const asked = listCommandArguments({ demo, folder, ask, tag: 'zqc' });
  const defined = await listCommands();
  const commands = defined.map(({ name }) => name);
  const printing = defined.filter(printsJson).map(({ name }) => name);
  expect(Object.keys({ ...piped, ...REMOVING, ...LEFT_OUT }).toSorted()).toEqual(commands.toSorted());
  const said: string[] = [];
  for (const name of Object.keys(piped)) {
    const isOfTheMoment = OF_THE_MOMENT.includes(name);
    const outcome = await run(name, (await piped[name]?.()) ?? []);
    tables.set(name, { piped: outcome, drawn: await run(name, (await drawn[name]?.()) ?? [], WIDTH) });
    const { stdout, stderr } = outcome;
    said.push(
      `=== ${name}`,
      steady(isOfTheMoment ? `${stdout.split('\n')[0]}` : stdout, 'zqa').trimEnd(),
      ...(stderr === '' ? [] : [`--- said\n${steady(stderr, 'zqa').trimEnd()}`]),
    );
    if (!printing.includes(name)) continue;
    const answer = await ask(name, (await asked[name]?.()) ?? []);
    answers.set(name, answer);
    const places = listJsonPaths(answer, isOfTheMoment ? 2 : undefined).filter(place => !COUNTS.test(place));
    said.push(`--- as JSON: ${places.join(' ')}`);
  }
  await expect(`${said.join('\n')}\n`).toMatchFileSnapshot('../fixtures/approved/words.txt');
});

test('keys are snake_case in everything that --json prints, in every command', async () => {
  const [organization] = await demo.rows('SELECT id, full_name AS name FROM organizations LIMIT 1');
  for (const [name, words] of Object.entries(REMOVING)) {
    const said = words(String(organization?.['id']), String(organization?.['name']));
    const env = { DATA_DIR: copyMirror(demo.folder).folder };
    answers.set(name, await ask(name, said, env));
  }
  const commands = await listCommands();
  const printing = commands.filter(printsJson);
  expect([...answers.keys()].toSorted()).toEqual(printing.map(({ name }) => name).toSorted());
  const wrong = [...answers].map(([name, answer]) => [name, wrongKeys(answer)]);
  expect(wrong.filter(([, keys]) => keys?.length !== 0)).toEqual([]);
});

const columnsOf = (stdout: string) => (stdout.split('\n')[0] ?? '').split(/ {2,}/);

test(`at a terminal of ${WIDTH} columns no list is wider, and each column that has no room is named`, () => {
  const lists = [...tables].filter(([name]) => name.endsWith(' list'));
  expect(lists.length).toBeGreaterThan(10);
  for (const [name, { piped, drawn }] of lists) {
    for (const line of drawn.stdout.split('\n')) expect(line.length, name).toBeLessThanOrEqual(WIDTH);
    const [, left = ''] = /^Hidden columns: (.*)\. Pipe to "less -S" to see all\.$/m.exec(drawn.stderr) ?? [];
    const columns = [...columnsOf(drawn.stdout), ...left.split(', ')].filter(column => column !== '');
    expect(columns.toSorted(), name).toEqual(columnsOf(piped.stdout).toSorted());
  }
});
