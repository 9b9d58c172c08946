import { describe, expect, test } from 'vitest';
import { continueAfterRestore } from '../../src/evidence/restore-log.js';
import {
  checkContent,
  checkFolder,
  computeCommitment,
  type FolderContent,
  getKind,
  hideLeaf,
  type Line,
  parseLines,
  readContent,
  withLines,
} from '../support/evidence-folder.js';
import { openExportableLog, openForgeableLog } from '../support/exported-evidence.js';
import { ENGINES } from '../support/mirror/open.js';

/** Finds the line that a condition holds for. */
function find(lines: readonly Line[], condition: (line: Line) => boolean): Line {
  const line = lines.find(condition);
  if (line === undefined) throw new Error('expected a line');
  return line;
}

const isOfKind = (kind: string) => (line: Line) => line.record?.['kind'] === kind;
const isRowOf = (id: string) => (line: Line) => 'row' in line && line.record?.['id'] === id;
const replaceLine = (lines: readonly Line[], old: Line, next: Line) =>
  lines.map(line => (line === old ? next : line));
const editText = (content: FolderContent, edit: (text: string) => string): FolderContent => {
  const before = Buffer.from(content.get('evidence.jsonl') ?? Buffer.of()).toString();
  const after = edit(before);
  if (after === before) throw new Error('expected a change');
  return new Map(content).set('evidence.jsonl', Buffer.from(after));
};

