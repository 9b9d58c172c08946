import { generateKeyPairSync, sign } from 'node:crypto';
import { pick } from './random.js';
import {
  computeCommitment,
  dropUnusedDocuments,
  type FolderContent,
  formatJson,
  getKind,
  getPlace,
  hideLeaf,
  type Line,
  parseLines,
  sha256,
  withLines,
} from './evidence-folder.js';

type Random = () => number;

/** A forged folder, and how it was forged. */
export interface Forgery {
  readonly description: string;
  readonly content: FolderContent;
}

/** What a forger has: a folder, an older checkpoint, and no key. */
export interface ForgerMaterial {
  readonly content: FolderContent;
  readonly olderCheckpoint: string;
}

type Change = (lines: readonly Line[], random: Random) => readonly Line[] | null;

const isLeaf = (line: Line) => line.record !== undefined;
const isRow = (line: Line) => 'row' in line;
const ofKind = (kind: string) => (line: Line) => getKind(line) === kind;
const ofRecordKind = (kind: string) => (line: Line) => line.record?.['kind'] === kind;

/** Chooses a line that a condition holds for. Returns null if there is none. */
function choose(lines: readonly Line[], random: Random, condition: (line: Line) => boolean): Line | null {
  const fitting = lines.filter(condition);
  const [first] = fitting;
  return first === undefined ? null : pick(random, fitting, first);
}

function replace(lines: readonly Line[], old: Line, next: Line): Line[] {
  return lines.map(line => (line === old ? next : line));
}

function replaceRecord(
  lines: readonly Line[],
  leaf: Line,
  fields: Readonly<Record<string, unknown>>,
): Line[] {
  return replace(lines, leaf, { ...leaf, record: { ...leaf.record, ...fields } });
}

/** Other values for fields of records, as a forger might choose them. */
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  amount_exact: ['9001', '0', '-1', '1e3'],
  amount_micro: [1, 0, -5_000_000, 9_007_199_254_740_993n],
  beneficiary: ['Nobody', '', '\u202eEvil'],
  created_at: ['2024-01-01T00:00:00.000Z', '2025-05-31T00:00:00.000Z', 'never'],
  valid_from: ['2020-01-01T00:00:00.000Z', '2030-01-01T00:00:00.000Z'],
  ended_version: [1, 2, 999],
  version: [1, 999_999],
  organization_id: ['organization-2', 'nobody'],
  id: ['b', 'forged'],
  resource: ['inventory', 'retirements'],
  kind: ['sync', 'change', 'note'],
  months: [0, 1],
  rows: [0, 1],
  up_to: [1],
  named_sha256: ['0'.repeat(64)],
  months_sha256: ['0'.repeat(64)],
  reads_sha256: ['0'.repeat(64)],
  sha256: ['0'.repeat(64)],
  at: ['2020-01-01T00:00:00.000Z'],
  leaves: [0, 1_000_000],
  state: ['active', 'failed'],
  organization_name: ['Another'],
  sealed_at: ['2020-01-01T00:00:00.000Z'],
};

