import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { listCommands } from '../support/commands.js';
import { type DemoMirror, startDemoMirror } from '../support/demo-mirror.js';
import { everyCommand } from '../support/every-command.js';
import { placesOf, steadyWords } from '../support/steady.js';

let demo: DemoMirror;
let folder = '';

beforeAll(async () => {
  demo = await startDemoMirror();
  folder = mkdtempSync(join(tmpdir(), 'carbon-mirror-approved-'));
});

afterAll(async () => {
  await demo.stop();
  rmSync(folder, { recursive: true });
});

const EYES = [
  { eyes: 'a pipe', columns: null },
  { eyes: '60 columns', columns: 60 },
  { eyes: '100 columns', columns: 100 },
  { eyes: '200 columns', columns: 200 },
];

/** What is not looked at here, and why. */
const LEFT_OUT = {
  up: 'runs until it is stopped',
  receive: 'runs until it is stopped',
  work: 'runs until it is stopped',
  'console url': 'its address is a secret of one visit',
  'deliveries tail': 'runs until it is stopped',
  purge: 'takes away what the others read',
  forget: 'takes away what the others read',
  'demo env': 'prints a private key',
  completion: 'a program of its own',
  man: 'the words of --help',
};

/** An organization that a command has made is read beside this test: what lists say of it meanwhile is of the moment. */
async function allAreRead(): Promise<void> {
  const installed = demo.sandbox.registry.store.db
    .prepare("SELECT count(*) FROM installations WHERE app_id = ? AND state <> 'uninstalled'")
    .pluck();
  const known = "SELECT count(*) AS n FROM coverage WHERE state NOT IN ('uninstalled', 'never_read')";
  const unread = "SELECT count(*) AS n FROM freshness WHERE state = 'never_read'";
  await expect
    .poll(async () => [(await demo.rows(known))[0]?.['n'], (await demo.rows(unread))[0]?.['n']])
    .toEqual([installed.get(demo.appId), 0]);
}

async function run(name: string, words: readonly string[], columns: number | null) {
  await allAreRead();
  const argv = [...name.split(' '), ...words];
  const isEndless = name === 'sandbox start' || name === 'console';
  const outcome = await runCommand(argv, {
    env: { ...demo.env, NO_COLOR: '1' },
    ...(columns === null ? {} : { terminal: true, columns }),
    ...(isEndless ? { interruption: () => AbortSignal.abort() } : {}),
  });
  expect(outcome.exitCode, `${argv.join(' ')}\n${outcome.stderr}`).toBe(0);
  return outcome;
}

async function ask(name: string, words: readonly string[]) {
  return JSON.parse((await run(name, [...words, '--json'], null)).stdout);
}

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
  'transactions list',
  'runs list',
  'changes',
  'balance',
  'friendbot',
  'certificates list',
  'reservations list',
  'inventory-requests list',
  'sandbox calls list',
  'sandbox installations list',
  'sandbox reservations list',
  'sandbox tokens list',
  'sandbox transactions list',
  'sandbox requests list',
  'sandbox deliveries list',
  'sandbox deliveries show',
];
/** What a progress bar drew over, and which reads changed something. */
const ESCAPE = String.fromCodePoint(0x1b);
const DRAWN = new RegExp(`[^\\n]*\\r${ESCAPE}\\[K`, 'g');
/** How wide numbers are decides it. */
const NARROW = /^Not shown for want of width: .*\n/gm;
const RUNS = /^.*: complete: .*\n/gm;
/** Whether the worker beside this test has counted them by then. */
const COUNTED =
  /^Findings(?: were never counted: a worker does so every five minutes\.|, counted .* ago: none\.)$/gm;
const COUNTS = /^\.findings\.counts\[\]/;
/** All verbs of the sandbox are shown by the same few lines of the program: a wide terminal tells nothing new of them. */
const isWideEnough = (name: string, columns: number | null): boolean =>
  !name.startsWith('sandbox ') || columns === null || columns < 100;

/** Addresses, folders and the tags of names are of this run alone. */
function steady(text: string, tag: string): string {
  const here = text
    .replaceAll(demo.sandbox.url, 'http://registry/')
    .replaceAll(demo.folder, 'FOLDER')
    .replaceAll(folder, 'FOLDER')
    .replaceAll(tag, '')
    .replaceAll(DRAWN, '')
    .replaceAll(RUNS, '')
    .replaceAll(COUNTED, 'Findings …');
  return steadyWords(here);
}

/** To approve what changed: npx vitest run test/cli/approved-words.test.ts -u, and read the difference. */
test('what every command says was approved, in a pipe, at three widths and as JSON', async () => {
  const tags = [...EYES, 'json'].map((_, index) => `zq${'abcde'[index]}`);
  const words = tags.map(tag => everyCommand({ demo, folder, ask, tag }));
  const commands = (await listCommands()).map(({ name }) => name);
  expect([...Object.keys(words[0] ?? {}), ...Object.keys(LEFT_OUT)].toSorted()).toEqual(commands.toSorted());
  const sayings = new Map<string, string[]>();
  for (const name of Object.keys(words[0] ?? {})) {
    const isOfTheMoment = OF_THE_MOMENT.includes(name);
    const seen: string[] = [`##### ${name}`];
    for (const [index, { eyes, columns }] of EYES.entries()) {
      if (!isWideEnough(name, columns)) continue;
      const { stdout, stderr } = await run(name, (await words[index]?.[name]?.()) ?? [], columns);
      const tag = tags[index] ?? '';
      const said = isOfTheMoment ? stderr.replaceAll(NARROW, '') : stderr;
      seen.push(
        `=== ${eyes}`,
        steady(isOfTheMoment ? `${stdout.split('\n')[0]}\n` : stdout, tag),
        ...(said === '' ? [] : ['--- said', steady(said, tag)]),
      );
    }
    seen.push(
      '=== json',
      ...placesOf(
        await ask(name, (await words.at(-1)?.[name]?.()) ?? []),
        isOfTheMoment ? 2 : undefined,
      ).filter(place => !COUNTS.test(place)),
      '',
    );
    const [top = ''] = name.split(' ');
    sayings.set(top, [...(sayings.get(top) ?? []), ...seen]);
  }
  for (const [top, lines] of sayings) {
    await expect(lines.join('\n')).toMatchFileSnapshot(`../fixtures/approved/words/${top}.txt`);
  }
}, 300_000);
