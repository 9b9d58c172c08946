import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readSavedQueries } from '../../src/cli/saved-queries.js';
import { runCommand } from '../support/command.js';
import { listCommands } from '../support/commands.js';
import { NOON, temporaryFolder } from '../support/inbox.js';
import { openOddMirrorTwice, type MirrorPair } from '../support/mirror/mirror-pair.js';
import { chooseLength } from '../support/long.js';

const OF = ['--organization', 'organization-1'];
const EVER = ['--since', '0001-01-01'];
const MOMENTS = ['2026-05-04T12:01:30Z', '2026-05-04', '9999-12-31'];

const ASKS = 'asks the registry, and answers what it says';
const LIST: readonly (readonly string[])[] = [[], [...OF, '--limit', '3']];

/** Of docs/sql.md; some rows of a list in no order may be any of them. */
const IN_ORDER = readSavedQueries().filter(({ sql }) => sql.includes('order by'));

/** The arguments with which each command runs. They run in this order; the last ones change something. */
const COMMAND_ARGUMENTS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  status: [[]],
  available: [[], OF, ['--project', 'Zebra']],
  'installations list': LIST,
  'installations show': [['installation-1'], ['nobody']],
  'organizations list': LIST,
  'organizations show': [['organization-1'], ['Äpfel']],
  'members list': LIST,
  'members show': [['nobody']],
  'addresses list': LIST,
  'addresses show': [['nobody']],
  'warehouse list': LIST,
  'inventory list': LIST,
  'inventory show': [['Zebra 0']],
  'reservations list': [...LIST, ['--state', 'Expired']],
  'reservations show': [['h-1', ...OF], ['h-0']],
  'inventory-requests list': LIST,
  'inventory-requests show': [['q-2', ...OF]],
  'retirements list': [
    ...LIST,
    ['--year', '2024'],
    ['--beneficiary', 'ÄPF'],
    ...MOMENTS.map(at => ['--as-of', at]),
  ],
  'retirements show': [
    ['R0', ...OF],
    ['R1-long', ...OF],
    ['R0', '--as-of', MOMENTS[0] ?? ''],
  ],
  'warehouse show': [['Zebra 0']],
  'projects list': LIST,
  'projects show': [['project-1'], ['project-4']],
  'as-of': MOMENTS.map(at => [at, ...OF]),
  compare: [
    ['--from', MOMENTS[0] ?? ''],
    [
      '--from',
      '2026-05-04T12:00:00Z',
      '--to',
      '2026-05-04T12:05:00Z',
      '--list',
      'retirements,certificates,organizations',
      ...OF,
    ],
    ['--from', '2026-05-04'],
  ],
  'syncs list': [[], OF, ['--resource', 'warehouse'], ['--drift']],
  'syncs show': [['1'], ['9999']],
  changes: [EVER, [...EVER, ...OF, '--resource', 'retirements'], ['--after', '3']],
  balance: [[], OF],
  'certificates list': [[], OF, ['--state', 'pending']],
  'certificates show': [['R0', ...OF]],
  'certificates export': [['FOLDER'], ['FOLDER', ...OF]],
  'retirements totals': [
    [],
    ['--by', 'beneficiary,month,vintage,project'],
    ...MOMENTS.map(at => ['--as-of', at]),
  ],
  'restatements list': [[], OF],
  'restatements show': [['1'], ['99999']],
  'deliveries list': [[], ['--ignored'], ['--installation', 'installation-1', '--limit', '2']],
  'deliveries rejected': [[]],
  'deliveries show': [['1'], ['4'], ['99']],
  'jobs list': [[], ['--state', 'failed'], [...OF, '--limit', '2']],
  'jobs show': [['1'], ['5'], ['99']],
  'orders list': [[], ['--state', 'refused'], ['--actor', 'DANA', ...OF]],
  'orders show': [['1'], ['5'], ['99']],
  migrate: [[]],
  verify: [[]],
  query: [
    ['SELECT * FROM retirements_history ORDER BY version'],
    ['SELECT * FROM reservations ORDER BY version'],
    ['SELECT resource, state, as_of, rows, error FROM freshness ORDER BY organization_id, resource'],
    ["SELECT NULL AS missing, '' AS empty, 9007199254740993 AS large, -1 AS less, 'é\n\"' AS text"],
    ['SELECT id, received_at, duplicates FROM deliveries ORDER BY id'],
    ['SELEC 1'],
    ...IN_ORDER.map(({ sql }) => [sql]),
  ],
  'jobs retry': [['4'], ['99'], ['--all']],
  forget: [['--person', 'Apfel@example.com', '--no-vacuum']],
  purge: [['--organization', 'organization_1', '--confirm', 'Äpfel', '--force', '--no-vacuum']],
};

const CHANGING = ['migrate', 'jobs retry', 'forget', 'purge'];

