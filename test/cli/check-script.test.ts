import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseObject } from '../../src/registry/json/json-object.js';
import { LIST_RESOURCES, type ListResource } from '../../src/resources/lists.js';
import { SOURCES } from '../../src/sync/sources.js';
import { BOTH_ENGINES, type TestMirror } from '../support/mirror/open.js';
import { alterFile, openExportableLog } from '../support/exported-evidence.js';
import { temporaryFolder } from '../support/inbox.js';
import { chooseLength } from '../support/long.js';

const SCRIPT = join(import.meta.dirname, '../../docs/check.sh');
const FITS = 0;
const DOES_NOT_FIT = 1;
const NOTHING_TO_CHECK = 2;

const findProgram = (name: string) =>
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .map(folder => join(folder, name))
    .find(existsSync);

const programOf = (argv: string) => {
  const [name = '', ...rest] = argv.split(' ');
  const found = findProgram(name);
  return found === undefined ? [] : [[argv, [found, ...rest]] as const];
};
const SHELLS = ['dash', 'bash', 'busybox sh'].flatMap(programOf);
const AWKS = ['mawk', 'gawk', 'busybox awk'].flatMap(programOf);

interface Run {
  readonly shell?: readonly string[];
  /** A folder of programs that replace the system's. */
  readonly tools?: string;
  readonly env?: Readonly<Record<string, string>>;
}

function run(folder: string, argv: readonly string[], { shell = ['sh'], tools, env = {} }: Run = {}) {
  const [program = 'sh', ...rest] = shell;
  const path = [...(tools === undefined ? [] : [tools]), process.env['PATH']].join(delimiter);
  const { status, stdout, stderr } = spawnSync(program, [...rest, SCRIPT, ...argv], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, PATH: path, ...env },
  });
  return { status, output: stdout + stderr };
}

/** Creates a program with this name that runs `script`; `$0.real` is the original program. */
function replaceTool(name: string, script: string, real = findProgram(name)): string {
  const tools = temporaryFolder();
  const file = join(tools, name);
  writeFileSync(`${file}.real`, `#!/bin/sh\nexec ${real} "$@"\n`);
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  for (const each of [file, `${file}.real`]) chmodSync(each, 0o755);
  return tools;
}

/** Writes one row into the list. The same row has the fields of every list. */
async function readRow<Name extends ListResource>({ read }: TestMirror, name: Name): Promise<void> {
  const row = {
    id: name === 'organization' ? 'organization-1' : `${name}-1`,
    creditId: 'c-1',
    amount: 1,
    address: '0x1',
    email: 'ada@example.com',
    createdAt: '2025-05-01T00:00:00.000Z',
  };
  await read(name, [SOURCES[name].parse(parseObject(JSON.stringify(row), name))]);
}

/** Creates functions that export evidence into folders. */
async function exportableFiles() {
  const [engine] = BOTH_ENGINES;
  if (engine === undefined) throw new Error('expected an engine');
  return await openExportableLog(engine);
}

/** Creates valid evidence folders, of which each test alters a copy. */
async function prepare() {
  const { write, hex, older } = await exportableFiles();
  const originals = new Map<string, string>();
  const copyOf = async (subject: string) => {
    const folder = originals.get(subject) ?? (await write(subject, '--since', older)).folder;
    originals.set(subject, folder);
    const copy = join(temporaryFolder(), 'folder');
    cpSync(folder, copy, { recursive: true });
    return copy;
  };
  return { copyOf, hex, argv: [hex, older] };
}