/** Each forgery with its scope, how it is made, and the fault that must name it. */
const FORGERIES: readonly (readonly [string, string, (content: FolderContent) => FolderContent, RegExp])[] = [
  [
    'a row whose tonnes were changed',
    '2025',
    content =>
      editText(content, text => text.replace('"amount_micro":12500000', '"amount_micro":9001000000')),
    /do not lead to the root/,
  ],
  [
    'a node that is spelled as another number',
    'old',
    content => editText(content, text => text.replace(/"index":(\d+),"level":0/, '"index":$1.0,"level":0')),
    /not canonical JSON/,
  ],
  [
    'a node with a field that the format does not have',
    'old',
    content => editText(content, text => text.replace('"level":0}', '"level":0,"zero":0}')),
    /has an unknown field "zero"/,
  ],
  [
    'two documents in another order',
    'organization-1',
    content => editText(content, text => text.replace(/(\{"document":.*\n)(\{"document":.*\n)/, '$2$1')),
    /the documents are out of order/,
  ],
  [
    'a node that is there twice under another spelling',
    'old',
    content =>
      editText(content, text =>
        text.replace(
          /\{"hash":.*?"index":(\d+).*?\}\n/,
          line => line + line.replace('"index":', '"index":0'),
        ),
      ),
    /not canonical JSON/,
  ],
  [
    'an outdated version of a retirement that is shown as current',
    'old',
    content => {
      const lines = parseLines(content);
      const [current, outdated] = [
        find(lines, isRowOf('old')),
        find(lines, line => 'leaf' in line && line.record?.['id'] === 'old'),
      ];
      const shown = { row: outdated['leaf'], record: outdated.record ?? {}, salt: outdated['salt'] };
      return withLines(content, hideLeaf(replaceLine(lines, outdated, shown), current));
    },
    /is not shown to be current/,
  ],
  [
    'a row that is left out of its month',
    '2025',
    content => {
      const lines = parseLines(content);
      return withLines(content, hideLeaf(lines, find(lines, isRowOf('c'))));
    },
    /retirements of organization-1 in 2025-06: 1 rows were sealed, and the 0 shown/,
  ],
  [
    'a row that is left out of a period and called hidden',
    '2025',
    content => {
      const lines = parseLines(content);
      const row = find(lines, isRowOf('c'));
      const place = Number(find(lines, line => getKind(line) === 'months_of')['months_of']);
      const hidden = {
        commitment: computeCommitment(row),
        hidden: place,
        list: 'retirements',
        month: '2025-06',
        version: row.record?.['version'],
      };
      return withLines(content, [...hideLeaf(lines, row), hidden]);
    },
    /2025-06: 1 rows were sealed/,
  ],
  [
    'failed reads that are not told',
    'organization-1',
    content => editText(content, text => text.replace('{"failed_since":1,', '{"failed_since":0,')),
    /are not those of its reads_sha256/,
  ],
  [
    'an erasure that is left out',
    'organization-1',
    content => {
      const lines = parseLines(content);
      return withLines(content, hideLeaf(lines, find(lines, isOfKind('forget'))));
    },
    /\(forget\) is missing/,
  ],
  [
    'a new key that is left out',
    'old',
    content => {
      const lines = parseLines(content);
      return withLines(content, hideLeaf(lines, find(lines, isOfKind('key'))));
    },
    /not signed by the given key/,
  ],
  [
    'an organization that is left out of a period',
    '2026',
    content => {
      const lines = parseLines(content);
      const isAnother = (line: Line) => line.record?.['organization_id'] === 'organization-3';
      const leaf = find(lines, line => isOfKind('organization')(line) && isAnother(line));
      return withLines(content, hideLeaf(lines, leaf));
    },
    /\(organization\) is missing/,
  ],
  [
    'a row that the older checkpoint counted and that is left out',
    'organization-1',
    content => {
      const lines = parseLines(content);
      const ended = find(lines, line => 'leaf' in line && line.record?.['credit_id'] === 'c-2');
      return withLines(content, hideLeaf(lines, ended));
    },
    /what the older checkpoint says about inventory of organization-1/,
  ],
  [
    'a row that ended since the older checkpoint, without the leaf that says so',
    'organization-1',
    content => {
      const lines = parseLines(content);
      const ended = find(lines, line => 'leaf' in line && line.record?.['credit_id'] === 'c-2');
      const end = find(lines, line => line.record?.['ended_version'] === ended.record?.['version']);
      return withLines(content, hideLeaf(lines, end));
    },
    /no leaf shows how it ended/,
  ],
  [
    'a command in a leaf about a new key',
    'old',
    content => {
      const lines = parseLines(content);
      const record = { at: 'now', kind: 'key', new: '$(touch x)', old: '$(touch x)', signature: 'AAAA' };
      return withLines(content, [...lines, { leaf: 1, record, salt: '0'.repeat(64) }]);
    },
    /the neighbour of node \d+ of level 0 is missing/,
  ],
  [
    'the evidence of another period',
    '2025',
    content => editText(content, text => text.replace('"value":"2025"', '"value":"1999"')),
    /is not shown to be current/,
  ],
  [
    'a folder without rows',
    'old',
    content => {
      let lines = parseLines(content);
      for (const row of lines.filter(line => 'row' in line)) lines = hideLeaf(lines, row);
      return withLines(content, lines);
    },
    /shows no row/,
  ],
  [
    'a checkpoint under the name of another log',
    'old',
    content => {
      const text = Buffer.from(content.get('checkpoint.txt') ?? Buffer.of()).toString();
      return new Map(content).set(
        'checkpoint.txt',
        Buffer.from(text.replaceAll('mirror.example', 'other.example')),
      );
    },
    /not signed by/,
  ],
];

const FORGET = 'Note well: "forget" erased the content of 0 leaves at 2026-01-01T00:00:00.000Z.';
const READS = 'Credits in the inventory of organization-1: last sealed complete read 2026-';
const CHANGED = 'retirements old (Beneficiary "Harbour Ferries", now "Another").';
/** Folders without forgery: some lines of their reports, and whether one line describes a single retirement. */
const REPORTS: readonly (readonly [string, readonly string[], boolean])[] = [
  [
    'old',
    ['Retirement old: 12.5 t, Peat bog 2021, for Another, dated 2026-03-01T10:00:00.000Z, no cert'],
    true,
  ],
  [
    '2025',
    ['1 of 3 retirements has its certificate here.', 'dated in 2025 by the registry: 3 rows, 25 t'],
    false,
  ],
  [
    'organization-1',
    [FORGET, READS, `Retirements with other changes since your older checkpoint: ${CHANGED}`],
    false,
  ],
  ['2026', [FORGET, READS, '11 of the 11 reads that observed the rows are shown.'], false],
];

describe.each(ENGINES.slice(0, 1))('$name', engine => {
  test('T93 each forgery of a folder is refused with a fault that names it', async () => {
    const { write, hex, olderCheckpoint } = await openForgeableLog(engine);
    const contents = new Map<string, FolderContent>();
    for (const [description, what, forge, fault] of FORGERIES) {
      const content = contents.get(what) ?? readContent((await write(what)).folder);
      contents.set(what, content);
      const { verdict, output } = await checkContent(forge(content), hex, olderCheckpoint);
      expect(verdict, description).toBe('not verified');
      expect(output, description).toMatch(fault);
    }
    const lines = parseLines(contents.get('old') ?? new Map());
    const outdated = find(lines, line => 'leaf' in line && line.record?.['id'] === 'old');
    const without = withLines(contents.get('old') ?? new Map(), hideLeaf(lines, outdated));
    const told = await checkContent(without, hex, olderCheckpoint);
    expect(told.output).toContain('Note well: 1 earlier version of the shown rows is not here.');
    for (const content of contents.values())
      expect(await checkContent(content, hex, olderCheckpoint)).toMatchObject({ verdict: 'verified' });
  });

  test('T93 the report of a folder without forgery describes its rows and warns of what is missing', async () => {
    const { write, hex, olderCheckpoint } = await openForgeableLog(engine);
    for (const [what, expected, isRetirement] of REPORTS) {
      const { verdict, output, evidence } = await checkContent(
        readContent((await write(what)).folder),
        hex,
        olderCheckpoint,
      );
      expect(verdict, what).toBe('verified');
      for (const text of expected) expect(output, what).toContain(text);
      const observed = (evidence?.rows ?? []).map(({ observedAt }) => observedAt).toSorted();
      expect(output).toContain(`rows were observed from ${observed[0]} to ${observed.at(-1)}.`);
      expect(/^Retirement /m.test(output), what).toBe(isRetirement);
    }
  });

  test('T93 a checkpoint leaf of an older checkpoint that the folder does not name is refused', async () => {
    const { write, hex } = await openForgeableLog(engine);
    const content = readContent((await write('organization-1')).folder);
    const lines = parseLines(content);
    const { since, ...header } = find(lines, line => 'format' in line);
    const isOlder = (line: Line) => Number(line['leaf']) < Number(since);
    const outdated = find(lines, line => isOfKind('organization')(line) && isOlder(line));
    const owners = new Set<unknown>([outdated['leaf'], Number(since) - 1]);
    const isKept = (line: Line) =>
      !('format' in line) && !['months_of', 'reads_of', 'named_by'].some(name => owners.has(line[name]));
    const forged = withLines(content, [header, ...hideLeaf(lines, outdated).filter(isKept)]);
    const { verdict, output } = await checkContent(forged, hex);
    expect(verdict).toBe('not verified');
    expect(output).toContain(`leaf ${Number(since) - 1} is not the last leaf of a checkpoint`);
  });

  test('T94 a folder of a restored log tells of the lost checkpoint, which it does not continue', async () => {
    const { stage, port, sealer, forge, change, write, hex, older } = await openExportableLog(engine);
    const whole = await write('organization-1', '--since', older);
    expect(await checkFolder(whole.folder, hex, older)).toMatchObject({ verdict: 'verified' });
    const [kept, lost] = (await port.listCheckpoints(0, Number.MAX_SAFE_INTEGER)).slice(-2);
    await forge('DELETE FROM LEAVES WHERE place >= ?', kept?.size ?? 0);
    await forge('DELETE FROM CHECKPOINTS WHERE size > ?', kept?.size ?? 0);
    await continueAfterRestore(sealer);
    const at = new Date(stage.clock.at).toISOString();
    await change();
    const { folder } = await write('organization-1', '--since', older);
    const { verdict, output } = await checkFolder(folder, hex, older);
    expect(verdict).toBe('verified');
    expect(output).toContain(`A backup was restored at ${at}: `);
    expect(output).toContain(`The newest lost checkpoint had ${lost?.size} leaves of mirror.example/log.`);
    const content = readContent((await write('organization-1')).folder);
    const refused = await checkContent(content, hex, lost?.note);
    expect(refused.output).toContain(`was lost when a backup was restored at ${at}: the log continued`);
  });
});