/** Why some commands are not compared. */
const ENDLESS = 'runs until it is stopped; see test/cli/follow.test.ts';
const EVENTS = 'has its own contract tests on both engines (test/contract/events-*.test.ts)';
const TOKENS = 'has its own contract test on both engines (test/contract/inbox-tokens.test.ts)';
const FILES = 'copies files; of PostgreSQL it names what its own tools do (test/cli/restore.test.ts)';
const APART: Readonly<Record<string, string>> = {
  sync: ASKS,
  'reservations create': ASKS,
  'reservations finish': ASKS,
  'reservations cancel': ASKS,
  trigger: 'posts to a receiver, and says what that answers',
  'subscriptions add': EVENTS,
  'subscriptions attempts': EVENTS,
  'subscriptions events': EVENTS,
  'subscriptions list': EVENTS,
  'subscriptions new-epoch': EVENTS,
  'subscriptions pause': EVENTS,
  'subscriptions remove': EVENTS,
  'subscriptions replay': EVENTS,
  'subscriptions resume': EVENTS,
  'subscriptions rotate': EVENTS,
  'subscriptions show': EVENTS,
  'subscriptions test': EVENTS,
  'tokens create': TOKENS,
  'tokens list': TOKENS,
  'tokens revoke': TOKENS,
  'certificates get': 'writes a file; see test/cli/certificates.test.ts',
  'deliveries tail': ENDLESS,
  'deliveries forward': ENDLESS,
  'deliveries replay': 'asks for a read, as "sync" does',
  doctor: "says what is the engine's own",
  schema: "shows the engine's own types; docs/schema.md has both",
  backup: FILES,
  restore: FILES,
  snapshot: 'is compared cell by cell in test/store/postgres/snapshot.test.ts',
};

const NOW = Date.UTC(2026, 4, 4, 13);

/** Output that differs by engine: the free disk space, and the place of older copies. */
const OWN = [
  [/"disk": \{[^}]*\}/, '"disk": null'],
  [/"(logs?_emptied)": true/, '"$1": false'],
  [/^(Older copies may stand|Removed rows stand|Bytes of removed rows|The server's log of writes).*\n/gm, ''],
] as const;

const WHOLE = /(?<![\d.-])\d{4,}(?![\d.])/g;
const HOUR = 3600;

/** Replaces an age, because the two engines answer at different instants. */
function withoutAge(whole: string): string {
  const age = (Date.now() - NOON) / 1000;
  return Math.abs(Number(whole) - age) < HOUR ? 'AGE' : whole;
}

async function runCommandOn(
  { env, location: place }: MirrorPair['inFiles'],
  argv: readonly string[],
): Promise<unknown> {
  const folder = temporaryFolder();
  const words = argv.map(word => (word === 'FOLDER' ? join(folder, 'copy') : word));
  const { exitCode, stdout, stderr } = await runCommand(words, { env: { ...env }, now: () => NOW });
  const written = argv.includes('FOLDER') ? readFiles(join(folder, 'copy')) : [];
  const named = (text: string) =>
    text
      .replaceAll(folder, 'FOLDER')
      .replaceAll(place, 'PLACE')
      .replaceAll(JSON.stringify(place).slice(1, -1), 'PLACE');
  const said = (text: string) =>
    OWN.reduce((left, [own, instead]) => left.replace(own, instead), named(text)).replace(WHOLE, withoutAge);
  return { exitCode, stdout: said(stdout), stderr: said(stderr), written };
}

function readFiles(folder: string): string[][] {
  return readdirSync(folder)
    .toSorted()
    .map(name => [name, readFileSync(join(folder, name), 'latin1')]);
}

/** The options for machine-readable output. */
const FORMS = ['--json', '--csv'];

async function listCommandLines(): Promise<(readonly string[])[]> {
  const options = new Map(
    (await listCommands()).map(({ name, command }) => [
      name,
      command.options.flatMap(({ flags }) =>
        FORMS.filter(form => flags === form || flags.startsWith(`${form} `)),
      ),
    ]),
  );
  return Object.entries(COMMAND_ARGUMENTS).flatMap(([name, all]) =>
    all.flatMap(words => {
      const argv = [...name.split(' '), ...words];
      if (CHANGING.includes(name)) return [[...argv, '--json']];
      const forms = (options.get(name) ?? [])
        .map(form => [form])
        .slice(0, words === all[0] ? 2 : chooseLength(1, 2));
      return [...(words === all[0] ? [[]] : []), ...forms].map(form => [...argv, ...form]);
    }),
  );
}

/** Instants before year 1, at its end and finer than a millisecond, -0 and texts that engines hold differently. */
const ODD_TEXTS = ['0000-06-01T', '9999-12-31T23:59:59.999Z', '.123Z', '-0', '9007199254740993', '😀', '1E3'];

test('each command that prints JSON or CSV is tested on both engines or has a reason not to be', async () => {
  const printing = (await listCommands()).filter(
    ({ name, command }) =>
      !name.startsWith('sandbox ') &&
      command.options.some(({ flags }) => FORMS.some(form => flags === form || flags.startsWith(`${form} `))),
  );
  expect([...Object.keys(COMMAND_ARGUMENTS), ...Object.keys(APART)].toSorted()).toEqual(
    printing.map(({ name }) => name).toSorted(),
  );
});

test('each command prints the same bytes on both engines, whatever the registry sent', async () => {
  const mirror = await openOddMirrorTwice();
  const seen: string[] = [];
  for (const asking of (await listCommandLines()).filter((_, place) => place % chooseLength(3, 1) === 0)) {
    const files = await runCommandOn(mirror.inFiles, asking);
    const schemas = await runCommandOn(mirror.inPostgres, asking);
    seen.push(JSON.stringify(files));
    expect.soft(files, asking.join(' ')).not.toMatchObject({ exitCode: 1 });
    expect.soft(schemas, asking.join(' ')).toEqual(files);
  }
  expect(ODD_TEXTS.filter(text => !seen.some(answer => answer.includes(text)))).toEqual([]);
});