/** Changes of the lines. Each keeps the form of the folder, so that only its meaning can give it away. */
const CHANGES: Readonly<Record<string, Change>> = {
  'a row is hidden': (lines, random) => {
    const row = choose(lines, random, isRow);
    return row && hideLeaf(lines, row);
  },
  'a leaf is hidden': (lines, random) => {
    const leaf = choose(lines, random, isLeaf);
    return leaf && hideLeaf(lines, leaf);
  },
  'a row is hidden and the month is counted again': (lines, random) => {
    const row = choose(lines, random, isRow);
    return row && countMonthsAgain(hideLeaf(lines, row), row);
  },
  'a row is hidden and called one of the others': (lines, random) => {
    const row = choose(lines, random, isRow);
    const owner = choose(lines, random, ofRecordKind('organization'));
    if (row === null || owner === null) return null;
    const hidden = {
      commitment: computeCommitment(row),
      hidden: getPlace(owner),
      list: row.record?.['resource'],
      month: String(row.record?.['valid_from']).slice(0, 7),
      version: row.record?.['version'],
    };
    return [...hideLeaf(lines, row), hidden];
  },
  'a field of a record': (lines, random) => {
    const leaf = choose(lines, random, isLeaf);
    if (leaf === null) return null;
    const names = Object.keys(leaf.record ?? {}).filter(name => name in VALUES);
    const name = pick(random, names, 'kind');
    return replaceRecord(lines, leaf, { [name]: pick(random, VALUES[name] ?? [], 'x') });
  },
  'a field of a record is removed': (lines, random) => {
    const leaf = choose(lines, random, isLeaf);
    if (leaf === null) return null;
    const record = { ...leaf.record };
    delete record[pick(random, Object.keys(record), 'kind')];
    return dropUnusedDocuments(replace(lines, leaf, { ...leaf, record }));
  },
  'a record is taken from another leaf': (lines, random) => {
    const [leaf, other] = [choose(lines, random, isLeaf), choose(lines, random, isLeaf)];
    if (leaf === null || other === null || leaf === other) return null;
    return dropUnusedDocuments(
      replace(lines, leaf, { ...leaf, record: other.record ?? {}, salt: other['salt'] }),
    );
  },
  'two leaves change places': (lines, random) => {
    const [one, other] = [choose(lines, random, isLeaf), choose(lines, random, isLeaf)];
    if (one === null || other === null || one === other) return null;
    const moved = (line: Line, to: Line) => {
      const [name, place] = [isRow(line) ? 'row' : 'leaf', getPlace(to)];
      return { ...line, [name]: place };
    };
    return lines.map(line => (line === one ? moved(one, other) : line === other ? moved(other, one) : line));
  },
  'a row is called context': (lines, random) => {
    const row = choose(lines, random, isRow);
    return row && replace(lines, row, { leaf: row['row'], record: row.record ?? {}, salt: row['salt'] });
  },
  'an older version is called a row': (lines, random) => {
    const leaf = choose(lines, random, line => !isRow(line) && ofRecordKind('change')(line));
    return leaf && replace(lines, leaf, { row: leaf['leaf'], record: leaf.record ?? {}, salt: leaf['salt'] });
  },
  'an older version takes the place of the current one': (lines, random) => {
    const row = choose(lines, random, isRow);
    const leaf = choose(lines, random, line => !isRow(line) && ofRecordKind('change')(line));
    if (row === null || leaf === null) return null;
    const shown = { row: leaf['leaf'], record: leaf.record ?? {}, salt: leaf['salt'] };
    return hideLeaf(replace(lines, leaf, shown), row);
  },
  'a salt': (lines, random) => {
    const leaf = choose(lines, random, isLeaf);
    return leaf && replace(lines, leaf, { ...leaf, salt: sha256(String(random())) });
  },
  'a leaf is added': (lines, random) => {
    const leaf = choose(lines, random, isLeaf);
    const name = random() < 0.5 ? 'row' : 'leaf';
    return (
      leaf && [...lines, { [name]: Math.floor(random() * 40), record: leaf.record ?? {}, salt: leaf['salt'] }]
    );
  },
  'a line is removed': (lines, random) => {
    const line = choose(lines, random, each => !ofKind('format')(each));
    return line && lines.filter(each => each !== line);
  },
  'a line is there twice': (lines, random) => {
    const line = choose(lines, random, () => true);
    return line && [...lines, line];
  },
  'the scope': (lines, random) => {
    const header = choose(lines, random, ofKind('format'));
    if (header === null) return null;
    const scope = pick(random, ['period', 'organization', 'retirement'], 'period');
    const values = ['2024', '2025', '2025-05', '2026', 'organization-1', 'organization-2', 'old', 'b'];
    return replace(lines, header, { ...header, scope, value: pick(random, values, '2025') });
  },
  'the older size': (lines, random) => {
    const header = choose(lines, random, ofKind('format'));
    if (header === null) return null;
    const { since, ...others } = header;
    return replace(lines, header, random() < 0.5 ? others : { ...others, since: Number(since ?? 1) - 1 });
  },
  'a number of a line': (lines, random) => {
    const line = choose(lines, random, each => !isLeaf(each) && !ofKind('document')(each));
    if (line === null) return null;
    const names = Object.keys(line).filter(name => typeof line[name] === 'number');
    const name = pick(random, names, '');
    return name === ''
      ? null
      : replace(lines, line, { ...line, [name]: Number(line[name]) + (random() < 0.5 ? 1 : -1) });
  },
  'a text of a line': (lines, random) => {
    const line = choose(lines, random, each => !isLeaf(each));
    if (line === null) return null;
    const names = Object.keys(line).filter(name => typeof line[name] === 'string');
    const name = pick(random, names, '');
    const texts = ['registry', 'mirror', '2025-05', '0', '12500000', '0'.repeat(64), 'retirements', '{}'];
    return name === '' ? null : replace(lines, line, { ...line, [name]: pick(random, texts, 'x') });
  },
  'reads look newer': (lines, random) => {
    const reads = choose(lines, random, ofKind('reads_of'));
    const later = '2026-05-04T12:02:30.000Z';
    return reads && replace(lines, reads, { ...reads, failed_since: 0, read_at: later, read_leaf: 1 });
  },
  'a failed read is forgotten': (lines, random) => {
    const reads = choose(lines, random, line => ofKind('reads_of')(line) && Number(line['failed_since']) > 0);
    return reads && replace(lines, reads, { ...reads, failed_since: 0 });
  },
  'a month counts less, and its leaf agrees': (lines, random) => {
    const row = choose(lines, random, isRow);
    return row && sealMonthsAgain(countMonthsAgain(hideLeaf(lines, row), row));
  },
  'what the last leaf names, and it agrees': (lines, random) => {
    const named = choose(lines, random, ofKind('named_by'));
    if (named === null) return null;
    const others = lines.filter(line => line !== named);
    const leaf = others.find(line => isLeaf(line) && getPlace(line) === named['named']);
    return sealNamesAgain(leaf === undefined ? others : hideLeaf(others, leaf), Number(named['named_by']));
  },
  'a document': (lines, random) => {
    const document = choose(lines, random, ofKind('document'));
    return document && replace(lines, document, { document: `${String(document['document'])} ` });
  },
  'a document and the hash in its record': (lines, random) => {
    const document = choose(lines, random, ofKind('document'));
    if (document === null) return null;
    const text = String(document['document']).replace('12.5', '99');
    const [before, after] = [sha256(String(document['document'])), sha256(text)];
    return replace(lines, document, { document: text }).map(line =>
      line.record?.['document_sha256'] === before
        ? { ...line, record: { ...line.record, document_sha256: after } }
        : line,
    );
  },
};