describe('check.sh', () => {
  test('T93 gives the same answer in every shell and awk', async () => {
    expect(SHELLS.length * AWKS.length).toBeGreaterThan(0);
    const { copyOf, argv } = await prepare();
    const original = await copyOf('organization-1');
    const altered = await copyOf('organization-1');
    alterFile(altered, 'rows.txt', text => text.replace('Voluntary', 'voluntary'));
    const expected = [original, altered].map(folder => run(folder, argv));
    expect(expected.map(({ status }) => status)).toEqual([FITS, DOES_NOT_FIT]);
    for (const [shellName, shell] of SHELLS)
      for (const [awkName, [program, ...rest]] of AWKS) {
        const tools = replaceTool('awk', `exec ${[program, ...rest].join(' ')} "$@"`);
        const answers = [original, altered].map(folder => run(folder, argv, { shell, tools }));
        expect(answers, `${shellName}, ${awkName}`).toEqual(expected);
      }
  });

  test('T93 accepts a folder with rows of every list', async () => {
    const { stage, round, write, hex, older } = await exportableFiles();
    for (const name of LIST_RESOURCES) await readRow(stage, name);
    await round();
    const { folder } = await write('organization-1', '--since', older);
    const { status, output } = run(folder, [hex, older]);
    expect(status, output).toBe(FITS);
    /** Members are sealed but not exported. */
    for (const name of LIST_RESOURCES.filter(each => each !== 'members'))
      expect(output).toMatch(new RegExp(`^${name}, observed by the mirror: [1-9]`, 'm'));
  });

  test.each(SHELLS)('T93 never runs a text of the folder as a command (%s)', async (_name, shell) => {
    const { copyOf, argv } = await prepare();
    const folder = await copyOf('organization-1');
    const trace = join(temporaryFolder(), 'trace');
    const command = `00\\nx;touch\${IFS}${trace};echo\\t00`;
    const record = `{"at":"now","kind":"key","new":"${command}","old":"${command}","signature":"AAAA"}`;
    alterFile(folder, 'context.txt', text => `${text}999999 ${'0'.repeat(64)} ${record}\n`);
    const { status, output } = run(folder, argv, { shell });
    expect(existsSync(trace)).toBe(false);
    expect(status).toBe(DOES_NOT_FIT);
    expect(output).toContain('a leaf about a new key does not name both keys');
  });

  test.each([
    ['nodes.txt', /^0 /m, '00 '],
    ['nodes.txt', /^0 /m, '+0 '],
    ['nodes.txt', /^0 /m, '0x0 '],
    ['nodes.txt', /^0 /m, '0e0 '],
    ['nodes.txt', /^0 (\d+) /m, '0 $1.0 '],
    ['nodes.txt', /$/, '0 1 0\n'],
    ['nodes.txt', /$/, '\n'],
    ['nodes.txt', /\n/, '\0\n'],
    ['nodes.txt', /\n/, '\u00e4\n'],
    ['others.txt', / (\d+) ([0-9a-f]{64})\n/, ' 0$1 $2\n'],
    ['others.txt', / (\d+) ([0-9a-f]{64})\n/, ' $1.0 $2\n'],
    ['others.txt', / mirror /, ' Mirror '],
    ['named.txt', /^(\d+) /, '$1e0 '],
    ['named.txt', /^(\d+) /, ' $1 '],
  ])('T93 requires the exact form of each line of %s: %s is not %j', async (file, was, is) => {
    const { copyOf, argv } = await prepare();
    const folder = await copyOf('old');
    expect(run(folder, argv)).toMatchObject({ status: FITS });
    alterFile(folder, file, text => text.replace(was, is));
    const { status, output } = run(folder, argv);
    expect(status, output).toBe(NOTHING_TO_CHECK);
    expect(output).toContain(`a line of ${file} is malformed`);
  });

  test('T93 does not confirm a row whose organization was left out', async () => {
    const { copyOf, argv } = await prepare();
    const folder = await copyOf('old');
    const lines = readFileSync(join(folder, 'context.txt'), 'utf8').split('\n');
    const [leaf = ''] = lines.filter(line => line.includes('"kind":"organization"'));
    const [place = '', salt = ''] = leaf.split(' ');
    const record = leaf.slice(place.length + salt.length + 2);
    const sha256 = (hex: string) => createHash('sha256').update(Buffer.from(hex, 'hex')).digest('hex');
    const node = sha256(`00${sha256(salt + Buffer.from(record).toString('hex'))}`);
    alterFile(folder, 'context.txt', text => text.replace(`${leaf}\n`, ''));
    alterFile(folder, 'nodes.txt', text => `${text}0 ${place} ${node}\n`);
    rmSync(join(folder, 'months'), { recursive: true });
    const { status, output } = run(folder, argv);
    expect(status, output).toBe(DOES_NOT_FIT);
    expect(output).toMatch(/row \S+ is not shown to be current at this checkpoint/);
    expect(output).not.toContain('root hash of the checkpoint');
  });

  test.each(['awk', 'sort', 'comm', 'od', 'openssl'])(
    'T93 never accepts a folder if %s is missing, prints nothing or fails',
    async name => {
      const { copyOf, argv } = await prepare();
      const folder = await copyOf('old');
      for (const script of ['exit 127', 'exit 0', 'cat >/dev/null']) {
        const { status, output } = run(folder, argv, { tools: replaceTool(name, script) });
        expect(status, script).toBe(NOTHING_TO_CHECK);
        expect(output).toContain('A tool is missing or does not work here');
      }
      const calls = join(temporaryFolder(), 'calls');
      const count = `n=1; until mkdir ${calls}/$n 2>/dev/null; do n=$((n + 1)); done`;
      const countAnew = () => {
        rmSync(calls, { recursive: true, force: true });
        mkdirSync(calls);
      };
      countAnew();
      const counted = run(folder, argv, { tools: replaceTool(name, `${count}; exec "$0.real" "$@"`) });
      expect(counted.status, counted.output).toBe(FITS);
      const callCount = readdirSync(calls).length;
      const ends = name === 'awk' ? ['exit 1', 'exit 0'] : ['exit 1'];
      for (const end of ends)
        for (let call = 1; call <= callCount; call += chooseLength(9, 1)) {
          countAnew();
          const tools = replaceTool(name, `${count}; [ $n -ne ${call} ] || ${end}; exec "$0.real" "$@"`);
          const { status, output } = run(folder, argv, { tools });
          expect(status, `call ${call} of ${callCount}: ${end}\n${output}`).not.toBe(FITS);
        }
    },
  );

  test('T93 checks nothing if no temporary folder can be created', async () => {
    const { copyOf, argv } = await prepare();
    const folder = await copyOf('old');
    const { status, output } = run(folder, argv, { env: { TMPDIR: join(folder, 'none') } });
    expect(status, output).toBe(NOTHING_TO_CHECK);
    const tools = replaceTool('mktemp', 'exit 0');
    expect(run(folder, argv, { tools }).status).toBe(NOTHING_TO_CHECK);
  });

  test('T93 no help text or document tells readers to run the script inside a folder', () => {
    const root = join(import.meta.dirname, '../..');
    const files = ['docs', 'src/cli', 'test/fixtures/approved'].flatMap(folder =>
      readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
        .filter(entry => entry.isFile())
        .map(entry => join(entry.parentPath, entry.name)),
    );
    const wrong = files.filter(file => /sh (\.\/)?check\.sh/.test(readFileSync(file, 'utf8')));
    expect(wrong).toEqual([]);
  });
});