/** Recounts the months of a row as if the row had not been there. */
function countMonthsAgain(lines: readonly Line[], row: Line): Line[] {
  const { resource, valid_from: observed, created_at: dated, amount_micro: micro = 0 } = row.record ?? {};
  const isOfRow = (line: Line) =>
    line['list'] === resource &&
    line['month'] === String(line['dated_by'] === 'mirror' ? observed : dated).slice(0, 7);
  const rowsIn = (line: Line) =>
    lines
      .filter(each => isRow(each) && each.record?.['resource'] === resource)
      .filter(each => {
        const at = each.record?.[line['dated_by'] === 'mirror' ? 'valid_from' : 'created_at'];
        return String(at).startsWith(String(line['month']));
      })
      .toSorted((left, right) => Number(right.record?.['version']) - Number(left.record?.['version']));
  return lines.map(line =>
    getKind(line) !== 'months_of' || !isOfRow(line)
      ? line
      : {
          ...line,
          rows: Number(line['rows']) - 1,
          micro: String(BigInt(String(line['micro'])) - BigInt(Number(micro))),
          commitments: sha256(
            rowsIn(line)
              .map(each => `${computeCommitment(each)}\n`)
              .join(''),
          ),
        },
  );
}

/** Puts the hash of the months into the leaves of organizations. */
function sealMonthsAgain(lines: readonly Line[]): Line[] {
  return lines.map(line => {
    if (line.record?.['kind'] !== 'organization') return line;
    const months = lines.filter(each => each['months_of'] === getPlace(line));
    return { ...line, record: { ...line.record, months_sha256: hashWithout(months, 'months_of') } };
  });
}

/** Puts the hash of the names into the last leaf. */
function sealNamesAgain(lines: readonly Line[], place: number): Line[] {
  const named = lines.filter(line => line['named_by'] === place);
  return lines.map(line =>
    isLeaf(line) && getPlace(line) === place
      ? { ...line, record: { ...line.record, named_sha256: hashWithout(named, 'named_by') } }
      : line,
  );
}

function hashWithout(lines: readonly Line[], name: string): string {
  const texts = lines.map(line =>
    formatJson(Object.fromEntries(Object.entries(line).filter(([each]) => each !== name))),
  );
  return sha256(texts.map(text => `${text}\n`).join(''));
}

/** Changes of other files. */
const FILE_CHANGES: Readonly<
  Record<string, (material: ForgerMaterial, random: Random) => FolderContent | null>
> = {
  'a certificate is changed': ({ content }) => {
    const name = [...content.keys()].find(each => each.startsWith('certificates/'));
    return name === undefined ? null : new Map(content).set(name, Buffer.from('%PDF-1.4 forged'));
  },
  'a certificate is removed': ({ content }) => {
    const name = [...content.keys()].find(each => each.startsWith('certificates/'));
    const changed = new Map(content);
    return name !== undefined && changed.delete(name) ? changed : null;
  },
  'a certificate is added': ({ content }) => {
    const pdf = Buffer.from('%PDF-1.4 forged');
    return new Map(content).set(`certificates/${sha256(pdf)}.pdf`, pdf);
  },
  'the older checkpoint takes the place of the newest': ({ content, olderCheckpoint }) =>
    new Map(content).set('checkpoint.txt', Buffer.from(olderCheckpoint)),
  'the instant of the checkpoint': ({ content }) =>
    editCheckpoint(content, text => text.replace(/\n2026-/, '\n2025-')),
  'the name of the log': ({ content }) =>
    editCheckpoint(content, text => text.replace(/^[^\n]+/, 'another.example/log')),
  'a text behind the signatures': ({ content }) =>
    editCheckpoint(content, text => `${text}Verified by a notary.\n`),
};

function editCheckpoint(content: FolderContent, edit: (text: string) => string): FolderContent {
  const text = Buffer.from(content.get('checkpoint.txt') ?? Buffer.of()).toString();
  return new Map(content).set('checkpoint.txt', Buffer.from(edit(text)));
}

/** Forges a folder in a random way, often in several at once, and often with a tree and a signature that fit. */
export function forgeFolder(material: ForgerMaterial, random: Random): Forgery | null {
  const turn = random();
  if (turn < 0.1) {
    const name = pick(random, Object.keys(FILE_CHANGES), '');
    const content = FILE_CHANGES[name]?.(material, random) ?? null;
    return content && { description: name, content };
  }
  const names = Array.from({ length: turn < 0.6 ? 1 : 2 }, () => pick(random, Object.keys(CHANGES), ''));
  let lines: readonly Line[] = parseLines(material.content);
  const original = formatJson(lines);
  for (const name of names) {
    const changed = CHANGES[name]?.(lines, random) ?? null;
    if (changed === null) return null;
    lines = changed;
  }
  if (formatJson(lines) === original) return null;
  const content = withLines(material.content, lines);
  if (turn < 0.85) return { description: names.join(', '), content };
  const signed = signAgain(content, lines);
  return signed && { description: `${names.join(', ')}, signed with another key`, content: signed };
}

/** Computes the root of a forged folder, and signs it with another key under the name of the log. */
function signAgain(content: FolderContent, lines: readonly Line[]): FolderContent | null {
  const [origin = '', size = '', , instant = ''] = Buffer.from(content.get('checkpoint.txt') ?? Buffer.of())
    .toString()
    .split('\n');
  const root = computeRoot(lines, Number(size));
  if (root === null) return null;
  const text = `${origin}\n${size}\n${Buffer.from(root, 'hex').toString('base64')}\n${instant}\n`;
  const { privateKey, publicKey } = FORGER;
  const rawKey = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
  const keyId = Buffer.from(sha256(`${origin}\n`, Buffer.of(1), rawKey), 'hex').subarray(0, 4);
  const signature = Buffer.concat([keyId, sign(null, Buffer.from(text), privateKey)]).toString('base64');
  return new Map(content).set('checkpoint.txt', Buffer.from(`${text}\n— ${origin} ${signature}\n`));
}

const FORGER = generateKeyPairSync('ed25519');

/** Computes the root of the tree; null if a node is missing. */
function computeRoot(lines: readonly Line[], size: number): string | null {
  let known = new Map(
    lines.filter(isLeaf).map(leaf => {
      const commitment = Buffer.from(computeCommitment(leaf), 'hex');
      return [getPlace(leaf), sha256(Buffer.of(0), commitment)] as const;
    }),
  );
  for (let [level, count] = [0, size]; ; [level, count] = [level + 1, Math.ceil(count / 2)]) {
    for (const line of lines)
      if (getKind(line) === 'level' && line['level'] === level)
        known.set(Number(line['index']), String(line['hash']));
    if (count <= 1) return known.get(0) ?? null;
    const parents = new Map<number, string>();
    for (const [index, hash] of known) {
      if (index % 2 === 1) continue;
      const right = known.get(index + 1);
      if (right === undefined && index + 1 < count) continue;
      const parent =
        right === undefined
          ? hash
          : sha256(Buffer.of(1), Buffer.from(hash, 'hex'), Buffer.from(right, 'hex'));
      parents.set(index / 2, parent);
    }
    known = parents;
  }
}
